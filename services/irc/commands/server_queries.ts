/** Queries about the server, beside LUSERS, MOTD, TIME and VERSION. */

import type { CommandCall } from "../command.ts";
import type { Ban } from "../admission/bans.ts";
import { DEFAULT_VERSION } from "../admission/greeting.ts";
import { addressParameter } from "../protocol/addresses.ts";
import {
  ERR_NOADMININFO,
  ERR_NOPRIVILEGES,
  RPL_ENDOFINFO,
  RPL_ENDOFLINKS,
  RPL_ENDOFSTATS,
  RPL_INFO,
  RPL_LINKS,
  RPL_STATSKLINE,
  RPL_STATSUPTIME,
} from "../protocol/numerics.ts";

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
