/** Encodes entries of a log for a store, and decodes them. */

import type { HistoryEntry } from "./history.ts";
import type { HistoryRecord } from "./store.ts";
import { parseMessage } from "../protocol/message.ts";
import { type MessageText, Outbound, type OutboundTags } from "../outbound.ts";

/**
 * A message as JSON, without default values, and without a guest's connection, which means nothing
 * to a later run of the server.
 */
interface StoredMessage {
  /** Source, command and parameters. */
  readonly head: string;
  readonly text?: MessageText;
  readonly account?: string;
  readonly relayer?: string;
  readonly bot?: true;
  readonly client?: readonly (readonly [string, string])[];
}

interface StoredEntry extends StoredMessage {
  /** The form for clients with `extended-join`. */
  readonly extended?: StoredMessage;
}

/** An entry in a store. */
export function recordOf({ id, time, kind, message, extended }: HistoryEntry): HistoryRecord {
  const stored: StoredEntry = {
    ...storedMessage(message),
    ...(extended === null ? {} : { extended: { head: extended.head, ...textOf(extended) } }),
  };
  return { id, time, kind, content: JSON.stringify(stored) };
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

function storedMessage(message: Outbound): StoredMessage {
  const { account, relayer, bot, client } = message.tags;
  return {
    head: message.head,
    ...textOf(message),
    ...(account ? { account } : {}),
    ...(relayer === undefined ? {} : { relayer }),
    ...(bot ? { bot } : {}),
    ...(client === undefined ? {} : { client }),
  };
}

function textOf({ text }: Outbound): { text?: MessageText } {
  return text === undefined ? {} : { text };
}

function outbound({ head, text }: StoredMessage, tags: OutboundTags): Outbound {
  const parsed = parseMessage(head);
  if (parsed === null) throw new SyntaxError("A stored message has no form");
  return new Outbound({ ...parsed, tags, text });
}
