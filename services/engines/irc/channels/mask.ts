/** Masks of the lists of a channel: hosts, and the extended masks of ISUPPORT `EXTBAN`. */

import { compileMask, completeMask } from "../protocol/names.ts";

/** What a mask with the letter and a colon before it means. */
const MUTE = "m";
const ACCOUNT = "a";

/** The letters of extended masks; announced as `EXTBAN`. */
export const EXTENDED_MASKS = ACCOUNT + MUTE;

/** The letter of masks that match accounts; announced as `ACCOUNTEXTBAN` (IRCv3 account-extban). */
export const ACCOUNT_MASK = ACCOUNT;

/** Modes whose lists can hold masks that affect speech only. */
const SPEECH_LISTS: ReadonlySet<string> = new Set(["b", "e"]);

const EXTENDED = /^([A-Za-z]):(.*)$/s;

/** A compiled mask. */
export interface ChannelMask {
  /** Whether it affects only speaking, not joining. */
  readonly mutes: boolean;
  /** @param masks those of the client, see `Client.masks` */
  matches(client: { readonly account: string | null }, masks: readonly string[]): boolean;
}

/**
 * Converts a mask to its canonical form: `nick!user@host`, with `*` for missing parts; `a:account`;
 * or `m:` before either.
 *
 * @param letter the mode that the mask is for
 * @returns null if it is no mask, or means nothing in that list
 */
export function canonicalMask(mask: string, letter: string): string | null {
  const [, type, rest = ""] = EXTENDED.exec(mask) ?? [];
  if (type === undefined) return completeMask(mask);
  if (rest === "") return null;
  switch (type.toLowerCase()) {
    case ACCOUNT:
      return `${ACCOUNT}:${rest}`;
    case MUTE: {
      const inner = canonicalMask(rest, letter);
      const nested = inner === null || inner.startsWith(`${MUTE}:`);
      return nested || !SPEECH_LISTS.has(letter) ? null : `${MUTE}:${inner}`;
    }
    default:
      return null;
  }
}

/**
 * Replaces the host of a mask in canonical form; a mask of accounts stays as it is.
 *
 * @param change gives the host in place of the one that is given
 */
export function withHost(canonical: string, change: (host: string) => string): string {
  const at = canonical.lastIndexOf("@");
  if (at === -1 || /^(?:m:)?a:/.test(canonical)) return canonical;
  return canonical.slice(0, at + 1) + change(canonical.slice(at + 1));
}

/** Whether a mask in canonical form affects only speaking, not joining. */
export function isMute(canonical: string): boolean {
  return canonical.startsWith(`${MUTE}:`);
}

/** Compiles a mask in canonical form. `*` and `?` match as in {@linkcode compileMask}. */
export function compileChannelMask(canonical: string): ChannelMask {
  const mutes = isMute(canonical);
  const mask = mutes ? canonical.slice(2) : canonical;
  if (mask.startsWith(`${ACCOUNT}:`)) {
    const isMeant = compileMask(mask.slice(2));
    return { mutes, matches: ({ account }) => account !== null && isMeant(account) };
  }
  const isMeant = compileMask(mask);
  return { mutes, matches: (_, masks) => masks.some(isMeant) };
}
