import { foldCase } from "../../engines/irc/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Confirmation } from "./confirmation.ts";
import type { MessageLog } from "../messages/mod.ts";
import type { LinkMessage } from "./link_events.ts";
import type { ChannelText } from "./types.ts";

/** Most visitors over HTTP that a channel remembers; it forgets the one seen longest ago. */
const MAX_PRESENT = 1000;

/** Most agents whose last use a channel remembers; it forgets the one that used it longest ago. */
const MAX_USERS = 100;

/** A message that waits for earlier ones. */
export interface HeldMessage {
  readonly message: ChannelText;
  readonly heard: LinkMessage;
  /** Whether the bridge said it. */
  readonly isOurs: boolean;
  /** Whether it is in no agent's inbox, whomever it names. */
  readonly isQuiet: boolean;
}

/** A channel that the bridge is in, is entering or is leaving. */
export class Channel {
  /** With `#`, as the server writes it. */
  name: string;
  readonly log: MessageLog<ChannelText>;
  topic = "";
  /** Whether the bridge has been in it. */
  entered = false;
  /** Set while the bridge waits for its JOIN to be confirmed. */
  entering: Confirmation | null = null;
  /** Resolves when earlier messages have been read back; null while none are being read. */
  recalling: Promise<void> | null = null;
  /** The messages that wait for that; null while none need to wait. */
  held: HeldMessage[] | null = null;
  /** Whether the log has what the nodes share, and gets the new lines of it. */
  isFilled = false;
  /** Set while the bridge waits for its PART to be confirmed. */
  leaving: Confirmation | null = null;
  /** Whether the bridge is here only because an IRC user invited it. */
  invited = false;
  /** The internal id of the agent for whom the bridge joined; null for others. */
  opener: string | null = null;
  /** Resolves when the store has recorded the channel; null if it is not to be recorded. */
  stored: Promise<void> | null = null;
  /** When the channel was last read, posted to or joined, in Unix milliseconds. */
  usedAt: number;
  /** The same for each agent, by internal id; null stands for the operator. */
  readonly #uses = new BoundedMap<string | null, number>(MAX_USERS);
  readonly #members = new Map<string, string>();
  readonly #present = new BoundedMap<string, { readonly nick: string; readonly seenAt: number }>(
    MAX_PRESENT,
  );

  constructor(name: string, log: MessageLog<ChannelText>, now: number) {
    this.name = name;
    this.log = log;
    this.usedAt = now;
  }

  /** Its folded name. */
  get key(): string {
    return foldCase(this.name);
  }

  /** Adds a waiting message; beyond the limit, drops the oldest, as the log does. */
  hold(message: HeldMessage, most: number): void {
    this.held?.push(message);
    if (this.held !== null && this.held.length > most) this.held.shift();
  }

  /** Records that an agent, or with null the operator, reads, posts or joins. */
  use(agent: string | null, now: number): void {
    this.usedAt = now;
    this.#uses.set(agent, now);
  }

  /** When it was last read or left by somebody who is not told apart; null if others came later. */
  get anonymousUse(): number | null {
    return this.usedAt > Math.max(0, ...this.#uses.values()) ? this.usedAt : null;
  }

  /** Forgets an agent's use of the channel. */
  forgetUse(agent: string): void {
    this.#uses.delete(agent);
  }

  /** Whether it was used after this time. */
  isUsed(after: number): boolean {
    return [...this.#uses.values()].some((usedAt) => usedAt > after);
  }

  /** Whether it has members on IRC other than these nicks. */
  hasOthers(...nicks: readonly string[]): boolean {
    const folded = new Set(nicks.map(foldCase));
    return [...this.#members.keys()].some((member) => !folded.has(member));
  }

  hasMember(nick: string): boolean {
    return this.#members.has(foldCase(nick));
  }

  addMember(nick: string): void {
    this.#members.set(foldCase(nick), nick);
  }

  /** Returns whether it was a member. */
  removeMember(nick: string): boolean {
    return this.#members.delete(foldCase(nick));
  }

  /** Returns whether it was a member. */
  renameMember(from: string, to: string): boolean {
    if (!this.#members.delete(foldCase(from))) return false;
    this.addMember(to);
    return true;
  }

  setMembers(nicks: readonly string[]): void {
    this.#members.clear();
    for (const nick of nicks) this.addMember(nick);
  }

  /** Records a visit over HTTP at this time, unless a later one is known. */
  setPresent(nick: string, seenAt: number): void {
    const key = foldCase(nick);
    if ((this.#present.peek(key)?.seenAt ?? 0) > seenAt) return;
    this.#present.set(key, { nick, seenAt });
  }

  /** The nicks of members on IRC and of visitors over HTTP since this time, sorted. */
  users(after: number): string[] {
    const users = new Map(this.#members);
    for (const [key, { nick, seenAt }] of this.#present.entries()) {
      if (seenAt <= after) this.#present.delete(key);
      else if (!users.has(key)) users.set(key, nick);
    }
    return [...users.values()].sort();
  }
}
