/** CHATHISTORY of the IRCv3 document "chathistory", over what the server keeps. */

import { Cap } from "../capabilities.ts";
import type { Client } from "../client.ts";
import type { CommandCall } from "../command.ts";
import type { HistoryEntry } from "../history.ts";
import { HISTORY_MESSAGES } from "../isupport.ts";
import { looksLikeChannel } from "../names.ts";
import type { Outbound } from "../outbound.ts";
import type { ServerState } from "../state.ts";

/** The part of a log that lies before a reference, and the one after it. */
interface Position {
  /** Entries before it are these many. */
  readonly before: number;
  /** The first entry after it. */
  readonly after: number;
}

/** What a subcommand takes out of a log, given its references. */
interface Selection {
  readonly references: number;
  /** Whether `*` may stand in place of a reference, for none. */
  readonly open?: boolean;
  select(length: number, limit: number, positions: readonly Position[]): [from: number, to: number];
}

const SELECTIONS: ReadonlyMap<string, Selection> = new Map<string, Selection>([
  ["LATEST", {
    references: 1,
    open: true,
    select: (length, limit, [since]) => [Math.max(since?.after ?? 0, length - limit), length],
  }],
  ["BEFORE", {
    references: 1,
    select: (length, limit, [{ before } = endOf(length)]) => [Math.max(0, before - limit), before],
  }],
  ["AFTER", {
    references: 1,
    select: (length, limit, [{ after } = endOf(length)]) => [after, after + limit],
  }],
  ["AROUND", {
    references: 1,
    select(length, limit, [{ before } = endOf(length)]) {
      const from = Math.max(0, before - Math.floor(limit / 2));
      return [from, from + limit];
    },
  }],
  ["BETWEEN", {
    references: 2,
    select(length, limit, [first = endOf(length), second = endOf(length)]) {
      if (first.before <= second.before) {
        return [first.after, Math.min(first.after + limit, second.before)];
      }
      return [Math.max(second.after, first.before - limit), first.before];
    },
  }],
]);

/**
 * CHATHISTORY LATEST|BEFORE|AFTER|AROUND|BETWEEN target reference{ reference} limit, or
 * CHATHISTORY TARGETS timestamp timestamp limit. A reference is `msgid=` or `timestamp=`.
 */
export function chathistory(call: CommandCall): void | Promise<void> {
  const subcommand = (call.params[0] ?? "").toUpperCase();
  if (subcommand === "TARGETS") return sendTargets(call);
  const selection = SELECTIONS.get(subcommand);
  if (selection) return sendMessages(call, subcommand, selection);
  call.reply.fail("CHATHISTORY", "INVALID_PARAMS", [subcommand || "*"], "Unknown subcommand");
}

function sendMessages(
  call: CommandCall,
  subcommand: string,
  { references, open = false, select }: Selection,
): void | Promise<void> {
  const { state, client, params, reply } = call;
  if (params.length < 3 + references) return refuseFew(call, subcommand);
  const target = params[1] ?? "";
  const log = readable(state, client, target);
  if (log === null) {
    return reply.fail(call.command, "INVALID_TARGET", [subcommand, target], "No such history");
  }
  const limit = parseLimit(params[2 + references]);
  if (limit === null) return refuseLimit(call, subcommand);

  const entries = shownTo(client, log);
  const positions: Position[] = [];
  for (const reference of params.slice(2, 2 + references)) {
    if (open && reference === "*") continue;
    const position = locate(log, entries, reference);
    if (position === "malformed") {
      const text = "References are msgid= or timestamp=";
      return reply.fail(call.command, "INVALID_MSGREFTYPE", [subcommand, reference], text);
    }
    if (position === null) return reply.batch("chathistory", [target], []);
    positions.push(position);
  }
  const [from, to] = select(entries.length, limit, positions);
  const extended = client.hasCapability(Cap.EXTENDED_JOIN);
  const messages = entries.slice(from, to)
    .map((entry) => extended ? entry.extended ?? entry.message : entry.message);
  return reply.batch("chathistory", [target], messages);
}

/** What of a log a client is shown: messages, and with `draft/event-playback` the events it knows. */
function shownTo(client: Client, log: readonly HistoryEntry[]): readonly HistoryEntry[] {
  if (!client.hasCapability(Cap.EVENT_PLAYBACK)) return log.filter(({ isMessage }) => isMessage);
  const redactions = client.hasCapability(Cap.MESSAGE_REDACTION);
  return log.filter(({ isRedacted, message }) => {
    return !isRedacted && (redactions || message.command !== "REDACT");
  });
}

/** Channels and users with their last message between two times, the oldest first. */
function sendTargets(call: CommandCall): void | Promise<void> {
  const { state, client, command, params, reply } = call;
  if (params.length < 4) return refuseFew(call, "TARGETS");
  const [first, second] = [parseTime(params[1] ?? ""), parseTime(params[2] ?? "")];
  if (first === null || second === null) {
    return reply.fail(command, "INVALID_PARAMS", ["TARGETS"], "Targets lie between two timestamps");
  }
  const limit = parseLimit(params[3]);
  if (limit === null) return refuseLimit(call, "TARGETS");

  const [from, to] = [Math.min(first, second), Math.max(first, second)];
  const targets = lastMessages(state, client)
    .filter(({ time }) => time > from && time < to)
    .sort((left, right) => left.time - right.time);
  const shown = first <= second ? targets.slice(0, limit) : targets.slice(-limit);
  const lines = shown.map(({ name, text }): Outbound => {
    return state.messageFromServer(command, { params: ["TARGETS", name, text] });
  });
  return reply.batch("draft/chathistory-targets", [], lines);
}

interface LastMessage {
  readonly name: string;
  readonly time: number;
  /** The time as its receivers got it. */
  readonly text: string;
}

function lastMessages({ history }: ServerState, client: Client): LastMessage[] {
  const logs = [
    ...client.channels.map((channel) => ({
      name: channel.name,
      entries: history.ofChannel(channel),
    })),
    ...history.correspondentsOf(client).map(({ nick, entries }) => ({ name: nick, entries })),
  ];
  return logs.flatMap(({ name, entries }) => {
    const last = entries.findLast(({ isMessage }) => isMessage);
    return last ? [{ name, time: last.time, text: last.message.tags.time }] : [];
  });
}

/** The log of a target; null where the client may not read it. */
function readable(
  state: ServerState,
  client: Client,
  target: string,
): readonly HistoryEntry[] | null {
  if (!looksLikeChannel(target)) return state.history.between(client, target);
  const channel = state.findChannel(target);
  if (!channel || (!client.privileged && !channel.members.has(client))) return null;
  return state.history.ofChannel(channel);
}

/**
 * Where a reference lies among the entries. A message that the client is not shown has its place
 * there too; null is for one that is not kept.
 */
function locate(
  log: readonly HistoryEntry[],
  entries: readonly HistoryEntry[],
  reference: string,
): Position | "malformed" | null {
  if (reference.startsWith("msgid=")) {
    const id = reference.slice("msgid=".length);
    const index = log.findIndex((entry) => entry.id === id);
    if (index === -1) return null;
    const shown = shownBefore(log, entries, index);
    return { before: shown, after: entries[shown]?.id === id ? shown + 1 : shown };
  }
  const time = parseTime(reference);
  if (time === null) return "malformed";
  const before = entries.findIndex((entry) => entry.time >= time);
  const after = entries.findIndex((entry) => entry.time > time);
  const { length } = entries;
  return { before: before === -1 ? length : before, after: after === -1 ? length : after };
}

/** How many of the entries that are shown lie before a place in the log, of which they are a part. */
function shownBefore(
  log: readonly HistoryEntry[],
  entries: readonly HistoryEntry[],
  index: number,
): number {
  let shown = 0;
  for (let position = 0; position < index; position++) {
    if (entries[shown] === log[position]) shown++;
  }
  return shown;
}

function endOf(length: number): Position {
  return { before: length, after: length };
}

/** Unix time in milliseconds of `timestamp=`, or null. */
function parseTime(reference: string): number | null {
  if (!reference.startsWith("timestamp=")) return null;
  const time = Date.parse(reference.slice("timestamp=".length));
  return Number.isNaN(time) ? null : time;
}

/** How many messages are asked for, at most what may be; 0 asks for as many as may be. */
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
