import type { CommandCall } from "../command.ts";
import { addressParameter } from "../protocol/addresses.ts";
import {
  ERR_NONICKNAMEGIVEN,
  ERR_WASNOSUCHNICK,
  RPL_ENDOFWHOWAS,
  RPL_WHOISACTUALLY,
  RPL_WHOISSERVER,
  RPL_WHOWASUSER,
} from "../protocol/numerics.ts";

/** Most users in the answer to one WHOWAS. */
const ANSWERS = 20;

/** WHOWAS nick [count]: earlier users of the nick, the last one first. */
export function whowas({ state, client, params, reply }: CommandCall): void {
  const nick = params[0] ?? "";
  if (nick === "") return reply.numeric(ERR_NONICKNAMEGIVEN);
  const count = Number.parseInt(params[1] ?? "", 10);
  const users = state.formerUsers.find(nick, count > 0 ? Math.min(count, ANSWERS) : ANSWERS);
  if (users.length === 0) reply.numeric(ERR_WASNOSUCHNICK, nick);
  for (const { nick, user, host, realname, address, leftAt } of users) {
    reply.numericText(RPL_WHOWASUSER, [nick, user, host, "*"], realname);
    if (client.isOperator) reply.numeric(RPL_WHOISACTUALLY, nick, addressParameter(address));
    const left = new Date(leftAt).toISOString();
    reply.numericText(RPL_WHOISSERVER, [nick, state.serverName], left);
  }
  reply.numeric(RPL_ENDOFWHOWAS, nick);
}
