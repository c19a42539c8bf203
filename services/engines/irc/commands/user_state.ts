import { Cap } from "../protocol/capabilities.ts";
import type { CommandCall } from "../command.ts";
import { REALNAME_LENGTH } from "../protocol/names.ts";
import { ERR_NOTREGISTERED, RPL_NOWAWAY, RPL_UNAWAY } from "../protocol/numerics.ts";
import type { MessageContent, ServerState } from "../state.ts";
import { truncate } from "../protocol/text.ts";
import type { Client } from "../members.ts";

/**
 * AWAY [reason]. Without a reason, or with an empty one, the user is back. The reason `*` marks the
 * user as away without a text. With `draft/pre-away`, it may precede registration.
 */
export function away({ state, client, params, reply }: CommandCall): void {
  if (!client.registered && !client.hasCapability(Cap.PRE_AWAY)) {
    return reply.numeric(ERR_NOTREGISTERED);
  }
  const reason = truncate(params[0] ?? "", state.limits.awayBytes) || null;
  reply.numeric(reason === null ? RPL_UNAWAY : RPL_NOWAWAY);
  markAway(state, client, reason);
}

/** Marks a client as away with a reason, or with null as back, and tells those who see it. */
export function markAway(state: ServerState, client: Client, reason: string | null): void {
  if (reason === client.away) return;
  client.away = reason;
  const content: MessageContent = reason === null ? { params: [] } : { params: [], text: reason };
  const message = state.messageFrom(client, "AWAY", content);
  state.tellFollowers(client, Cap.AWAY_NOTIFY, message);
}

/** SETNAME :real name (IRCv3 setname). */
export function setname({ state, client, command, params, reply }: CommandCall): void {
  const name = params[0] ?? "";
  if (name === "" || name.length > REALNAME_LENGTH) {
    return reply.fail(command, "INVALID_REALNAME", [], "The real name is empty or too long");
  }
  client.realname = name;
  const message = state.messageFrom(client, "SETNAME", { params: [], text: name });
  state.tellFollowers(client, Cap.SETNAME, message);
  reply.message(message);
}
