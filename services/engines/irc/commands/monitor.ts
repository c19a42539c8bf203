/** MONITOR (IRCv3 "monitor"). */

import type { CommandCall } from "../command.ts";
import { sendCurrent } from "../metadata/notices.ts";
import { MONITORED_NICKS } from "../users/nicks.ts";
import { distinctNames, isNick } from "../protocol/names.ts";
import {
  ERR_MONLISTFULL,
  ERR_UNKNOWNERROR,
  type Numeric,
  RPL_ENDOFMONLIST,
  RPL_MONLIST,
  RPL_MONOFFLINE,
  RPL_MONONLINE,
} from "../protocol/numerics.ts";

/** Most characters of nicks or masks in one line, so that it fits a classic line. */
const LINE_LENGTH = 380;

/** MONITOR: `+` and `-` with nicks, `C` to clear, `L` to list, `S` to show who is online. */
export function monitor(call: CommandCall): void {
  const { state, client, command, params, reply } = call;
  const subcommand = (params[0] ?? "").toUpperCase();
  const nicks = distinctNames(params[1] ?? "").filter(isNick);
  switch (subcommand) {
    case "+":
      return add(call, nicks);
    case "-":
      return nicks.forEach((nick) => state.monitors.remove(client, nick));
    case "C":
      return state.monitors.clear(client);
    case "L":
      sendLines(call, RPL_MONLIST, state.monitors.nicksOf(client));
      return reply.numeric(RPL_ENDOFMONLIST);
    case "S":
      return sendPresence(call, state.monitors.nicksOf(client));
    default:
      reply.numericText(ERR_UNKNOWNERROR, [command], "Unknown subcommand");
  }
}

function add(call: CommandCall, nicks: readonly string[]): void {
  const { state, client, reply } = call;
  const refused = nicks.findIndex((nick) => !state.monitors.add(client, nick));
  const added = refused === -1 ? nicks : nicks.slice(0, refused);
  sendPresence(call, added);
  sendValues(call, added);
  if (refused === -1) return;
  reply.numeric(ERR_MONLISTFULL, String(MONITORED_NICKS), nicks.slice(refused).join(","));
}

/** Sends the subscribed metadata of the watched users who are online. */
function sendValues(call: CommandCall, nicks: readonly string[]): void {
  for (const nick of nicks) {
    const user = call.state.findClient(nick);
    if (user) sendCurrent(call, user.nick, [user]);
  }
}

function sendPresence(call: CommandCall, nicks: readonly string[]): void {
  const users = nicks.map((nick) => call.state.findClient(nick));
  sendLines(call, RPL_MONONLINE, users.flatMap((user) => user?.mask ?? []));
  sendLines(call, RPL_MONOFFLINE, nicks.filter((_, index) => users[index] === undefined));
}

function sendLines({ reply }: CommandCall, numeric: Numeric, entries: readonly string[]): void {
  let line = "";
  for (const entry of entries) {
    if (line !== "" && line.length + entry.length >= LINE_LENGTH) {
      reply.numericText(numeric, [], line);
      line = "";
    }
    line += line === "" ? entry : `,${entry}`;
  }
  if (line !== "") reply.numericText(numeric, [], line);
}
