import type { Client } from "../client.ts";
import type { CommandCall } from "../command.ts";
import { DEFAULT_VERSION, sendIsupport, sendLusers, sendMotd } from "../admission/greeting.ts";
import { foldCase } from "../protocol/names.ts";
import {
  ERR_NOSUCHSERVER,
  RPL_ISON,
  RPL_TIME,
  RPL_USERHOST,
  RPL_VERSION,
} from "../protocol/numerics.ts";

/** Nicks that one USERHOST may name (RFC 1459). */
const USERHOST_NICKS = 5;

/** LUSERS. */
export function lusers(call: CommandCall): void {
  sendLusers(call);
}

/** MOTD [server]. */
export function motd(call: CommandCall): void {
  if (isAboutThisServer(call)) sendMotd(call);
}

/** VERSION [server]. */
export function version(call: CommandCall): void {
  if (!isAboutThisServer(call)) return;
  const { serverName, serverDescription, version: name = DEFAULT_VERSION } = call.state.options;
  call.reply.numericText(RPL_VERSION, [name, serverName], serverDescription);
  sendIsupport(call);
}

/** TIME [server]. */
export function time(call: CommandCall): void {
  if (!isAboutThisServer(call)) return;
  const { state, reply } = call;
  reply.numericText(RPL_TIME, [state.serverName], state.timestamp());
}

/** USERHOST nick{ nick}. */
export function userhost({ state, params, reply }: CommandCall): void {
  const entries: string[] = [];
  for (const nick of params.slice(0, USERHOST_NICKS)) {
    const user = state.findClient(nick);
    if (user) entries.push(userhostEntry(user));
  }
  reply.numericText(RPL_USERHOST, [], entries.join(" "));
}

/** ISON nick{ nick}. */
export function ison({ state, params, reply }: CommandCall): void {
  const users = new Set(params.join(" ").split(" ").map((nick) => state.findClient(nick)));
  const nicks = [...users].flatMap((user) => user?.nick ?? []);
  reply.numericText(RPL_ISON, [], nicks.join(" "));
}

function userhostEntry({ nick, user, host, isOperator, away }: Client): string {
  return `${nick}${isOperator ? "*" : ""}=${away === null ? "+" : "-"}${user}@${host}`;
}

/** Answers 402 to a question about another server; there is only this one. */
function isAboutThisServer({ state, client, params, reply }: CommandCall): boolean {
  const target = params[0];
  if (target === undefined || target === "*") return true;
  const names = [state.serverName, client.nick];
  if (names.some((name) => foldCase(name) === foldCase(target))) return true;
  if (state.findClient(target)) return true;
  reply.numeric(ERR_NOSUCHSERVER, target);
  return false;
}
