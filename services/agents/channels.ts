import { type ChannelStatus, foldCase } from "../irc/mod.ts";

/** Removes duplicate channels, compared without regard to case; keeps the first. */
export function uniqueChannels(channels: readonly string[]): string[] {
  const byFolded = new Map<string, string>();
  for (const channel of channels) {
    const folded = foldCase(channel);
    if (!byFolded.has(folded)) byFolded.set(folded, channel);
  }
  return [...byFolded.values()];
}

/** The status that an agent of a type has in its channels. */
export function channelStatusOf(type: string): ChannelStatus {
  switch (type) {
    case "operator":
    case "orchestrator":
      return "operator";
    case "worker":
      return "voice";
    default:
      return "none";
  }
}
