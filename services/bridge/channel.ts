import { foldCase } from "../irc/mod.ts";
import type { Confirmation } from "./confirmation.ts";
import type { MessageLog } from "../messages/mod.ts";
import type { LinkMessage } from "./link_events.ts";
import type { ChannelText } from "./options.ts";

/** Most people of the web that a channel remembers; the one seen longest ago is forgotten. */
const MAX_PRESENT = 1000;

/** Most agents whose last use a channel remembers; it forgets the one that used it longest ago. */
const MAX_USERS = 100;

/** A message that waits for those before it. */
export interface HeldMessage {
  readonly message: ChannelText;
  readonly heard: LinkMessage;
  /** Whether the bridge said it. */
  readonly isOurs: boolean;
}

/** A channel that the bridge is in, or is about to enter or to leave. */
export class Channel {
  /** With `#`, as the server writes it. */
  name: string;
  readonly log: MessageLog<ChannelText>;
  topic = "";
  /** Whether the bridge has been in it. */
  entered = false;
  /** Set while the bridge waits to be let in. */
  entering: Confirmation | null = null;
  /** Resolves when what was said before has been read back; messages that come meanwhile wait. */
  recalled: Promise<void> = Promise.resolve();
  /** The messages that wait for that; null while none have to. */
  held: HeldMessage[] | null = null;
  /** Set while the bridge waits for its PART to be confirmed. */
  leaving: Confirmation | null = null;
  /** Whether it is only here because somebody on IRC invited it. */
  invited = false;
  /** The internal id of the agent for which the bridge came; null for others. */
  opener: string | null = null;
  /** Resolves when it is noted that the bridge comes back here; null where that is not asked for. */
  stored: Promise<void> | null = null;
  /** When somebody last read, posted or joined, in Unix milliseconds. */
  usedAt: number;
  /** When each agent did so last, by internal id; null stands for the operator. */
  readonly #uses = new Map<string | null, number>();
  readonly #members = new Map<string, string>();
  readonly #present = new Map<string, { readonly nick: string; readonly seenAt: number }>();

  constructor(name: string, log: MessageLog<ChannelText>, now: number) {
    this.name = name;
    this.log = log;
    this.usedAt = now;
  }

  /** Has a message wait, at most so many of them: the oldest goes first, as in the log. */
  hold(message: HeldMessage, most: number): void {
    this.held?.push(message);
    if (this.held !== null && this.held.length > most) this.held.shift();
  }

  /** Notes that an agent, or with null the operator, reads, posts or joins. */
  use(agent: string | null, now: number): void {
    this.usedAt = now;
    this.#uses.delete(agent);
    this.#uses.set(agent, now);
    const [oldest = null] = this.#uses.keys();
    if (this.#uses.size > MAX_USERS) this.#uses.delete(oldest);
  }

  /** Takes back what an agent did here. */
  forgetUse(agent: string): void {
    this.#uses.delete(agent);
  }

  /** Whether anybody used it after this time. */
  isUsed(after: number): boolean {
    return [...this.#uses.values()].some((usedAt) => usedAt > after);
  }

  /** Whether anybody else than these nicks is in it on IRC. */
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

  removeMember(nick: string): void {
    this.#members.delete(foldCase(nick));
  }

  renameMember(from: string, to: string): void {
    if (this.#members.delete(foldCase(from))) this.addMember(to);
  }

  setMembers(nicks: readonly string[]): void {
    this.#members.clear();
    for (const nick of nicks) this.addMember(nick);
  }

  /** Notes that somebody was here over HTTP at this time. */
  setPresent(nick: string, seenAt: number): void {
    const key = foldCase(nick);
    this.#present.delete(key);
    this.#present.set(key, { nick, seenAt });
    if (this.#present.size <= MAX_PRESENT) return;
    const [oldest] = this.#present.keys();
    if (oldest !== undefined) this.#present.delete(oldest);
  }

  /** The nicks of members on IRC and of visitors over HTTP since this time, sorted. */
  users(after: number): string[] {
    const users = new Map(this.#members);
    for (const [key, { nick, seenAt }] of this.#present) {
      if (seenAt <= after) this.#present.delete(key);
      else if (!users.has(key)) users.set(key, nick);
    }
    return [...users.values()].sort();
  }
}
