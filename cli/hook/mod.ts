/**
 * `muster hook`: what is new in an agent's inbox, for the hooks of a client. It runs at every step of
 * an agent, so it imports next to nothing.
 */
import { InvalidValue, type Leaf } from "../command_line/mod.ts";
import { print } from "../output.ts";
import { cursorPath, moveCursor, readCursor } from "./cursor.ts";
import { timeLeft } from "./deadline.ts";
import { eventOf, HOOK_CLIENTS, type HookEvent, maySpeak, outputOf } from "./formats.ts";
import { type InboxMessage, readInbox, shownMessages } from "./inbox.ts";

interface HookOptions {
  readonly url?: string;
  readonly agent?: string;
  readonly tokenFile?: string;
  /** Milliseconds. */
  readonly timeout?: number;
}

/** Bytes of standard input that are kept; the rest is read and dropped. */
const MAX_INPUT = 1024 * 1024;

/** Prints new messages; nothing if there are none, or anything is missing. */
async function hook(client: string, options: HookOptions): Promise<void> {
  const ready = performance.now();
  const timeout = () => options.timeout ?? timeLeft(ready, performance.now());
  const url = options.url ?? Deno.env.get("MUSTER_URL");
  const nick = options.agent ?? Deno.env.get("MUSTER_AGENT");
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE");
  const [event, token] = await Promise.all([
    Promise.race([readEvent(), nothingAfter(timeout())]),
    readToken(options),
  ]);
  if (url === undefined || nick === undefined || home === undefined) return;
  if (token === null || !URL.canParse(url) || event === null || !maySpeak(client, event)) return;
  const path = cursorPath(home, nick, url);
  const since = await readCursor(path);
  const messages = await readInbox({ url, nick, token, since, timeout: timeout() });
  if (messages.length === 0) return;
  await moveCursor(path, (cursor) => {
    // Another hook may have shown some of them since the question.
    const unseen = messages.filter(({ timestamp }) => cursor === null || timestamp > cursor);
    return unseen.length === 0 ? null : show(client, event, nick, unseen);
  });
}

function nothingAfter(milliseconds: number): Promise<null> {
  return new Promise((resolve) => {
    Deno.unrefTimer(setTimeout(() => resolve(null), milliseconds));
  });
}

/** Prints messages; returns the timestamp of the last one. */
function show(
  client: string,
  event: HookEvent,
  nick: string,
  messages: readonly InboxMessage[],
): string {
  const { text, last } = shownMessages(nick, messages);
  print(outputOf(client, event, text));
  return last;
}

/** Reads all that the client writes, so that its write does not fail. */
async function readEvent(): Promise<HookEvent | null> {
  if (Deno.stdin.isTerminal()) return null;
  const decoder = new TextDecoder();
  let [text, length] = ["", 0];
  for await (const chunk of Deno.stdin.readable) {
    if (length < MAX_INPUT) text += decoder.decode(chunk, { stream: true });
    length += chunk.length;
  }
  return eventOf(text);
}

async function readToken({ tokenFile }: HookOptions): Promise<string | null> {
  const path = tokenFile ?? Deno.env.get("MUSTER_TOKEN_FILE");
  if (path === undefined) return Deno.env.get("MUSTER_TOKEN") ?? null;
  try {
    return (await Deno.readTextFile(path)).trim() || null;
  } catch {
    return null;
  }
}

function checkTimeout(text: string): number {
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= 10_000) return value;
  throw new InvalidValue("be between 1 and 10000");
}

/** `muster hook`. */
export const HOOK: Leaf = {
  parameters: [{ usage: "<client>", choices: HOOK_CLIENTS }],
  options: [
    { flags: "--url <url>", summary: "the server's API (default: MUSTER_URL)" },
    { flags: "--agent <nick>", summary: "whose inbox (default: MUSTER_AGENT)" },
    {
      flags: "--token-file <file>",
      summary: "the file with the agent's token (default: MUSTER_TOKEN_FILE, or MUSTER_TOKEN)",
      completes: "file",
    },
    {
      flags: "--timeout <milliseconds>",
      summary: "longest wait for the server (default: what is left of 200 ms)",
      parse: checkTimeout,
    },
  ],
  notes: [
    "It reads the client's event from standard input, and prints new messages of the inbox in the " +
    "form that the client expects. It prints nothing if there are none, if the server does not " +
    'answer, or if something is missing. "muster mcp install --hooks" registers it.',
  ],
  run: hook,
};
