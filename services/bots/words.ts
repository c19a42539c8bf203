/** A number with its noun: `1 task`, `2 tasks`. */
export function amount(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** How often a bot that moderates has acted. */
export function measuresOf(
  { warn, mute, kick }: { readonly warn: number; readonly mute: number; readonly kick: number },
): string {
  return `${amount(warn, "warning")}, ${amount(mute, "mute")}, ${amount(kick, "kick")}`;
}

/** The answer to a command that lacks its channel, or names none. */
export const NO_CHANNEL = "Name a channel, such as #general";
