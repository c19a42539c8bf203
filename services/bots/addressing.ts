import { foldCase } from "../irc/mod.ts";

/** A command that addresses a bot. */
export interface Addressed {
  /** The folded name that it addresses. */
  readonly name: string;
  /** Everything after that. */
  readonly text: string;
}

const FORM = /^(?:!([^\s:,]+)(?:\s+|$)|([^\s:,]+)[:,](?:\s+|$))/;

/**
 * Finds whom a message in a channel addresses: `oracle: text`, `oracle, text` or `!oracle text`.
 * Null if it addresses nobody in these ways. No other part of a text is read.
 */
export function readAddress(text: string): Addressed | null {
  const found = FORM.exec(text);
  const name = found?.[1] ?? found?.[2];
  if (found === null || name === undefined) return null;
  return { name: foldCase(name), text: text.slice(found[0].length).trim() };
}
