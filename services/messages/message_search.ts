import { foldCase } from "../irc/mod.ts";

/** What a search of messages looks for. A message must have all of it. */
export interface MessageSearch {
  /** Parts of its text, in lower case. */
  readonly words: readonly string[];
  /** The nick of its speaker, folded; more than one finds nothing. */
  readonly speakers: readonly string[];
}

/** Parses what a person searches for: words, and the nick of a speaker after `from:`. */
export function parseSearch(text: string): MessageSearch {
  const words = new Set(text.toLowerCase().split(/\s+/).filter((word) => word !== ""));
  const [speakers, others] = [
    [...words].filter(isSpeaker),
    [...words].filter((one) => !isSpeaker(one)),
  ];
  return { words: others, speakers: speakers.map((word) => foldCase(word.slice(FROM.length))) };
}

const FROM = "from:";

function isSpeaker(word: string): boolean {
  return word.startsWith(FROM);
}

/** Whether a message is what is searched for, whatever the case of its letters. */
export function isSought(
  { words, speakers }: MessageSearch,
  { nick, text }: { readonly nick: string; readonly text: string },
): boolean {
  if (speakers.some((speaker) => speaker !== foldCase(nick))) return false;
  const lower = text.toLowerCase();
  return words.every((word) => lower.includes(word));
}
