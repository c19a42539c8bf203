import type { CommandCall } from "../command.ts";

/** PING token: PONG with the token, at once. */
export function ping({ state, params, reply }: CommandCall): void {
  reply.command("PONG", [state.serverName], params[0]);
}

/** PONG: that anything came is enough. */
export function pong(): void {}

/** QUIT [reason]. The reason is marked, so that nobody can pretend to have been killed. */
export function quit({ state, client, params }: CommandCall): void {
  state.disconnect(client, params[0] ? `Quit: ${params[0]}` : "Client quit");
}
