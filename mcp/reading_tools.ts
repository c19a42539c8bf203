import { z } from "zod";
import type { Waits } from "../http/mod.ts";
import { INBOX_CAPACITY } from "../services/inboxes/mod.ts";
import { parseEnvelope, readChannelName } from "../services/bridge/mod.ts";
import { type Gap, type MessageQuery, parseMicroseconds } from "../services/messages/mod.ts";
import { type CoordinationServices, running } from "./coordination_services.ts";
import { maxCharsShape } from "./budget.ts";
import {
  fitMessages,
  historySchema,
  inboxSchema,
  messageLine,
  showAddressed,
  showMessage,
} from "./shown_messages.ts";
import { defineTool, type Tool, type ToolContext, type ToolOutput } from "./tool.ts";

/** How many messages a tool returns by default. */
const DEFAULT_LIMIT = 20;
/** How long a call may wait for news, in seconds. */
const MAX_WAIT_SECONDS = 60;

const REFERENCE = "next_since of the last answer, or the id or the timestamp of a message";

/** The arguments that select messages of a log with the given capacity. */
function rangeShape(capacity: number) {
  return {
    limit: z.int().min(1).max(capacity).default(Math.min(DEFAULT_LIMIT, capacity))
      .describe("How many messages at most"),
    since: z.string().optional().describe(`Only what came after this: ${REFERENCE}`),
    wait_seconds: z.int().min(0).max(MAX_WAIT_SECONDS).default(0)
      .describe("How long to wait for a message if there is none yet, in seconds"),
    ...maxCharsShape,
  };
}

/** `get_history` */
export function getHistory(services: CoordinationServices, waits: Waits): Tool {
  const { bridge, bufferSize } = services;
  return defineTool({
    name: "get_history",
    description: "Reads messages of a channel, oldest first: the newest, or those after " +
      '"since" or before "before". To follow a channel, call it again with "since" set to ' +
      'next_since and "wait_seconds" to 60. For what others said to you, use read_inbox.',
    resource: "coordination",
    input: {
      channel: z.string().describe("Name of the channel, such as #general"),
      ...rangeShape(bufferSize),
      before: z.string().optional()
        .describe("Only what came before this, to go back: the id or the timestamp of a message"),
    },
    output: historySchema,
    readOnly: true,
    advice: { notFound: "Look at list_channels for the channels that you may read" },
    async run({ channel, limit, since, before, wait_seconds: waitSeconds, max_chars }, context) {
      const open = running(bridge);
      const name = readChannelName(channel);
      const read = (query: MessageQuery) => open.messages(name, query, context.caller);
      const kept = () => read({ limit: bufferSize });
      const gaps: Gap[] = [];
      const query = {
        limit,
        waitSeconds,
        onGap: (gap: Gap) => void gaps.push(gap),
        since: await messageId(since, kept),
        before: await messageId(before, kept),
      };
      const line = (message: ReturnType<typeof showMessage>) => messageLine(name, message);
      const found = (await readWaiting(waits, context, query, read)).map(showMessage);
      const { messages, rest } = fitMessages(found, {
        maxCharacters: max_chars,
        keepsNewest: since === undefined,
        line,
      });
      const [gap] = gaps;
      const head = [
        `# history: ${name} (last ${messages.length})`,
        ...(gap === undefined ? [] : [`[${name}] messages after ${gap.from} may be missing here`]),
      ];
      const marks = gap === undefined ? rest : Object.assign({ gap }, rest);
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
export function readOwnInbox(services: CoordinationServices, waits: Waits): Tool {
  return defineTool({
    name: "read_inbox",
    description:
      "Reads what others said to you, oldest first: messages to you alone, and messages " +
      "in channels that name you, your type or everybody. This is how you get work and answers: " +
      'call it again with "since" set to next_since and "wait_seconds" to 60. Reading removes ' +
      "nothing. Answer a message to you alone with send_direct, and others with post or " +
      "send_message in their channel.",
    resource: "coordination",
    agentsOnly: true,
    input: rangeShape(INBOX_CAPACITY),
    output: inboxSchema,
    readOnly: true,
    run(input, context) {
      const inbox = { services, waits, agent: context.caller.principal.name };
      return readInbox(inbox, input, context);
    },
  });
}

/** `read_inbox` for the operator: it has no inbox of its own and may read every agent's. */
export function readAgentsInbox(services: CoordinationServices, waits: Waits): Tool {
  return defineTool({
    name: "read_inbox",
    description: "Reads what others said to an agent, oldest first: messages to it alone, and " +
      "messages in channels that name it. Reading removes nothing.",
    resource: "server",
    input: { agent: z.string().describe("Nick of the agent"), ...rangeShape(INBOX_CAPACITY) },
    output: inboxSchema,
    readOnly: true,
    advice: { notFound: "Check the nick of the agent" },
    run: ({ agent, ...input }, context) => readInbox({ services, waits, agent }, input, context),
  });
}

/** An inbox to read. */
interface Inbox {
  readonly services: Pick<CoordinationServices, "inboxes">;
  readonly waits: Waits;
  readonly agent: string;
}

/** The selected messages. */
interface InboxRange {
  readonly limit: number;
  readonly since?: string | undefined;
  readonly wait_seconds: number;
  readonly max_chars: number;
}

async function readInbox(
  { services, waits, agent }: Inbox,
  { limit, since, wait_seconds: waitSeconds, max_chars: maxCharacters }: InboxRange,
  context: ToolContext,
): Promise<ToolOutput> {
  const { principal } = context.caller;
  // An answer may have no room for all entries. Those that it shows are read, and no others.
  const peek = (query: MessageQuery) =>
    services.inboxes.read(agent, { ...query, peeks: true }, principal);
  const query = { limit, waitSeconds, since: await messageId(since, () => peek({})) };
  const line = (message: ReturnType<typeof showAddressed>) =>
    messageLine(placeOf(message), message);
  const found = (await readWaiting(waits, context, query, peek)).map(showAddressed);
  const { messages, rest } = fitMessages(found, { maxCharacters, keepsNewest: false, line });
  if (messages.length > 0) services.inboxes.seen(agent, messages.map(({ id }) => id), principal);
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
function shownTwice(data: Record<string, unknown>): Pick<ToolOutput, "data" | "more"> {
  return { data, more: JSON.stringify(data) };
}

/** Reads messages, and waits for them if the query says so. */
async function readWaiting<Message>(
  waits: Waits,
  { caller, signal }: ToolContext,
  query: MessageQuery,
  read: (query: MessageQuery) => Promise<Message[]>,
): Promise<Message[]> {
  if (!query.waitSeconds) return await read(query);
  return await waits.run(caller.principal, signal, (end) => read({ ...query, end }));
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
