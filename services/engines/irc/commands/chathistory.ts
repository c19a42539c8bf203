/** CHATHISTORY (IRCv3 "chathistory"). */

import { Cap } from "../protocol/capabilities.ts";
import { channelStanding } from "../channels/access.ts";
import type { CommandCall } from "../command.ts";
import type { Conversation } from "../history/history.ts";
import { HistoryKind, type HistoryPart, type HistoryReference } from "../history/store.ts";
import { HISTORY_MESSAGES } from "../isupport.ts";
import { looksLikeChannel } from "../protocol/names.ts";
import type { Outbound } from "../outbound.ts";
import type { ServerState } from "../state.ts";
import { Channel, type Client } from "../members.ts";
import type { HistoryEntry } from "../history/log.ts";

/** The query of a subcommand with these references; null stands for `*`. */
interface Subcommand {
  readonly references: number;
  /** Whether `*` may replace a reference. */
  readonly open?: boolean;
  part(references: readonly (HistoryReference | null)[]): HistoryPart;
}

/** Never reached: the number of references has been checked. */
const NOWHERE: HistoryReference = { id: "" };

const SUBCOMMANDS: ReadonlyMap<string, Subcommand> = new Map<string, Subcommand>([
  ["LATEST", {
    references: 1,
    open: true,
    part: ([since]) => ({ kind: "latest", since: since ?? null }),
  }],
  ["BEFORE", {
    references: 1,
    part: ([reference]) => ({ kind: "before", reference: reference ?? NOWHERE }),
  }],
  ["AFTER", {
    references: 1,
    part: ([reference]) => ({ kind: "after", reference: reference ?? NOWHERE }),
  }],
  ["AROUND", {
    references: 1,
    part: ([reference]) => ({ kind: "around", reference: reference ?? NOWHERE }),
  }],
  ["BETWEEN", {
    references: 2,
    part: ([first, second]) => ({
      kind: "between",
      first: first ?? NOWHERE,
      second: second ?? NOWHERE,
    }),
  }],
]);

/**
 * CHATHISTORY LATEST|BEFORE|AFTER|AROUND|BETWEEN target reference{ reference} limit, or
 * CHATHISTORY TARGETS timestamp timestamp limit. A reference is `msgid=` or `timestamp=`.
 */
export function chathistory(call: CommandCall): void | Promise<void> {
  const name = (call.params[0] ?? "").toUpperCase();
  if (name === "TARGETS") return sendTargets(call);
  const subcommand = SUBCOMMANDS.get(name);
  if (subcommand) return sendMessages(call, name, subcommand);
  call.reply.fail("CHATHISTORY", "INVALID_PARAMS", [name || "*"], "Unknown subcommand");
}

function sendMessages(
  call: CommandCall,
  name: string,
  { references: count, open = false, part }: Subcommand,
): void | Promise<void> {
  const { state, client, params, reply } = call;
  if (params.length < 3 + count) return refuseFew(call, name);
  const target = params[1] ?? "";
  const conversation = readable(state, client, target);
  if (conversation === null) {
    return reply.fail(call.command, "INVALID_TARGET", [name, target], "No such history");
  }
  const limit = parseLimit(params[2 + count]);
  if (limit === null) return refuseLimit(call, name);

  const references: (HistoryReference | null)[] = [];
  for (const text of params.slice(2, 2 + count)) {
    const reference = open && text === "*" ? null : parseReference(text);
    if (reference === "malformed") {
      const reason = "References are msgid= or timestamp=";
      return reply.fail(call.command, "INVALID_MSGREFTYPE", [name, text], reason);
    }
    references.push(reference);
  }
  const query = { part: part(references), limit, upTo: lastKindFor(client) };
  const entries = state.history.read(conversation, query);
  return reply.batch("chathistory", [target], messagesFor(call, conversation, entries));
}

/**
 * The entries for a client: messages, and with `draft/event-playback` the events that it supports.
 */
function lastKindFor(client: Client): HistoryKind {
  if (!client.hasCapability(Cap.EVENT_PLAYBACK)) return HistoryKind.MESSAGE;
  return client.hasCapability(Cap.MESSAGE_REDACTION) ? HistoryKind.REDACTION : HistoryKind.EVENT;
}

/**
 * Entries in the form for a client; those of a channel under its current name, and only while the
 * client may read it.
 */
function messagesFor(
  { state, client }: CommandCall,
  conversation: Conversation,
  entries: Iterable<HistoryEntry> | AsyncIterable<HistoryEntry>,
): Iterable<Outbound> | AsyncIterable<Outbound> {
  const isExtended = client.hasCapability(Cap.EXTENDED_JOIN);
  const channel = conversation instanceof Channel ? conversation : null;
  function formOf({ message: plain, extended }: HistoryEntry): Outbound {
    const message = isExtended ? extended ?? plain : plain;
    return channel === null ? message : message.inChannel(channel.name);
  }
  async function* later(read: AsyncIterable<HistoryEntry>): AsyncIterable<Outbound> {
    for await (const entry of read) {
      if (channel !== null && readable(state, client, channel.name) !== channel) return;
      yield formOf(entry);
    }
  }
  return Symbol.iterator in entries ? Array.from(entries, formOf) : later(entries);
}

/** Channels and users whose last message is between two times, the oldest first. */
async function sendTargets(call: CommandCall): Promise<void> {
  const { state, client, command, params, reply } = call;
  if (params.length < 4) return refuseFew(call, "TARGETS");
  const [first, second] = [parseTime(params[1] ?? ""), parseTime(params[2] ?? "")];
  if (first === null || second === null) {
    return reply.fail(command, "INVALID_PARAMS", ["TARGETS"], "Targets lie between two timestamps");
  }
  const limit = parseLimit(params[3]);
  if (limit === null) return refuseLimit(call, "TARGETS");

  const between = [Math.min(first, second), Math.max(first, second)] as const;
  const targets = (await state.history.lastMessages(client, between))
    .toSorted((left, right) => left.time - right.time);
  const shown = first <= second ? targets.slice(0, limit) : targets.slice(-limit);
  const lines = shown.map(({ title, time }): Outbound => {
    const text = new Date(time).toISOString();
    return state.messageFromServer(command, { params: ["TARGETS", title, text] });
  });
  return reply.batch("draft/chathistory-targets", [], lines);
}

/** The conversation that a target names; null if the client may not read it. */
function readable(state: ServerState, client: Client, target: string): Conversation | null {
  if (!looksLikeChannel(target)) return { client, nick: target };
  const channel = state.findChannel(target);
  if (channel === undefined || client.privileged) return channel ?? null;
  return channelStanding(state, [client], target).member ? channel : null;
}

function parseReference(text: string): HistoryReference | "malformed" {
  if (text.startsWith("msgid=")) return { id: text.slice("msgid=".length) };
  const time = parseTime(text);
  return time === null ? "malformed" : { time };
}

/** Unix time in milliseconds of `timestamp=`, or null. */
function parseTime(reference: string): number | null {
  if (!reference.startsWith("timestamp=")) return null;
  const time = Date.parse(reference.slice("timestamp=".length));
  return Number.isNaN(time) ? null : time;
}

/** The requested number of messages, up to the limit; 0 requests the limit. */
function parseLimit(text = ""): number | null {
  if (!/^[0-9]{1,9}$/.test(text)) return null;
  return Math.min(Number(text) || HISTORY_MESSAGES, HISTORY_MESSAGES);
}

function refuseFew({ command, reply }: CommandCall, subcommand: string): void {
  reply.fail(command, "NEED_MORE_PARAMS", [subcommand], "Not enough parameters");
}

function refuseLimit({ command, reply }: CommandCall, subcommand: string): void {
  reply.fail(command, "INVALID_PARAMS", [subcommand], "The limit is not a number");
}
