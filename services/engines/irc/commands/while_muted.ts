/** The parts of commands that a muted account may run, if neither nothing nor all. */

import { keptChannel } from "../channels/keeping.ts";
import { CHANNEL_MODES, parseChannelModes } from "../channels/modes.ts";
import type { CommandCall, MutedForm } from "../command.ts";
import { looksLikeChannel } from "../protocol/names.ts";
import { ERR_NOSUCHCHANNEL } from "../protocol/numerics.ts";

const READING: ReadonlySet<string> = new Set(["GET", "LIST", "SUB", "SUBS", "SYNC", "UNSUB"]);

/** Only the first parameters: others would read the rest. */
export function firstParameters(count: number): MutedForm {
  return ({ params }) => params.slice(0, count);
}

/** A command that is only a query if it has fewer parameters than this. */
export function fewerParameters(count: number): MutedForm {
  return ({ params }) => params.length < count ? params : null;
}

/** AWAY without a text. */
export function comingBack({ params }: CommandCall): readonly string[] | null {
  return (params[0] ?? "") === "" ? params : null;
}

/** METADATA that changes nothing. */
export function readingMetadata({ params }: CommandCall): readonly string[] | null {
  return READING.has((params[1] ?? "").toUpperCase()) ? params : null;
}

/** MODE that asks for modes and lists. */
export function readingModes({ params }: CommandCall): readonly string[] | null {
  if (params[1] === undefined) return params;
  if (!looksLikeChannel(params[0] ?? "")) return null;
  const changes = parseChannelModes(params.slice(1));
  const isReading = changes.every(({ letter, param }) =>
    CHANNEL_MODES.get(letter)?.kind === "list" && param === null
  );
  return isReading ? params : null;
}

/** NICK before registration, which checks it at the end, and back to the account's own nick. */
export function ownNick({ client, params }: CommandCall): readonly string[] | null {
  return !client.registered || params[0] === client.account ? params : null;
}

/** JOIN of existing channels. */
export function existingChannels(call: CommandCall, reason: string): readonly string[] {
  const { params, reply } = call;
  const names = (params[0] ?? "").split(",");
  const keys = (params[1] ?? "").split(",");
  const known = names.map((name) => name === "" || name === "0" || isNamed(call, name));
  for (const [index, name] of names.entries()) {
    if (!known[index]) reply.numericText(ERR_NOSUCHCHANNEL, [name], reason);
  }
  const kept = (list: readonly string[]) => list.filter((_, index) => known[index]).join(",");
  return [kept(names), kept(keys)];
}

function isNamed({ state }: CommandCall, name: string): boolean {
  return state.findChannel(name) !== undefined || keptChannel(state, name) !== undefined ||
    (state.options.accounts.ownsChannel?.(name) ?? false) || state.isClosed(name);
}
