/** KLINE and UNKLINE: bans from the server, for IRC operators. */

import { banSubject } from "../admission/bans.ts";
import type { CommandCall } from "../command.ts";
import { parseDuration } from "../protocol/duration.ts";
import { ERR_UNKNOWNCOMMAND } from "../protocol/numerics.ts";
import { truncate } from "../protocol/text.ts";

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
