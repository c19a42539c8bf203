/** Messages for a model: a line of text for each, and the same as JSON. */

import { z } from "zod";
import { Invalid } from "../services/kernel/errors.ts";
import { parseEnvelope } from "../services/chat/bridge/mod.ts";
import type { MessageView } from "../services/chat/bridge/operations.ts";
import { ADDRESSED_KINDS } from "../services/chat/inboxes/mod.ts";
import type { EntryView } from "../services/chat/inboxes/operations.ts";
import { moreShape } from "./budget.ts";

/** The properties of every message. */
const messageShape = {
  id: z.string().describe('Give it as "since" or "before" to read on from here'),
  timestamp: z.string().describe("ISO 8601, UTC"),
  nick: z.string().describe("The name under which it was said"),
  account: z.string().nullable().describe("The account that is proven to have said it, or null"),
  via: z.literal("bridge").optional().describe("The operator said it in this name"),
  text: z.string().optional().describe("Plain words; absent in a typed message"),
  type: z.string().optional().describe("The type of a typed message"),
  envelope_id: z.string().optional().describe("The id that the sender of a typed message gave it"),
  from: z.string().optional().describe("The sender that a typed message claims, if not the nick"),
  to: z.unknown().optional().describe("Whom a typed message is for"),
  payload: z.unknown().optional().describe("The content of a typed message"),
  other_fields: z.record(z.string(), z.unknown()).optional()
    .describe("What else a typed message holds"),
};

const nextSince = z.string().nullable().describe(
  'Give it as "since" in the next call to read only what comes after; null: nothing so far',
);

/** The result of `get_history`. */
export const historyShape = {
  channel: z.string(),
  messages: z.array(z.object(messageShape)),
  next_since: nextSince,
  gap: z.object({ from: z.string(), to: z.string().nullable() }).optional().describe(
    "Present if messages between these places may be missing: the server no longer has them",
  ),
  ...moreShape,
};

/** The result of `read_inbox`. */
export const inboxShape = {
  agent: z.string(),
  messages: z.array(z.object({
    ...messageShape,
    kind: z.enum(ADDRESSED_KINDS).describe(
      "message: said to the agent alone; mention: it is named in a channel or a comment; bounce: " +
        "its own message came back; others: what happened to its work in a project",
    ),
    project: z.string().optional().describe("The project that it is about"),
    ticket: z.string().optional(),
    review: z.number().optional(),
    question: z.number().optional().describe("The number of your question that ended"),
    checkin: z.string().optional(),
    workspace: z.string().optional(),
    message: z.string().optional().describe("The id of your message that came back"),
    channel: z.string().nullable().describe("Null for a private message"),
    reply_to: z.string().optional().describe("Where an answer goes; absent: to nobody"),
  })),
  next_since: nextSince,
  ...moreShape,
};

type Shown = z.infer<z.ZodObject<typeof messageShape>>;

/** A message of a channel as JSON. */
export function showMessage(message: MessageView): Shown {
  const { id, timestamp, nick, account, via, text } = message;
  const origin = { id, timestamp, nick, account, ...(via === undefined ? {} : { via }) };
  const envelope = parseEnvelope(text);
  if (envelope === null) return { ...origin, text };
  const { v: _v, ts: _ts, type, id: envelope_id, from, to, payload, ...other } = envelope;
  return {
    ...origin,
    type,
    envelope_id,
    ...(from === nick ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(payload === undefined ? {} : { payload }),
    ...(Object.keys(other).length === 0 ? {} : { other_fields: other }),
  };
}

/** A message of an inbox as JSON. */
export function showAddressed(
  { from: nick, kind, channel, project, ticket, review, question, checkin, workspace, ...entry }:
    EntryView,
) {
  const { message, reply_to, ...said } = entry;
  const thing = { project, ticket, review, question, checkin, workspace, message };
  const about = Object.entries({ ...thing, reply_to });
  return {
    ...showMessage({ ...said, nick }),
    kind,
    channel,
    ...Object.fromEntries(about.filter(([, value]) => value !== undefined)),
  };
}

/** What ends a line for any reader. */
const LINE_END = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/**
 * A message as one line of text. Further lines of its text are indented, so that none can pass for
 * another message.
 *
 * @param place the channel, or another word for its place
 */
export function messageLine(place: string, { nick, text, type, envelope_id }: Shown): string {
  const words = text === undefined
    ? `type=${type} id=${envelope_id}`
    : text.replaceAll(LINE_END, "\n    ");
  return `[${place}] <${nick}> ${words}`;
}

/** Characters of an answer beside its messages. */
const FRAME = 500;

/** Messages that fit in an answer, and the fields that say how to read the others. */
interface FittedMessages<Message> {
  readonly messages: readonly Message[];
  readonly rest: { readonly more?: string; readonly next?: Readonly<Record<string, string>> };
}

/**
 * Leaves out whole messages until a text with a line for each and their JSON fit in an answer.
 *
 * @param options.line writes the line of a message
 * @param options.keepsNewest whether the oldest are left out, and the argument `before` reads them;
 * otherwise the newest, and `since` does
 * @throws Invalid if not one message fits
 */
export function fitMessages<Message extends { readonly id: string }>(
  messages: readonly Message[],
  { maxCharacters, keepsNewest, line }: {
    readonly maxCharacters: number;
    readonly keepsNewest: boolean;
    line(message: Message): string;
  },
): FittedMessages<Message> {
  const costs = (keepsNewest ? messages.toReversed() : messages)
    .map((message) => line(message).length + JSON.stringify(message).length + 2);
  let room = maxCharacters - FRAME;
  const over = costs.findIndex((cost) => (room -= cost) < 0);
  if (over < 0) return { messages, rest: {} };
  if (over === 0) {
    throw new Invalid(
      `One message does not fit in ${maxCharacters} characters; ` +
        `set "max_chars" to ${maxCharacters - room}`,
    );
  }
  const shown = keepsNewest ? messages.slice(-over) : messages.slice(0, over);
  const next = keepsNewest ? { before: shown[0]?.id ?? "" } : { since: shown.at(-1)?.id ?? "" };
  const left = `the ${keepsNewest ? "first" : "last"} ${messages.length - over}`;
  const more = `Left out: ${left} of ${messages.length} messages; call again with ` +
    `${JSON.stringify(next)} to read them.`;
  return { messages: shown, rest: { more, next } };
}
