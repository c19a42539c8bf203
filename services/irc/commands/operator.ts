import type { CommandCall } from "../command.ts";
import { UserMode } from "../modes.ts";
import { ERR_PASSWDMISMATCH, RPL_YOUREOPER } from "../numerics.ts";

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
  reply.numeric(RPL_YOUREOPER);
  reply.message(state.messageFrom(client, "MODE", { params: [client.nick, "+o"] }));
  const event = { actor: client.actor, operator: result.account };
  state.observe((observer) => observer.operatorGranted?.(event));
}
