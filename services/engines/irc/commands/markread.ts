/** MARKREAD (IRCv3 "read-marker"). */

import { Cap } from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import { isChannelName, isNick } from "../protocol/names.ts";
import type { ServerState } from "../state.ts";
import type { Client } from "../members.ts";

/** A time as `server-time` writes it. */
const TIMESTAMP = /^timestamp=(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)$/;

/**
 * MARKREAD target [timestamp=time]: sets or shows how far the user has read. A marker only moves
 * forward, and never beyond the present. Every session of the account is notified.
 */
export function markread(call: CommandCall): void | Promise<void> {
  const { state, params, command, reply } = call;
  const [target, timestamp] = params;
  if (target === undefined) {
    return reply.fail(command, "NEED_MORE_PARAMS", [], "Not enough parameters");
  }
  if (!isChannelName(target) && !isNick(target)) {
    return reply.fail(command, "INVALID_PARAMS", [target], "This is neither a channel nor a nick");
  }
  const name = state.findChannel(target)?.name ?? state.findClient(target)?.nick ?? target;
  if (timestamp === undefined) return sendMarker(call, name);
  const time = Date.parse(TIMESTAMP.exec(timestamp)?.[1] ?? "");
  if (Number.isNaN(time)) {
    const text = "The time has the form timestamp=YYYY-MM-DDThh:mm:ss.sssZ";
    return reply.fail(command, "INVALID_PARAMS", [target, timestamp], text);
  }
  return advance(call, name, Math.min(time, state.now()));
}

/** Tells a client how far its user has read; `*` if that is not known. */
export function sendMarker({ state, client, reply }: CommandCall, name: string): void {
  reply.command("MARKREAD", [name, format(state.readMarkers.read(client, name))]);
}

async function advance(call: CommandCall, name: string, time: number): Promise<void> {
  const { state, client, command, reply } = call;
  if (time <= (state.readMarkers.read(client, name) ?? -Infinity)) return sendMarker(call, name);
  let marker: number;
  try {
    marker = await state.readMarkers.advance(client, name, time);
  } catch (error) {
    state.log.error("A read marker could not be stored", { account: client.account, error });
    return reply.fail(command, "INTERNAL_ERROR", [name], "The marker could not be stored");
  }
  if (client.quitReason !== null) return;
  reply.command(command, [name, format(marker)]);
  if (client.account !== null) tellSessions(state, client.account, name, marker, client);
}

/**
 * Moves the marker of an account for the embedding program, as MARKREAD does for a client. Rejects
 * if it cannot be stored.
 *
 * @param time Unix milliseconds
 * @returns where the marker is afterwards
 */
export async function markReadFor(
  state: ServerState,
  account: string,
  target: string,
  time: number,
): Promise<number> {
  const name = state.findChannel(target)?.name ?? state.findClient(target)?.nick ?? target;
  const wanted = Math.min(time, state.now());
  const before = state.readMarkers.readOf(account, name);
  if (before !== null && wanted <= before) return before;
  const marker = await state.readMarkers.advanceOf(account, name, wanted);
  tellSessions(state, account, name, marker, null);
  return marker;
}

/** Tells the sessions of an account where a marker is, except the one that knows it. */
function tellSessions(
  state: ServerState,
  account: string,
  name: string,
  marker: number,
  knowing: Client | null,
): void {
  const message = state.messageFromServer("MARKREAD", { params: [name, format(marker)] });
  for (const session of state.sessionsOf(account)) {
    if (session === knowing || !session.registered) continue;
    if (session.hasCapability(Cap.READ_MARKER)) session.send(message);
  }
}

function format(time: number | null): string {
  return time === null ? "*" : `timestamp=${new Date(time).toISOString()}`;
}
