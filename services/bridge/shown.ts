import { foldCase } from "../irc/mod.ts";
import type { LinkMessage, LinkSpeaker } from "./link_events.ts";
import type { ChannelText } from "./options.ts";

/** What a log shows of a message, beside its id. */
export type Shown = Omit<ChannelText, "id">;

/** A message of ours, as it was given to us. */
export interface Sent {
  /** Under whose name it stands in the log. */
  readonly nick: string;
  /** Without the name in front. */
  readonly text: string;
  /** For whom the bridge says it; null where it speaks for itself. */
  readonly speaker: LinkSpeaker | null;
}

/** What a message says, and who says it: what the bridge says for somebody is said by them. */
export function textOf({ nick, account, speaker, text }: LinkMessage): Shown {
  if (speaker === null) return { nick, account, text };
  const prefix = `[${speaker.nick}] `;
  return spokenBy(speaker, text.startsWith(prefix) ? text.slice(prefix.length) : text);
}

/** The same for a message of ours that IRC has echoed. */
export function textOfSent({ nick, text, speaker }: Sent, { account }: LinkMessage): Shown {
  return speaker === null ? { nick, account, text } : spokenBy(speaker, text);
}

/** A speaker with the account of its nick speaks for itself; otherwise the operator speaks. */
function spokenBy({ nick, account }: LinkSpeaker, text: string): Shown {
  const isOwn = account !== null && foldCase(account) === foldCase(nick);
  return isOwn ? { nick, account, text } : { nick, account, text, via: "bridge" };
}
