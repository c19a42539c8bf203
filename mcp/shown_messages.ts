/** Messages for a model: a line of text for each, and the same as JSON. */

import { z } from "zod";
import { type Addressed, ADDRESSED_KINDS } from "../services/inboxes/mod.ts";
import { type ChannelMessage, parseEnvelope } from "../services/bridge/mod.ts";

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
export const historySchema = z.object({
  channel: z.string(),
  messages: z.array(z.object(messageShape)),
  next_since: nextSince,
});

/** The result of `read_inbox`. */
export const inboxSchema = z.object({
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
    checkin: z.string().optional(),
    workspace: z.string().optional(),
    message: z.string().optional().describe("The id of your message that came back"),
    channel: z.string().nullable().describe("Null for a private message"),
  })),
  next_since: nextSince,
});

type Shown = z.infer<typeof historySchema>["messages"][number];

/** A message of a channel as JSON. */
export function showMessage(message: Omit<ChannelMessage, "via"> & { via?: "bridge" }): Shown {
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
  { from: nick, kind, channel, project, ticket, review, checkin, workspace, ...entry }: Addressed,
) {
  const { message, ...said } = entry;
  const about = Object.entries({ project, ticket, review, checkin, workspace, message });
  return {
    ...showMessage({ ...said, nick }),
    kind,
    channel,
    ...Object.fromEntries(about.filter(([, value]) => value !== undefined)),
  };
}

/**
 * A message as one line of text. Further lines of its text are indented, so that none can pass for
 * another message.
 *
 * @param place the channel, or another word for its place
 */
export function messageLine(place: string, { nick, text, type, envelope_id }: Shown): string {
  const words = text === undefined
    ? `type=${type} id=${envelope_id}`
    : text.replaceAll("\n", "\n    ");
  return `[${place}] <${nick}> ${words}`;
}
