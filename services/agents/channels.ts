import { foldName } from "../identity/mod.ts";

const MAX_LENGTH = 80;

/**
 * Brings the name of a channel, given with or without its `#`, to the form with it.
 *
 * @returns null where it is no valid name: 2 to 80 characters with the `#`, none of them a space, a
 *   comma or a control character
 */
export function channelName(text: string): string | null {
  const name = text.startsWith("#") ? text : `#${text}`;
  return name.length <= MAX_LENGTH && /^#[^\s,\p{Cc}\p{Cs}]+$/u.test(name) ? name : null;
}

/** Drops channels that are named twice, under whatever case; the first one stays. */
export function uniqueChannels(channels: readonly string[]): string[] {
  const byFolded = new Map<string, string>();
  for (const channel of channels) {
    const folded = foldName(channel);
    if (!byFolded.has(folded)) byFolded.set(folded, channel);
  }
  return [...byFolded.values()];
}
