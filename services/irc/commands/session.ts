import type { CommandCall } from "../command.ts";
import { truncate } from "../protocol/text.ts";

/** PING token: PONG with the token, at once. */
export function ping({ state, params, reply }: CommandCall): void {
  reply.command("PONG", [state.serverName], params[0]);
}

/** PONG needs no handling: any received line shows that the client is alive. */
export function pong(): void {}

/** QUIT [reason]. The reason is marked, so that a client cannot pretend to have been killed. */
export function quit({ state, client, params }: CommandCall): void {
  const reason = truncate(params[0] ?? "", state.limits.reasonBytes);
  state.disconnect(client, reason === "" ? "Client quit" : `Quit: ${reason}`);
}
