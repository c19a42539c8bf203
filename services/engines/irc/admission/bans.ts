/** Bans from the server (K-lines), and how they disconnect clients. */
import type { Ban, Bans, BanSubject } from "../options.ts";
import { ERR_YOUREBANNEDCREEP } from "../protocol/numerics.ts";
import type { ServerState } from "../state.ts";
import type { Client } from "../members.ts";

/**
 * Disconnects a client if it is banned, and returns whether it was. Users of this process and
 * clients above all modes are exempt.
 *
 * @param nick the nick that it has or is about to take
 * @param bans those to check; by default all
 */
export function enforceBan(
  state: ServerState,
  client: Client,
  nick = client.nick,
  bans: Pick<Bans, "find"> | undefined = state.options.bans,
): boolean {
  const isExempt = client.privileged || client.transport.internal || client.quitReason !== null;
  if (!bans || isExempt) return false;
  const ban = bans.find(banSubject(client, nick));
  if (ban === null) return false;
  state.counters.banHits++;
  const content = { params: [client.nick], text: banText(ban) };
  client.send(state.messageFromServer(ERR_YOUREBANNEDCREEP.code, content));
  state.disconnect(client, "Banned from this server", true);
  return true;
}

/** The properties of a client, under this nick, that server bans match. */
export function banSubject(client: Client, nick = client.nick): BanSubject {
  const { transport: { address }, user, host, cloak, account } = client;
  const masks = Array.from(new Set([host, cloak, address]), (name) => `${nick}!${user}@${name}`);
  return { masks, address, account };
}

/** The text for a banned client. */
export function banText({ reason }: Ban): string {
  return reason === "" ? "You are banned from this server" : `You are banned: ${reason}`;
}

/** Milliseconds of each unit that a length of time can be given in. */
const UNITS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Longest time that can be given: ten years. */
const LONGEST = 3650 * 86_400_000;

/**
 * Reads a length of time such as `90m` or `1d12h`, in seconds (`s`), minutes, hours, days and weeks.
 *
 * @returns milliseconds, or null if the text is none or longer than ten years
 */
export function parseDuration(text: string): number | null {
  if (!/^(?:\d{1,9}[smhdw])+$/.test(text)) return null;
  let milliseconds = 0;
  for (const [, count, unit] of text.matchAll(/(\d{1,9})([smhdw])/g)) {
    milliseconds += Number(count) * (UNITS[unit as string] as number);
  }
  return milliseconds > 0 && milliseconds <= LONGEST ? milliseconds : null;
}
