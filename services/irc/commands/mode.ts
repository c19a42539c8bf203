import type { CommandCall } from "../command.ts";
import {
  formatModes,
  formatUserModes,
  type ModeChange,
  parseUserModes,
  USER_MODES,
} from "../channels/modes.ts";
import { looksLikeChannel } from "../protocol/names.ts";
import {
  ERR_NOSUCHNICK,
  ERR_UMODEUNKNOWNFLAG,
  ERR_USERSDONTMATCH,
  RPL_UMODEIS,
} from "../protocol/numerics.ts";
import { channelMode } from "./channel_mode.ts";

/** MODE target [changes [parameters]]. Without changes, shows the modes. */
export function mode(call: CommandCall): void | Promise<void> {
  if (looksLikeChannel(call.params[0] ?? "")) return channelMode(call);
  userMode(call);
}

function userMode({ state, client, params, reply }: CommandCall): void {
  const nick = params[0] ?? "";
  const target = state.findClient(nick);
  if (!target) return reply.numeric(ERR_NOSUCHNICK, nick);
  if (target !== client) return reply.numeric(ERR_USERSDONTMATCH);
  if (params[1] === undefined) return reply.numeric(RPL_UMODEIS, formatUserModes(client.modes));

  const made: ModeChange[] = [];
  let unknown = false;
  for (const { add, letter } of parseUserModes(params[1])) {
    const definition = USER_MODES.get(letter);
    if (!definition) {
      unknown = true;
    } else if ((definition.settable || !add) && client.hasMode(definition.bit) !== add) {
      client.modes ^= definition.bit;
      made.push({ add, letter, param: null });
    }
  }
  if (unknown) reply.numeric(ERR_UMODEUNKNOWNFLAG);
  if (made.length === 0) return;
  const modes = formatModes(made);
  reply.message(state.messageFrom(client, "MODE", { params: [client.nick, ...modes] }));
}
