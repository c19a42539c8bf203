import { foldCase } from "../irc/mod.ts";
import type { LinkMessage, LinkSpeaker } from "./link_events.ts";
import type { ChannelText } from "./options.ts";

/** The shown parts of a message, beside its id. */
export type Shown = Omit<ChannelText, "id">;

/** A message of the bridge, as the caller gave it. */
export interface Sent {
  /** The speaker's name in the log. */
  readonly nick: string;
  /** Without the name in front. */
  readonly text: string;
  /** For whom the bridge speaks; null if it speaks for itself. */
  readonly speaker: LinkSpeaker | null;
  /** Whether it calls nobody by name: it is in no agent's inbox. */
  readonly isQuiet?: boolean;
  /** What goes out before the text; absent for nothing. */
  readonly prefix?: string;
}

/** The text and speaker of a message. The speaker is the caller for whom the bridge speaks. */
export function textOf(heard: LinkMessage): Shown {
  const { nick, account, speaker, text } = heard;
  if (speaker === null) return answering(heard, { nick, account, text });
  const prefix = `[${speaker.nick}] `;
  const plain = text.startsWith(prefix) ? text.slice(prefix.length) : text;
  return answering(heard, spokenBy(speaker, plain));
}

/** The same for an echoed message of the bridge. */
export function textOfSent({ nick, text, speaker }: Sent, heard: LinkMessage): Shown {
  const { account } = heard;
  return answering(heard, speaker === null ? { nick, account, text } : spokenBy(speaker, text));
}

/**
 * The same for a message that another node's bridge may have said. Where no tags tell for whom, the
 * name in front of the text does, if the bridge's account is proven.
 */
export function textOfPeer(heard: LinkMessage): Shown {
  const [, nick = null] = heard.peer === "account" ? IN_FRONT.exec(heard.text) ?? [] : [];
  return textOf(nick === null ? heard : { ...heard, speaker: { nick, account: null } });
}

/** A speaker's name in front of a text. */
const IN_FRONT = /^\[([^\]\s]+)\] /;

function answering({ reply }: LinkMessage, shown: Shown): Shown {
  return reply === undefined ? shown : { ...shown, reply };
}

/** A speaker with the account of its nick speaks for itself; otherwise the operator does. */
function spokenBy({ nick, account }: LinkSpeaker, text: string): Shown {
  const isOwn = account !== null && foldCase(account) === foldCase(nick);
  return isOwn ? { nick, account, text } : { nick, account, text, via: "bridge" };
}
