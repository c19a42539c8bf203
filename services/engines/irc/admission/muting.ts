/**
 * Muted accounts. {@link unmuted} checks every command before it runs. Commands without a rule for
 * muted accounts are refused.
 */

import { looksLikeChannel } from "../protocol/names.ts";
import { STATUSES } from "../channels/modes.ts";
import type { CommandCall, CommandDefinition } from "../command.ts";
import { ERR_CANNOTSENDTOCHAN, ERR_CANNOTSENDTOUSER } from "../protocol/numerics.ts";
import type { ServerState } from "../state.ts";
import type { Client } from "../members.ts";

/** The reason why the client is muted everywhere; null if it is not. */
export function muteReason(state: ServerState, client: Client): string | null {
  if (client.account === null || client.privileged) return null;
  return state.options.accounts.muteReason?.(client.account) ?? null;
}

/**
 * The call that may run: unchanged, or for a muted account without the parts that others would see.
 * Null if nothing may run; then the client receives the reason.
 */
export function unmuted({ whileMuted }: CommandDefinition, call: CommandCall): CommandCall | null {
  if (whileMuted === "all") return call;
  const reason = muteReason(call.state, call.client);
  if (reason === null) return call;
  const params = whileMuted?.(call, reason) ?? null;
  if (params !== null) return { ...call, params };
  refuseMuted(call, reason);
  return null;
}

/** Tells the client why its messages do not arrive; for messages, one reply per target. */
export function refuseMuted({ command, params, reply }: CommandCall, reason: string): void {
  if (!MESSAGES.has(command)) return reply.fail(command, "MUTED", [], reason);
  for (const target of (params[0] ?? "").split(",")) {
    if (target === "") continue;
    if (command === "NOTICE") reply.fail(command, "MUTED", [target], reason);
    else reply.numericText(numericFor(target), [target], reason);
  }
}

/**
 * Removes what a muted client said about itself before it logged in: its nick becomes the account's
 * name, and its user name, real name, away text and metadata are cleared.
 */
export function hush(state: ServerState, client: Client): void {
  if (client.registration === null || client.account === null) return;
  if (muteReason(state, client) === null) return;
  client.registration.nick = client.account;
  client.registration.user = "~user";
  client.registration.realname = client.account;
  client.away = null;
  state.metadata.clear(client);
}

const MESSAGES: ReadonlySet<string> = new Set(["PRIVMSG", "NOTICE", "TAGMSG"]);

function numericFor(target: string) {
  const status = STATUSES.some(({ prefix }) => target.startsWith(prefix));
  const isChannel = looksLikeChannel(status ? target.slice(1) : target);
  return isChannel ? ERR_CANNOTSENDTOCHAN : ERR_CANNOTSENDTOUSER;
}
