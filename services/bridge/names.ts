import { Invalid } from "../errors.ts";

/** Longest name of a channel, in UTF-16 units, with its `#`. */
const MAX_LENGTH = 80;

const CHANNEL = /^#[^\s,\p{Cc}\p{Cs}]+$/u;

/** Whether the text is the name of a channel, with its `#`. */
export function isChannelName(text: string): boolean {
  return text.length <= MAX_LENGTH && CHANNEL.test(text);
}

/**
 * Reads the name of a channel as a request gives it, with or without its `#`.
 *
 * @returns the name with `#`
 * @throws Invalid where it is no name of a channel
 */
export function readChannelName(text: string): string {
  const name = text.startsWith("#") ? text : `#${text}`;
  if (isChannelName(name)) return name;
  throw new Invalid(
    "A channel's name must have 2 to 80 characters, none of them a space, a comma or a control " +
      "character",
  );
}
