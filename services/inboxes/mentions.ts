/** Finds the addressees of a message in a channel. */

import type { RosterEntry } from "../agents/mod.ts";
import { type Envelope, parseEnvelope } from "../bridge/mod.ts";
import { foldCase } from "../irc/mod.ts";

/** Most prefixes used of one message, because each is compared with every agent. */
const MAX_PREFIXES = 16;

/** A run of characters of words, paths and host names. */
const WORD = /[A-Za-z0-9_./\\-]+/g;
const OUTER_DOTS = /^\.+|(?<!\.)\.+$/g;

/** A run of characters of nicks, and those that ordinary words do not contain. */
const NICK_RUN = /[A-Za-z0-9[\]\\`_^{|}-]+/g;
const UNUSUAL = /[[\]\\`^{|}]/;

/** `@` and a separate name, with `*` for a prefix. */
const AT_NAME = /(?<![\w.@-])@([A-Za-z0-9[\]\\`_^{|}-]+)(\*?)(?![\w*-]|\.\w)/g;

const TYPE = /^(worker|observer|orchestrator|operator)s?$/;

const NOTHING: ReadonlySet<string> = new Set();
const NO_PREFIXES: readonly string[] = [];
const NO_NAMES: readonly AtName[] = [];

/** The addressees of a message. Names are folded. */
export interface Addressees {
  readonly everybody: boolean;
  readonly types: ReadonlySet<string>;
  readonly prefixes: readonly string[];
  readonly nicks: ReadonlySet<string>;
}

/**
 * Finds the addressees of a message in a channel.
 *
 * In a text, these count: a separate nick, that is, not part of a longer word, a path or a host
 * name; `@all`; `@worker`, `@workers` and so on for each type; and `@prefix*` for all nicks with
 * the prefix. An envelope addresses the names in its `to`, with the same words; without `to`, it is
 * for the channel and addresses nobody.
 */
export function readAddressees(text: string): Addressees {
  const envelope = parseEnvelope(text);
  if (envelope === null) return collect(atNames(text), standingAlone(text));
  const recipients = recipientsOf(envelope);
  const named = recipients.filter((recipient) => !recipient.startsWith("@"));
  return collect(recipients.flatMap((recipient) => atNames(recipient)), named);
}

/** Whether an agent is among them. */
export function isAddressed(
  { everybody, types, prefixes, nicks }: Addressees,
  { nick, type }: Pick<RosterEntry, "nick" | "type">,
): boolean {
  const folded = foldCase(nick);
  return everybody || types.has(type) || nicks.has(folded) ||
    prefixes.some((prefix) => folded.startsWith(prefix));
}

interface AtName {
  readonly name: string;
  readonly prefix: boolean;
}

function atNames(text: string): readonly AtName[] {
  if (!text.includes("@")) return NO_NAMES;
  return Array.from(text.matchAll(AT_NAME), ([, name = "", star]) => ({
    name: foldCase(name),
    prefix: star === "*",
  }));
}

function standingAlone(text: string): string[] {
  const words = text.match(WORD)?.map(withoutOuterDots) ?? [];
  if (!UNUSUAL.test(text)) return words;
  const runs = text.match(NICK_RUN) ?? [];
  return [...words, ...runs.filter((run) => UNUSUAL.test(run))];
}

function withoutOuterDots(word: string): string {
  return word.startsWith(".") || word.endsWith(".") ? word.replace(OUTER_DOTS, "") : word;
}

function collect(atNames: readonly AtName[], nicks: readonly string[]): Addressees {
  if (atNames.length === 0) {
    const folded = nicks.length === 0 ? NOTHING : new Set(nicks.map(foldCase));
    return { everybody: false, types: NOTHING, prefixes: NO_PREFIXES, nicks: folded };
  }
  const names = atNames.filter(({ prefix }) => !prefix).map(({ name }) => name);
  const types = names.flatMap((name) => TYPE.exec(name)?.[1] ?? []);
  const prefixes = atNames.filter(({ prefix }) => prefix).map(({ name }) => name);
  return {
    everybody: names.includes("all"),
    types: new Set(types),
    prefixes: prefixes.slice(0, MAX_PREFIXES),
    nicks: new Set([...names, ...nicks.map(foldCase)]),
  };
}

/** The optional `to` of an envelope. */
function recipientsOf({ to }: Envelope): readonly string[] {
  return Array.isArray(to) && to.every((name) => typeof name === "string") ? to : [];
}
