/** CHGHOST: changes a user's host and announces it (IRCv3 chghost). */

import { Cap } from "../protocol/capabilities.ts";
import type { Channel } from "../channels/channel.ts";
import type { Client } from "../client.ts";
import type { CommandCall } from "../command.ts";
import {
  ERR_CANTKILLSERVER,
  ERR_NOSUCHNICK,
  ERR_UNKNOWNERROR,
  RPL_VISIBLEHOST,
} from "../protocol/numerics.ts";
import { Reply } from "../reply.ts";
import type { ServerState } from "../state.ts";
import { statusModes } from "../channels/status.ts";
import { joinMessages } from "./membership.ts";

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
