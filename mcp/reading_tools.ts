import { z } from "zod";
import { parseEnvelope, readChannelName } from "../services/chat/bridge/mod.ts";
import { readChannel } from "../services/chat/bridge/operations.ts";
import { mayDo } from "../services/people/identity/mod.ts";
import { INBOX_CAPACITY } from "../services/chat/inboxes/mod.ts";
import * as inboxes from "../services/chat/inboxes/operations.ts";
import { parseMicroseconds } from "../services/chat/messages/mod.ts";
import { maxCharsShape } from "./budget.ts";
import {
  fitMessages,
  historyShape,
  inboxShape,
  messageLine,
  showAddressed,
  showMessage,
} from "./shown_messages.ts";
import { type Tool, tool, type ToolAnswer } from "./tool.ts";
import type { ToolCall } from "./tool_call.ts";

/** How many messages a tool returns by default. */
const DEFAULT_LIMIT = 20;
/** How long a call may wait for news, in seconds. */
const MAX_WAIT_SECONDS = 60;

const REFERENCE = "next_since of the last answer, or the id or timestamp of a message";

/** The arguments that select messages of a log with the given capacity. */
function rangeShape(capacity: number) {
  return {
    limit: z.int().min(1).max(capacity).default(Math.min(DEFAULT_LIMIT, capacity))
      .describe("Messages at most"),
    since: z.string().optional().describe(`Only what came after ${REFERENCE}`),
    wait_seconds: z.int().min(0).max(MAX_WAIT_SECONDS).default(0)
      .describe("How long to wait if there is no message"),
    ...maxCharsShape,
  };
}

/**
 * `get_history`
 *
 * @param bufferSize the number of messages kept per channel
 */
export function getHistory(bufferSize: number): Tool {
  return tool({
    name: "get_history",
    description:
      'Reads messages of a channel, oldest first: the newest, or those after "since" or ' +
      'before "before". To follow it, call again with "since" set to next_since and ' +
      '"wait_seconds" to 60.',
    does: readChannel,
    input: {
      channel: z.string().describe("Such as #general"),
      ...rangeShape(bufferSize),
      before: z.string().optional()
        .describe("A message's id or timestamp: only what came before it"),
    },
    output: historyShape,
    advice: { notFound: "Look at list_channels for the channels that you may read" },
    async run({ channel, limit, since, before, wait_seconds, max_chars }, call) {
      const kept = () => call.invoke(readChannel, { channel, limit: bufferSize });
      const from = await messageId(since, kept);
      const query = { limit, wait_seconds, since: from, before: await messageId(before, kept) };
      let gapEnd: string | undefined;
      const read = await call.invoke(readChannel, { channel, ...query }, {
        onHeaders: (headers) => gapEnd = headers["Muster-Gap"],
      });
      const name = readChannelName(channel);
      const line = (message: ReturnType<typeof showMessage>) => messageLine(name, message);
      const { messages, rest } = fitMessages(read.map(showMessage), {
        maxCharacters: max_chars,
        keepsNewest: since === undefined,
        line,
      });
      const isWhole = from === undefined || gapEnd === undefined;
      const head = [
        `# history: ${name} (last ${messages.length})`,
        ...(isWhole ? [] : [`[${name}] messages after ${from} may be missing here`]),
      ];
      const marks = isWhole
        ? rest
        : { gap: { from, to: gapEnd === "none" ? null : gapEnd }, ...rest };
      return {
        text: [...head, ...messages.map(line)].join("\n"),
        ...shownTwice({
          channel: name,
          messages,
          next_since: nextSince(messages, since),
          ...marks,
        }),
      };
    },
  });
}

/** `read_inbox` for agents. */
export const readOwnInbox = tool({
  name: "read_inbox",
  description:
    "Reads what others said to you, oldest first: to you alone, or in channels where they " +
    "name you, your type or everybody. This is how you get work and answers: call it again and " +
    'again with "wait_seconds" 60, which returns only what you have not had. Reading removes ' +
    'nothing. Answer where "reply_to" says: a nick with send_direct, a channel with post.',
  does: inboxes.readInbox,
  sees: ({ kind }, may) => may && kind === "agent",
  refusal: "Only agents have an inbox",
  input: rangeShape(INBOX_CAPACITY),
  output: inboxShape,
  run: (range, call) => readInbox({ agent: call.principal.name, isOwn: true }, range, call),
});

/** `read_inbox` for the operator: it has no inbox of its own and may read every agent's. */
export const readAgentsInbox = tool({
  name: "read_inbox",
  description: "Reads what others said to an agent, oldest first: messages to it alone, and " +
    "messages in channels that name it. Reading removes nothing.",
  does: inboxes.readInbox,
  sees: (principal) => mayDo(principal, "read", { kind: "server" }),
  input: { agent: z.string().describe("Nick of the agent"), ...rangeShape(INBOX_CAPACITY) },
  output: inboxShape,
  advice: { notFound: "Check the nick of the agent" },
  run: ({ agent, ...range }, call) => readInbox({ agent, isOwn: false }, range, call),
});

/** The selected messages. */
interface InboxRange {
  readonly limit: number;
  readonly since?: string | undefined;
  readonly wait_seconds: number;
  readonly max_chars: number;
}

/**
 * Reads an inbox. Who waits for news of its own without a place to read from gets what it has not
 * had: neither from an earlier answer nor from a hook of its client.
 */
async function readInbox(
  { agent, isOwn }: { readonly agent: string; readonly isOwn: boolean },
  { limit, since, wait_seconds, max_chars: maxCharacters }: InboxRange,
  call: ToolCall,
): Promise<ToolAnswer> {
  // An answer may have no room for all entries. Those that it shows are read, and no others.
  const peek = (query: Partial<InboxRange> & { readonly unread?: "true" }) =>
    call.invoke(inboxes.readInbox, { nick: agent, ...query }, { isPeek: true });
  const from = await messageId(since, () => peek({}));
  const onlyNews = isOwn && since === undefined && wait_seconds > 0;
  const unread = onlyNews ? { unread: "true" as const } : {};
  const line = (message: ReturnType<typeof showAddressed>) =>
    messageLine(placeOf(message), message);
  const end = performance.now() + wait_seconds * 1000;
  let [messages, rest]: [ReturnType<typeof showAddressed>[], object] = [[], {}];
  for (;;) {
    const left = Math.max(0, Math.round((end - performance.now()) / 1000));
    const found = (await peek({ limit, wait_seconds: left, since: from, ...unread }))
      .map(showAddressed);
    if (found.length === 0) break;
    const fitted = fitMessages(found, { maxCharacters, keepsNewest: false, line });
    const ids = fitted.messages.map(({ id }) => id);
    const news = await call.invoke(inboxes.noteRead, { nick: agent, ids });
    rest = fitted.rest;
    messages = fitted.messages.filter(({ id }) => !onlyNews || news.includes(id));
    // Somebody else who reads for the agent may have been first.
    if (messages.length > 0 || !onlyNews || left === 0) break;
  }
  return {
    text: [`# inbox: ${agent} (last ${messages.length})`, ...messages.map(line)].join("\n"),
    ...shownTwice({ agent, messages, next_since: nextSince(messages, since), ...rest }),
  };
}

/** The position from which a reader of these messages continues. */
function nextSince(messages: readonly { readonly id: string }[], since: string | undefined) {
  return messages.at(-1)?.id ?? since ?? null;
}

/** Data as a result and as a text, because many clients show a model only texts. */
function shownTwice(data: Record<string, unknown>): Pick<ToolAnswer, "data" | "more"> {
  return { data, more: JSON.stringify(data) };
}

/**
 * The text shows an envelope under its own id, so a reference may also be that id.
 *
 * @param read returns every stored message
 * @returns the id of the message with such an envelope, or the reference unchanged
 */
async function messageId(
  reference: string | undefined,
  read: () => Promise<readonly { readonly id: string; readonly text: string }[]>,
): Promise<string | undefined> {
  if (reference === undefined || parseMicroseconds(reference) !== null) return reference;
  const kept = await read();
  if (kept.some(({ id }) => id === reference)) return reference;
  const found = kept.findLast(({ text }) =>
    text.includes(reference) && parseEnvelope(text)?.id === reference
  );
  return found?.id ?? reference;
}

/** Where a message of an inbox was said, or what it is about. */
function placeOf({ channel, kind }: ReturnType<typeof showAddressed>): string {
  return channel ?? (kind === "message" ? "direct" : kind);
}
