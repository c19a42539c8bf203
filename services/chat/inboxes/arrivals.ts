import type { Roster, RosterEntry } from "../../people/agents/mod.ts";
import {
  type ChannelMessage,
  type Envelope,
  type HeardMessage,
  parseEnvelope,
} from "../bridge/mod.ts";
import type { AccountDirectory } from "../../people/identity/mod.ts";
import { foldCase, type ObservedMessage } from "../../engines/irc/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { newUlid } from "../../kernel/ulid.ts";
import { type AddressedText, type Tracking, UNTRACKED } from "./entry.ts";
import { type Inbox, takesNoMore } from "./inbox.ts";

const CTCP = "\x01";
const ACTION = `${CTCP}ACTION `;

/** A message to deliver to its addressees. */
interface Incoming {
  readonly id: string;
  readonly from: string;
  readonly account: string | null;
  readonly via?: "bridge" | undefined;
  /** The speaker's name, if it is an agent. */
  readonly speaker: string;
  readonly text: string;
  /** When IRC accepted it, in Unix milliseconds. */
  readonly time: number;
}

/** A message to one agent, and its speaker. */
export type Delivery = Pick<AddressedText, "from" | "account" | "via" | "text">;

/** Who sends a message to an agent. */
export interface Sending {
  /** The sender's account, or `OPERATOR_SENDER`. */
  readonly senderId: string;
  /** The sender's own id of the message; null without one. */
  readonly clientId: string | null;
}

export interface ArrivalsOptions {
  readonly roster: Pick<Roster, "find" | "receiver" | "receivers" | "everybody" | "isEmpty">;
  /** Whether an agent receives the messages of a channel. */
  readonly hears: (agent: RosterEntry, channel: string) => boolean;
  /** Whether an account has a connection to IRC. */
  readonly isOnline: (account: string) => boolean;
  /** How long a message waits for an agent before it goes back, in milliseconds; null: never. */
  readonly queueTime: number | null;
  /** The accounts of people and admins. */
  readonly accounts: Pick<AccountDirectory, "find">;
  /** The account of the bridge. The bridge reports its own messages and their speakers itself. */
  readonly bridgeNick: string;
  readonly scheduler: Pick<Scheduler, "now">;
}

/** Where messages arrive. */
interface Receivers {
  inboxOf(agent: RosterEntry): Pick<Inbox, "append">;
  /** Called for a message that goes back at a time, in Unix milliseconds. */
  expect(expiresAt: number): void;
}

/** Puts messages from IRC, the bridge and callers into the inboxes of the agents they address. */
export class Arrivals {
  readonly #options: ArrivalsOptions;
  readonly #receivers: Receivers;
  /** Whether the IRC server accepts messages now that are in an inbox already. */
  #isShowing = false;

  /** How many entries it has put into inboxes. */
  arrived = 0;

  constructor(options: ArrivalsOptions, receivers: Receivers) {
    this.#options = options;
    this.#receivers = receivers;
  }

  /** Handles a message that the IRC server accepted. */
  take(message: ObservedMessage): void {
    const { id, time, sender, channel, receiver, statusPrefix, text } = message;
    if (sender.account === this.#options.bridgeNick || statusPrefix !== "") return;
    const agent = channel === null ? this.#options.roster.receiver(receiver?.account ?? "") : null;
    if (channel === null && (agent === null || this.#isShowing)) return;
    const speaker = sender.account ?? sender.nick;
    const { nick: from, account } = sender;
    const incoming = { id, from, account, speaker, text, time };
    if (channel !== null) this.#takeFromChannel(channel, incoming);
    else if (agent !== null) this.#keep(agent, { channel, isOnIrc: true }, incoming);
  }

  /** Handles a message that the bridge received on an external network. */
  takeHeard({ id, channel, nick, account, text, time }: HeardMessage): void {
    const speaker = account ?? nick;
    this.#takeFromChannel(channel, { id, from: nick, account, speaker, text, time });
  }

  /** Handles a message that the bridge sent for a caller. */
  takePosted(channel: string, posted: ChannelMessage): void {
    for (const agent of this.#addresseesOf(channel, posted.text)) {
      const { nick: from, timestamp, ...message } = posted;
      this.#keep(agent, { channel, isOnIrc: true }, {
        ...message,
        from,
        speaker: from,
        time: Date.parse(timestamp),
      });
    }
  }

  /**
   * Handles a private message to an agent that was not sent over IRC.
   *
   * @returns the entry's id
   * @throws Unavailable if too much waits for the disk already
   */
  deliver(agent: RosterEntry, delivery: Delivery, sending: Sending | null = null): string {
    const time = this.#options.scheduler.now();
    const id = newUlid(time);
    const incoming = { ...delivery, id, speaker: delivery.from, time };
    const place = { channel: null, isOnIrc: false };
    if (!this.#keep(agent, place, incoming, sending)) throw takesNoMore();
    return id;
  }

  /** Runs a function that sends private messages over the IRC server which are in an inbox already. */
  showing<Result>(send: () => Result): Result {
    this.#isShowing = true;
    try {
      return send();
    } finally {
      this.#isShowing = false;
    }
  }

  #takeFromChannel(channel: string, incoming: Incoming): void {
    for (const agent of this.#addresseesOf(channel, incoming.text)) {
      this.#keep(agent, { channel, isOnIrc: true }, incoming);
    }
  }

  /** The agents that a message in a channel addresses and reaches. */
  #addresseesOf(channel: string, text: string): readonly RosterEntry[] {
    const { roster, hears } = this.#options;
    if (roster.isEmpty) return [];
    const addressees = readAddressees(text);
    const { everybody, types, prefixes, nicks } = addressees;
    const many = everybody || types.size > 0 || prefixes.length > 0;
    const candidates = many ? roster.everybody() : findAll(roster, nicks);
    const found: RosterEntry[] = [];
    for (const agent of candidates) {
      if (isAddressed(addressees, agent) && hears(agent, channel)) found.push(agent);
    }
    return found;
  }

  /** @returns false if the inbox does not take it */
  #keep(
    agent: RosterEntry,
    { channel, isOnIrc }: { readonly channel: string | null; readonly isOnIrc: boolean },
    incoming: Incoming,
    sending: Sending | null = null,
  ): boolean {
    const { id, from, account, via, speaker, time } = incoming;
    if (foldCase(speaker) === foldCase(agent.nick)) return true;
    const text = readable(incoming);
    if (text === null) return true;
    const kind = channel === null ? "message" : "mention";
    const origin = via === undefined ? { from, account } : { from, account, via };
    const message = { id, kind, ...origin, channel, text } as const;
    const state = isOnIrc && this.#options.isOnline(agent.nick) ? "delivered" : "queued";
    this.arrived++;
    const tracking = this.#trackingOf(kind, incoming, { state, sending });
    const isKept = this.#receivers.inboxOf(agent).append({ message, time, state, tracking });
    if (!isKept) return false;
    for (const session of this.#options.roster.receivers(agent.nick)) {
      if (session.id === agent.id || foldCase(speaker) === foldCase(session.nick)) continue;
      // The agent's own copy is the one of which the sender hears.
      this.#receivers.inboxOf(session).append({
        message,
        time,
        state: "queued",
        tracking: { ...UNTRACKED, senderId: tracking.senderId },
      });
    }
    return true;
  }

  #trackingOf(
    kind: "message" | "mention",
    { account, via, time }: Incoming,
    { state, sending }: {
      readonly state: "queued" | "delivered";
      readonly sending: Sending | null;
    },
  ): Tracking {
    const { accounts, queueTime } = this.#options;
    const speaker = account === null || via !== undefined ? null : accounts.find(account);
    const senderId = sending?.senderId ?? speaker?.id ?? null;
    if (kind === "mention") return { senderId, clientId: null, expiresAt: null };
    const clientId = sending?.clientId ?? null;
    const expiresAt = queueTime === null ? null : time + queueTime;
    if (expiresAt !== null && state === "queued") this.#receivers.expect(expiresAt);
    return { senderId, clientId, expiresAt };
  }
}

function findAll(roster: Pick<Roster, "find">, nicks: ReadonlySet<string>): RosterEntry[] {
  const found: RosterEntry[] = [];
  for (const nick of nicks) {
    const agent = roster.find(nick);
    if (agent !== null) found.push(agent);
  }
  return found;
}

/** The text as shown in a channel's log: an ACTION as `* nick text`; no other CTCP. */
function readable({ from, text }: Incoming): string | null {
  if (!text.startsWith(CTCP)) return text;
  if (!text.startsWith(ACTION)) return null;
  return `* ${from} ${text.slice(ACTION.length).replaceAll(CTCP, "")}`;
}

/** Finds the addressees of a message in a channel. */

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
interface Addressees {
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
