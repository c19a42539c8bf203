/** Whom a message in a channel is for, beside those who read the channel. */
import { z } from "zod";
import { AGENT_TYPES } from "../../people/agents/mod.ts";
import { Invalid, NotFound } from "../../kernel/errors.ts";
import { foldCase, isNick } from "../../engines/irc/mod.ts";

/** Most addressees of one message. */
const MAX_ADDRESSEES = 50;

const GROUP = /^@[A-Za-z0-9[\]\\`_^{|}-]{1,64}\*?$/;

const addressee = z.string().refine((name) => isNick(name) || GROUP.test(name), {
  error: 'must be a nick, "@all", a type such as "@workers", or "@" and the beginning of nicks ' +
    'with a star, such as "@build*"',
});

/** The addressees of one message. */
export const addresseesSchema = z.array(addressee).min(1).max(MAX_ADDRESSEES);

/** What knows the agents. */
export interface AddresseeServices {
  readonly inboxes: {
    /** Whether an agent receives messages to it in a channel; null if there is no such agent. */
    reaches(nick: string, channel: string): boolean | null;
  };
}

const BLANK = /^[ \t\r]*$/;

/** Puts the addressees in front of every line, because each line becomes a message of its own. */
export function addressed(text: string, to: readonly string[] | undefined): string {
  if (to === undefined) return text;
  const prefix = `${to.join(", ")}: `;
  return text.split("\n").map((line) => BLANK.test(line) ? line : `${prefix}${line}`).join("\n");
}

const GROUPS = new Set(["@all", ...AGENT_TYPES.flatMap((type) => [`@${type}`, `@${type}s`])]);

/** The nicks among addressees, each once, without names of groups. */
export function named(to: readonly string[] | undefined): string[] {
  return (to ?? []).filter((name) => !name.endsWith("*") && !GROUPS.has(name.toLowerCase()))
    .map((name) => name.replace(/^@/, ""))
    .filter((nick, index, nicks) => nicks.indexOf(nick) === index);
}

/**
 * Checks that the addressees exist, so that a message to a misspelt one is not silently lost.
 *
 * @param message.users the nicks in the channel, which are asked for only if they are needed
 * @throws Invalid
 */
export async function requireAddressees(
  { inboxes }: AddresseeServices,
  { channel, to, users }: {
    readonly channel: string;
    readonly to: readonly string[];
    users(): Promise<readonly string[]>;
  },
): Promise<void> {
  const strangers = named(to).filter((nick) => inboxes.reaches(nick, channel) === null);
  if (strangers.length === 0) return;
  const there = await users().catch((error: unknown) => {
    if (error instanceof NotFound) return [];
    throw error;
  });
  const present = new Set(there.map(foldCase));
  const missing = strangers.find((nick) => !present.has(foldCase(nick)));
  if (missing === undefined) return;
  throw new Invalid(
    `"to" names "${missing}", but there is no such agent, and nobody of that nick is in ` +
      `${channel}. Nothing was sent`,
  );
}
