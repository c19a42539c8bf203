import { foldCase } from "../irc/mod.ts";

/** Drops channels that are named twice, under whatever case; the first one stays. */
export function uniqueChannels(channels: readonly string[]): string[] {
  const byFolded = new Map<string, string>();
  for (const channel of channels) {
    const folded = foldCase(channel);
    if (!byFolded.has(folded)) byFolded.set(folded, channel);
  }
  return [...byFolded.values()];
}
