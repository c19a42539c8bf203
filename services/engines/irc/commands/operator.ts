import { banSubject, parseDuration } from "../admission/bans.ts";
import { UserMode } from "../channels/modes.ts";
import { statusModes } from "../channels/status.ts";
import type { CommandCall } from "../command.ts";
import { Cap } from "../protocol/capabilities.ts";
import {
  ERR_CANTKILLSERVER,
  ERR_NOSUCHNICK,
  ERR_PASSWDMISMATCH,
  ERR_UNKNOWNCOMMAND,
  ERR_UNKNOWNERROR,
  RPL_VISIBLEHOST,
  RPL_YOUREOPER,
} from "../protocol/numerics.ts";
import { truncate } from "../protocol/text.ts";
import { Reply } from "../reply.ts";
import type { ServerState } from "../state.ts";
import { joinMessages } from "./membership.ts";
import type { Channel, Client } from "../members.ts";

/** OPER name password. */
export async function oper({ state, client, params, reply }: CommandCall): Promise<void> {
  const [name = "", password = ""] = params;
  const { address } = client.transport;
  const result = await state.options.accounts.verifyOperator(name, password, address);
  if (client.quitReason !== null) return;
  if (result.kind !== "accepted") {
    const text = result.kind === "throttled"
      ? `Too many attempts, try again in ${result.retryAfterSeconds} seconds`
      : result.kind === "unavailable"
      ? "Logins are not possible at the moment"
      : "Password incorrect";
    return reply.numericText(ERR_PASSWDMISMATCH, [], text);
  }
  client.modes |= UserMode.OPERATOR;
  client.operatorName = result.account;
  reply.numeric(RPL_YOUREOPER);
  reply.message(state.messageFrom(client, "MODE", { params: [client.nick, "+o"] }));
  const event = { actor: client.actor, operator: result.account };
  state.observe((observer) => observer.operatorGranted?.(event));
}

/** KILL nick [reason]: ends a user's connection. Users of this program cannot be killed. */
export function kill({ state, client, params, reply }: CommandCall): void {
  const nick = params[0] ?? "";
  const target = state.findClient(nick);
  if (!target) return reply.numeric(ERR_NOSUCHNICK, nick);
  if (target.transport.internal) return reply.numeric(ERR_CANTKILLSERVER);
  const reason = truncate(params[1] || "No reason given", state.limits.reasonBytes);
  const event = { actor: client.actor, target: target.actor, reason };
  state.observe((observer) => observer.killed?.(event));
  state.log.info("IRC client killed", { nick: target.nick, operator: client.nick, reason });
  target.send(state.messageFrom(client, "KILL", { params: [target.nick], text: reason }));
  state.disconnect(target, `Killed (${client.nick} (${reason}))`, true);
}

/** WALLOPS :text, to every user with mode `w`. */
export function wallops({ state, client, params, reply }: CommandCall): void {
  const message = state.messageFrom(client, "WALLOPS", { params: [], text: params[0] ?? "" });
  for (const user of state.clients) {
    if (!user.registered || !user.hasMode(UserMode.WALLOPS)) continue;
    if (user === client) reply.message(message);
    else user.send(message);
  }
}

/** KLINE and UNKLINE: bans from the server, for IRC operators. */

const MINUTE = 60_000;

/** KLINE [minutes|time] mask [:reason]. A time has the form `1d12h`. */
export async function kline(call: CommandCall): Promise<void> {
  const { state, client, params, command, reply } = call;
  const { bans } = state.options;
  if (!bans) return reply.numeric(ERR_UNKNOWNCOMMAND, command);
  const duration = params.length > 1 ? durationOf(params[0] ?? "") : null;
  const [mask = "", text = ""] = duration === null ? params : params.slice(1);
  const reason = truncate(text, state.limits.reasonBytes);
  const wish = { mask, reason, duration, spares: banSubject(client) };
  const refusal = await bans.add(wish, client.actor);
  if (client.quitReason !== null) return;
  if (refusal !== null) return reply.fail(command, "INVALID_MASK", [mask || "*"], refusal);
  const { serverName } = state;
  const end = duration === null ? "" : `, for ${Math.ceil(duration / MINUTE)} minutes`;
  reply.command("NOTICE", [client.nick], `${mask} is banned from ${serverName}${end}`);
}

/** UNKLINE mask. */
export async function unkline(call: CommandCall): Promise<void> {
  const { state, client, params, command, reply } = call;
  const { bans } = state.options;
  if (!bans) return reply.numeric(ERR_UNKNOWNCOMMAND, command);
  const mask = params[0] ?? "";
  const refusal = await bans.remove(mask, client.actor);
  if (client.quitReason !== null) return;
  if (refusal !== null) return reply.fail(command, "INVALID_MASK", [mask || "*"], refusal);
  reply.command("NOTICE", [client.nick], `${mask} is banned no longer`);
}

/** A bare number means minutes, as on other servers. */
function durationOf(text: string): number | null {
  return parseDuration(/^\d{1,7}$/.test(text) ? `${text}m` : text);
}

/** CHGHOST: changes a user's host and announces it (IRCv3 chghost). */

/** A host that is valid in a mask: names with dots, and paths such as `project/alice`. */
const HOST = /^(?=.{1,63}$)[A-Za-z0-9]+(?:[./-][A-Za-z0-9]+)*$/;

/**
 * CHGHOST nick host, by an IRC operator. `*` restores the cloak of the address. Bans on cloak and
 * address apply in any case.
 */
export function chghost(call: CommandCall): void {
  const { state, client, command, params: [nick = "", asked = ""], reply } = call;
  const target = state.findClient(nick);
  if (!target) return reply.numeric(ERR_NOSUCHNICK, nick);
  if (target.transport.internal) return reply.numeric(ERR_CANTKILLSERVER);
  const host = asked === "*" ? target.cloak : asked;
  if (asked !== "*" && !HOST.test(host)) {
    return reply.numericText(ERR_UNKNOWNERROR, [command], "This is no host");
  }
  if (host !== target.host) {
    state.log.info("IRC host changed", { nick: target.nick, operator: client.nick, host });
    changeHost(state, target, host);
    const event = { actor: client.actor, target: target.actor, host };
    state.observe((observer) => observer.hostChanged?.(event));
  }
  const targetReply = target === client ? reply : new Reply(state, target, null);
  targetReply.numeric(RPL_VISIBLEHOST, host);
}

function changeHost(state: ServerState, client: Client, host: string): void {
  const change = state.messageFrom(client, "CHGHOST", { params: [client.user, host] });
  const quit = state.messageFrom(client, "QUIT", { params: [], text: "Changing host" });
  client.host = host;
  state.tellFollowers(client, Cap.CHGHOST, change);
  if (client.hasCapability(Cap.CHGHOST)) client.send(change);
  const unaware = state.neighboursOf(client);
  for (const neighbour of unaware) {
    if (neighbour.hasCapability(Cap.CHGHOST)) unaware.delete(neighbour);
    else neighbour.send(quit);
  }
  for (const channel of client.channels) showAgain(state, client, channel, unaware);
}

/** Shows the client leaving and rejoining a channel to members without CHGHOST. */
function showAgain(
  state: ServerState,
  client: Client,
  channel: Channel,
  unaware: ReadonlySet<Client>,
): void {
  const { plain, extended } = joinMessages(state, client, channel);
  const status = channel.statusOf(client);
  const params = [channel.name, ...statusModes(status, client.nick)];
  const mode = status === 0 ? null : state.messageFromServer("MODE", { params });
  const away = client.away === null
    ? null
    : state.messageFrom(client, "AWAY", { params: [], text: client.away });
  for (const member of channel.listeners) {
    if (!unaware.has(member)) continue;
    member.send(member.hasCapability(Cap.EXTENDED_JOIN) ? extended : plain);
    if (mode) member.send(mode);
    if (away && member.hasCapability(Cap.AWAY_NOTIFY)) member.send(away);
  }
}
