/**
 * `muster hook`: what is new in an agent's inbox, for the hooks of a client. It runs at every step of
 * an agent, so it imports next to nothing.
 */
import { InvalidValue, type Leaf } from "./command_line/mod.ts";
import {
  claim,
  fitting,
  type InboxMessage,
  type InboxPlace,
  readUnread,
  textOf,
} from "./hook_inbox.ts";
import { endsWithTurn, waitForNews, WaitingMark } from "./hook_waiting.ts";
import { CommandFailed, print } from "./output.ts";
import { findSession } from "./session_file.ts";

interface HookOptions {
  readonly url?: string;
  readonly agent?: string;
  readonly tokenFile?: string;
  /** Milliseconds. */
  readonly timeout?: number;
  readonly wait?: boolean;
}

/** Bytes of standard input that are kept; the rest is read and dropped. */
const MAX_INPUT = 1024 * 1024;

/** How long a hook in the background may wait for its event, in milliseconds: nobody waits for it. */
const UNHURRIED = 10_000;

/** How long a server that has news may take to hand them over, in milliseconds. */
const HANDOVER = 2000;

/** The exit code with which a hook in the background wakes its client. */
const WAKES = 2;

/** Prints new messages; nothing if there are none, or anything is missing. */
async function hook(client: string, options: HookOptions): Promise<void> {
  const ready = performance.now();
  const timeout = () =>
    options.wait === true ? UNHURRIED : options.timeout ?? timeLeft(ready, performance.now());
  const url = options.url ?? Deno.env.get("MUSTER_URL");
  const nick = options.agent ?? Deno.env.get("MUSTER_AGENT");
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE");
  const [event, token, session] = await Promise.all([
    Promise.race([readEvent(), nothingAfter(timeout())]),
    readToken(options),
    findSession(),
  ]);
  if (url === undefined || nick === undefined || home === undefined) return;
  if (token === null || !URL.canParse(url) || event === null) return;
  const place = { url, nick, token, session };
  const mark = wakes(client) && event.session !== null
    ? new WaitingMark(home, event.session)
    : null;
  if (options.wait === true) {
    if (mark === null || !endsTurn(client, event) || endsWithTurn()) return;
    const news = await waitForNews(place, mark);
    if (news !== null) throw new CommandFailed(news, WAKES);
    return;
  }
  if (!maySpeak(client, event)) return;
  const text = await newsOf(place, timeout());
  // What begins a turn or belongs to one: the agent is not idle.
  if (text !== null || !endsTurn(client, event)) mark?.remove();
  if (text !== null) print(outputOf(client, event, text));
}

function nothingAfter(milliseconds: number): Promise<null> {
  return new Promise((resolve) => {
    Deno.unrefTimer(setTimeout(() => resolve(null), milliseconds));
  });
}

/** New messages as a text, which are then read; null without any. */
async function newsOf(place: InboxPlace, timeout: number): Promise<string | null> {
  const unread = await readUnread(place, 0, { timeout });
  if (typeof unread === "string" || unread.value.length === 0) return null;
  const shown = fitting(unread.value);
  const own = await claim(place, shown, { timeout: Math.max(timeout, HANDOVER) });
  // It may have been claimed: to show it twice is better than never.
  const isOwn = ({ id }: InboxMessage) => typeof own === "string" || own.value.includes(id);
  const news = shown.filter(isOwn);
  if (news.length === 0) return null;
  return textOf(unread.name, news, shown.length < unread.value.length);
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

/** What the hooks of each client read and print. */

/** What the client said about the event. */
interface HookEvent {
  readonly name: string;
  /** The client's id of its session; null if it names none. */
  readonly session: string | null;
  /** Whether the agent already works on because of a hook of the same kind. */
  readonly isRepeated: boolean;
}

/** The hooks of a client. */
interface HookForm {
  /** The event that ends a turn, and the decision with which what is said there begins another. */
  readonly ending: { readonly event: string; readonly decision: string };
  /** The events at which the client takes text for the model as `additionalContext`. */
  readonly context: readonly string[];
  /** Whether the text stands at the root of the output. */
  readonly isFlat?: true;
  /** Whether a hook in the background can wake the client. */
  readonly wakes?: true;
}

const CLAUDE_FORM: HookForm = {
  ending: { event: "Stop", decision: "block" },
  context: ["SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"],
};

const HOOK_FORMS: Readonly<Record<string, HookForm>> = {
  // https://code.claude.com/docs/en/hooks
  claude: { ...CLAUDE_FORM, wakes: true },
  // https://developers.openai.com/codex/hooks
  codex: { ...CLAUDE_FORM, context: ["SessionStart", "UserPromptSubmit", "PostToolUse"] },
  // https://geminicli.com/docs/hooks/reference
  gemini: {
    ending: { event: "AfterAgent", decision: "deny" },
    context: ["SessionStart", "BeforeAgent", "AfterTool"],
  },
  // https://docs.github.com/en/copilot/reference/hooks-reference
  copilot: { ...CLAUDE_FORM, isFlat: true },
  // https://qwenlm.github.io/qwen-code-docs/en/users/features/hooks
  qwen: CLAUDE_FORM,
};

const HOOK_CLIENTS = Object.freeze(Object.keys(HOOK_FORMS));

/**
 * Reads the event from what the client wrote to standard input.
 *
 * @param text JSON, perhaps cut off
 * @returns null if it names no event
 */
export function eventOf(text: string): HookEvent | null {
  try {
    const input: unknown = JSON.parse(text);
    if (typeof input !== "object" || input === null) return null;
    const fields = input as Readonly<Record<string, unknown>>;
    const name = fields["hook_event_name"];
    if (typeof name !== "string") return null;
    const session = fields["session_id"];
    return {
      name,
      session: typeof session === "string" ? session : null,
      isRepeated: fields["stop_hook_active"] === true,
    };
  } catch {
    // The results of a tool may be longer than what was read; the name stands before them.
    const name = /"hook_event_name"\s*:\s*"(\w+)"/.exec(text)?.[1];
    const session = /"session_id"\s*:\s*"([\w-]+)"/.exec(text)?.[1] ?? null;
    return name === undefined ? null : { name, session, isRepeated: false };
  }
}

/**
 * Whether a hook of this client may say something at this event. At the end of a turn it speaks once:
 * a second time could keep the agent at work forever.
 */
export function maySpeak(client: string, { name, isRepeated }: HookEvent): boolean {
  const form = HOOK_FORMS[client];
  if (name === form?.ending.event) return !isRepeated;
  return form?.context.includes(name) === true;
}

/** Whether a hook in the background can wake this client. */
function wakes(client: string): boolean {
  return HOOK_FORMS[client]?.wakes === true;
}

/** Whether the client ends a turn at this event. */
function endsTurn(client: string, { name }: HookEvent): boolean {
  return name === HOOK_FORMS[client]?.ending.event;
}

/** The output that gives a text to the model. */
export function outputOf(client: string, { name }: HookEvent, text: string): string {
  const form = HOOK_FORMS[client];
  if (name === form?.ending.event) {
    return JSON.stringify({ decision: form.ending.decision, reason: text });
  }
  const context = { additionalContext: text };
  return JSON.stringify(
    form?.isFlat === true ? context : { hookSpecificOutput: { hookEventName: name, ...context } },
  );
}

/** How long a hook may wait, so that the client waits for the whole process at most 200 ms. */

/** Milliseconds after the start of the process at which the wait ends; the rest is for its end. */
const DEADLINE = 165;

/**
 * Milliseconds from the start of the process to that of the runtime's clock, on an idle machine. A
 * program without all permissions cannot ask the system when its process began.
 */
const BEFORE_CLOCK = 60;

/**
 * How many times longer the start before the clock takes than the start after it. Load delays both,
 * so a late hook was late before its clock began too.
 */
const RATIO = 3;

/** The shortest wait in milliseconds: an answer of a server on this machine takes less. */
const MIN_WAIT = 20;

/**
 * Milliseconds that are left to wait for the server.
 *
 * @param ready how long the runtime's clock had run when the program was ready
 * @param now how long it has run
 */
export function timeLeft(ready: number, now: number): number {
  const before = Math.max(BEFORE_CLOCK, RATIO * ready);
  return Math.max(MIN_WAIT, DEADLINE - before - now);
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
    {
      flags: "--wait",
      summary: "wait in the background until there are any, and wake the client: claude",
    },
  ],
  notes: [
    "It reads the client's event from standard input, and prints new messages of the inbox in the " +
    "form that the client expects. It prints nothing if there are none, if the server does not " +
    'answer, or if something is missing. "muster mcp install --hooks" registers it.',
    "With --wait it ends at the first news, with exit code 2 and the news on standard error. It " +
    "ends without any when the client ends, when the session goes on or another hook waits for it, " +
    "when the agent is halted or its token refused, and after eight hours.",
  ],
  run: hook,
};
