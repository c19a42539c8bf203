/** MARKREAD (IRCv3 "read-marker"). */

import { Cap } from "../protocol/capabilities.ts";
import type { Client } from "../client.ts";
import type { CommandCall } from "../command.ts";
import { isChannelName, isNick } from "../protocol/names.ts";
import type { ServerState } from "../state.ts";

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
  const message = state.messageFromServer(command, { params: [name, format(marker)] });
  for (const session of otherSessions(state, client)) session.send(message);
}

function otherSessions(state: ServerState, client: Client): Client[] {
  if (client.account === null) return [];
  return state.sessionsOf(client.account).filter((session) => {
    return session !== client && session.registered && session.hasCapability(Cap.READ_MARKER);
  });
}

function format(time: number | null): string {
  return time === null ? "*" : `timestamp=${new Date(time).toISOString()}`;
}
