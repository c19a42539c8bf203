import { amount } from "../amount.ts";

/** How often a bot that moderates has acted. */
export function measuresOf(
  { warn, mute, kick }: { readonly warn: number; readonly mute: number; readonly kick: number },
): string {
  return `${amount(warn, "warning")}, ${amount(mute, "mute")}, ${amount(kick, "kick")}`;
}

/** The answer to a command that lacks its channel, or names none. */
export const NO_CHANNEL = "Name a channel, such as #general";
