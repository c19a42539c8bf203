import type { CommandCall } from "../command.ts";
import { UserMode } from "../channels/modes.ts";
import {
  ERR_CANTKILLSERVER,
  ERR_NOSUCHNICK,
  ERR_PASSWDMISMATCH,
  RPL_YOUREOPER,
} from "../protocol/numerics.ts";
import { truncate } from "../protocol/text.ts";

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
