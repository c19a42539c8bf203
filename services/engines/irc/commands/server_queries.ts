/** Queries about the server, beside LUSERS, MOTD, TIME and VERSION. */
import { DEFAULT_VERSION, sendIsupport, sendLusers, sendMotd } from "../admission/greeting.ts";
import type { CommandCall } from "../command.ts";
import { addressParameter } from "../protocol/addresses.ts";
import { foldCase } from "../protocol/names.ts";
import {
  ERR_NOADMININFO,
  ERR_NOPRIVILEGES,
  ERR_NOSUCHSERVER,
  RPL_ENDOFINFO,
  RPL_ENDOFLINKS,
  RPL_ENDOFSTATS,
  RPL_INFO,
  RPL_ISON,
  RPL_LINKS,
  RPL_STATSKLINE,
  RPL_STATSUPTIME,
  RPL_TIME,
  RPL_USERHOST,
  RPL_VERSION,
} from "../protocol/numerics.ts";
import type { Ban } from "../options.ts";
import type { Client } from "../members.ts";

const DAY_SECONDS = 86_400;

/** ADMIN refers to the message of the day for a contact. */
export function admin({ state, reply }: CommandCall): void {
  reply.numeric(ERR_NOADMININFO, state.serverName);
}

/** INFO. */
export function info({ state, reply }: CommandCall): void {
  const { serverName, serverDescription, version = DEFAULT_VERSION } = state.options;
  const started = new Date(state.startedAt).toISOString();
  for (const line of [`${serverName}: ${serverDescription}`, version, `Started at ${started}`]) {
    reply.numericText(RPL_INFO, [], line);
  }
  reply.numeric(RPL_ENDOFINFO);
}

/** LINKS lists only this server. */
export function links({ state, reply }: CommandCall): void {
  const { serverName, serverDescription } = state.options;
  reply.numericText(RPL_LINKS, [serverName, serverName], `0 ${serverDescription}`);
  reply.numeric(RPL_ENDOFLINKS, "*");
}

/**
 * STATS letter: `u` shows the uptime, `k` shows the bans to IRC operators. Other letters show nothing.
 */
export async function stats({ state, client, params, reply }: CommandCall): Promise<void> {
  const letter = params[0] || "*";
  if (letter.toLowerCase() === "k") {
    if (!client.isOperator) return reply.numeric(ERR_NOPRIVILEGES);
    for (const ban of state.options.bans?.all() ?? []) {
      const pause = reply.pause();
      if (pause) await pause;
      if (client.quitReason !== null) return;
      reply.numericText(RPL_STATSKLINE, ["K", addressParameter(ban.mask)], describeBan(ban));
    }
  } else if (letter.toLowerCase() === "u") {
    const seconds = Math.floor((state.now() - state.startedAt) / 1000);
    const clock = new Date((seconds % DAY_SECONDS) * 1000).toISOString().slice(11, 19);
    const text = `Server up ${Math.floor(seconds / DAY_SECONDS)} days ${clock}`;
    reply.numericText(RPL_STATSUPTIME, [], text);
  }
  reply.numeric(RPL_ENDOFSTATS, letter);
}

function describeBan({ reason, setBy, expiresAt }: Ban): string {
  const end = expiresAt === null ? "" : `, until ${new Date(expiresAt).toISOString()}`;
  return `${reason || "No reason given"} (by ${setBy}${end})`;
}

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
