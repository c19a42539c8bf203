/** Most mentions of one text. */
const MAX_MENTIONS = 20;

/** `@` and a nick, not directly after a word. */
const MENTION = /(?<![\w.@/-])@([A-Za-z[\]\\`_^{|}][A-Za-z0-9[\]\\`_^{|}-]{0,63})/g;

/** The names that a text mentions with `@`. */
export function mentioned(text: string): readonly string[] {
  const names = Array.from(text.matchAll(MENTION), ([, name = ""]) => name);
  return [...new Set(names)].slice(0, MAX_MENTIONS);
}
