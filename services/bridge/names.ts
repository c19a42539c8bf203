import { Invalid } from "../errors.ts";
import { channelName, foldCase } from "../irc/mod.ts";

/**
 * Parses the name of a channel in a request, with or without its `#`.
 *
 * @returns the name with `#`
 * @throws Invalid if it is not the name of a channel
 */
export function readChannelName(text: string): string {
  const name = channelName(text);
  if (name !== null) return name;
  throw new Invalid(
    "A channel's name must have 2 to 80 characters, none of them a space, a comma or a control " +
      "character",
  );
}

/** Whether both are the same account; null is none. */
export function isSameAccount(one: string | null, other: string | null): boolean {
  return one !== null && other !== null && foldCase(one) === foldCase(other);
}
