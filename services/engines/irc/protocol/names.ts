/** Names of users and channels: which are valid, which are the same, and masks that match them. */

import { isVisible } from "../../../kernel/words.ts";

/** Longest nick, in characters; announced as `NICKLEN`. */
export const NICK_LENGTH = 64;
/** Longest channel name, in characters; announced as `CHANNELLEN`. */
export const CHANNEL_LENGTH = 80;
/** Longest real name, in characters; announced as `NAMELEN`. */
export const REALNAME_LENGTH = 150;
/** Longest user name, in characters; announced as `USERLEN`. */
export const USER_LENGTH = 32;

/** The form of a nick: 1 to {@linkcode NICK_LENGTH} characters. */
export const NICK_PATTERN = /^[A-Za-z\[\]\\`_\^{|}][A-Za-z0-9\[\]\\`_\^{|}-]{0,63}$/;
// Everything except white space, controls, halves of surrogate pairs, and the comma, which
// separates names.
const CHANNEL = /^#[^\s,\p{Cc}\p{Cs}]+$/u;
// The characters of a channel's name, with a slash inside.
const RELAYED_NICK = /^(?![#~&@%+:$/])(?=.*.\/.)[^\s!@*?,\p{Cc}\p{Cs}]+$/u;
const NON_ASCII = /\P{ASCII}/u;

/**
 * The form in which names are compared: casemapping `ascii` folds only A to Z.
 *
 * Not `toLowerCase` alone, which would make the Kelvin sign a `k`.
 */
export function foldCase(name: string): string {
  if (isFolded(name)) return name;
  if (!NON_ASCII.test(name)) return name.toLowerCase();
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Whether a name is of ASCII without A to Z, as most are. It has no pattern, because a message asks
 * for several names, and the first use of a pattern after a pause takes as long as twenty of these.
 */
function isFolded(name: string): boolean {
  for (let index = 0; index < name.length; index++) {
    const code = name.charCodeAt(index);
    if (code >= 0x41 && (code <= 0x5a || code >= 0x80)) return false;
  }
  return true;
}

/** Whether the text may be a nick. */
export function isNick(text: string): boolean {
  return NICK_PATTERN.test(text);
}

/** Whether the text may be a nick on another network, which no user here can have. */
export function isRelayedNick(text: string): boolean {
  return text.length <= NICK_LENGTH && RELAYED_NICK.test(text) && isVisible(text);
}

/** Whether the text may be the name of a channel, with its `#`. */
export function isChannelName(text: string): boolean {
  return text.length <= CHANNEL_LENGTH && CHANNEL.test(text) && isVisible(text.slice(1));
}

/** A pattern that documents publish for what {@link channelName} takes, which takes a little less. */
export const CHANNEL_ARGUMENT_PATTERN =
  "^(?:#[^\\x00-\\x20,\\x7f-\\xa0]{1,79}|[^\\x00-\\x20#,\\x7f-\\xa0][^\\x00-\\x20,\\x7f-\\xa0]{0,78})$";

/**
 * Adds the `#` to the name of a channel if it is missing.
 *
 * @returns null if it is not the name of a channel
 */
export function channelName(text: string): string | null {
  const name = text.startsWith("#") ? text : `#${text}`;
  return isChannelName(name) ? name : null;
}

/** Whether the text means a channel rather than a user, valid or not. */
export function looksLikeChannel(text: string): boolean {
  return text.startsWith("#");
}

/** The names of a list with commas, each once under {@linkcode foldCase}, as it first comes. */
export function distinctNames(list: string): string[] {
  const names = new Map<string, string>();
  for (const name of list.split(",")) {
    const folded = foldCase(name);
    if (name !== "" && !names.has(folded)) names.set(folded, name);
  }
  return [...names.values()];
}

/**
 * Compiles a mask in which `*` stands for any text and `?` for one character. Compared under
 * {@linkcode foldCase}.
 */
export function compileMask(mask: string): (text: string) => boolean {
  const folded = foldCase(mask).replace(/\*+/g, "*");
  const least = folded.replaceAll("*", "").length;
  return function matches(text) {
    return text.length >= least && matchesGlob(folded, foldCase(text));
  };
}

/** Converts a mask to the form nick!user@host, with `*` for missing parts. */
export function completeMask(mask: string): string {
  const bang = mask.indexOf("!");
  const at = mask.indexOf("@", bang + 1);
  const nick = bang !== -1 ? mask.slice(0, bang) : at === -1 ? mask : "*";
  const user = bang === -1 && at === -1 ? "*" : mask.slice(bang + 1, at === -1 ? undefined : at);
  const host = at === -1 ? "*" : mask.slice(at + 1);
  return `${nick || "*"}!${user || "*"}@${host || "*"}`;
}

/** Takes linear time in the text for every star: it backtracks only to the last star. */
function matchesGlob(pattern: string, text: string): boolean {
  let at = 0;
  let star = -1;
  let resumeAt = 0;
  let position = 0;
  while (position < text.length) {
    const wanted = pattern[at];
    if (wanted === "*") {
      star = at++;
      resumeAt = position;
    } else if (wanted === "?" || (wanted !== undefined && wanted === text[position])) {
      at++;
      position++;
    } else if (star !== -1) {
      at = star + 1;
      position = ++resumeAt;
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
