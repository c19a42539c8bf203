/** Encodes entries of a log for a store, and decodes them. */

import type { HistoryRecord } from "./store.ts";
import { jsonString } from "../protocol/text.ts";
import { MessageHead, type MessageText, Outbound, type OutboundTags } from "../outbound.ts";
import { parseMessage } from "../protocol/message.ts";
import type { HistoryEntry } from "./log.ts";

/**
 * A message as JSON, without default values, and without a guest's connection, which means nothing
 * to a later run of the server.
 */
interface StoredMessage {
  /** Source, command and parameters. */
  readonly head: string;
  readonly text?: MessageText | undefined;
  readonly account?: string | undefined;
  readonly relayer?: string | undefined;
  readonly bot?: true | undefined;
  readonly client?: readonly (readonly [string, string])[] | undefined;
}

interface StoredEntry extends StoredMessage {
  /** The form for clients with `extended-join`. */
  readonly extended?: StoredMessage | undefined;
}

/** An entry in a store. */
export function recordOf({ id, time, kind, message, extended }: HistoryEntry): HistoryRecord {
  return { id, time, kind, content: contentOf(message, extended) };
}

/** A {@linkcode StoredEntry} as JSON. Each message has one, so its common members are written here. */
function contentOf(message: Outbound, extended: Outbound | null): string {
  const { head, text, tags: { account, relayer, bot, client } } = message;
  let members = `"head":${jsonString(head)}`;
  if (typeof text === "string") members += `,"text":${jsonString(text)}`;
  else if (text !== undefined) members += `,"text":${JSON.stringify(text)}`;
  if (account) members += `,"account":${jsonString(account)}`;
  if (relayer !== undefined) members += `,"relayer":${jsonString(relayer)}`;
  if (bot) members += `,"bot":true`;
  if (client !== undefined) members += `,"client":[${pairsOf(client)}]`;
  if (extended !== null) {
    const stored: StoredMessage = { head: extended.head, text: extended.text };
    members += `,"extended":${JSON.stringify(stored)}`;
  }
  return `{${members}}`;
}

function pairsOf(tags: NonNullable<OutboundTags["client"]>): string {
  let pairs = "";
  for (const [key, value] of tags) {
    pairs += `${pairs === "" ? "" : ","}[${jsonString(key)},${jsonString(value)}]`;
  }
  return pairs;
}

/** Decodes the entry of a record. Throws SyntaxError if this server did not write the content. */
export function entryOf({ id, time, kind, content }: HistoryRecord): HistoryEntry {
  const stored = JSON.parse(content) as StoredEntry;
  const { account = null, relayer, bot = false, client } = stored;
  const text = new Date(time).toISOString();
  const tags: OutboundTags = { time: text, milliseconds: time, account, bot };
  if (id !== "") tags.msgid = id;
  if (relayer !== undefined) tags.relayer = relayer;
  if (client !== undefined) tags.client = client;
  return {
    id,
    time,
    kind,
    message: outbound(stored, tags),
    extended: stored.extended === undefined ? null : outbound(stored.extended, tags),
  };
}

/** The message in a record. Throws SyntaxError if this server did not write the content. */
export function messageIn(record: HistoryRecord): Outbound {
  return entryOf(record).message;
}

function outbound({ head, text }: StoredMessage, tags: OutboundTags): Outbound {
  const parsed = parseMessage(head);
  if (parsed === null) throw new SyntaxError("A stored message has no form");
  return new Outbound({ head: new MessageHead(parsed), tags, text });
}
