import type { RosterEntry, SendLimits } from "../agents/mod.ts";
import {
  type Bridge,
  compose,
  type Composition,
  cut,
  type NewPost,
  shownLines,
} from "../bridge/mod.ts";
import { Conflict, Invalid, NotFound, ServiceError, Unavailable } from "../errors.ts";
import {
  type AccountDirectory,
  type Caller,
  isServiceName,
  type Principal,
} from "../identity/mod.ts";
import { foldCase, isNick, type UserIdentity } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { VirtualUsers } from "../irc_server/virtual_users/mod.ts";
import { formatMicroseconds } from "../messages/mod.ts";
import { type EntryState, OPERATOR_SENDER, stateOf } from "./entry.ts";
import type { Delivery, Sending } from "./arrivals.ts";
import type { InboxDoor } from "./inboxes.ts";
import { Repeats, usedForAnother } from "./repeats.ts";

/** A message to send. */
export interface DirectPost extends NewPost {
  /** The sender's own id of the message: the same message is sent once. */
  readonly clientId?: string | undefined;
}

/** What became of a message. */
export interface MessageFate {
  readonly id: string;
  /** ISO 8601, UTC, microseconds. */
  readonly timestamp: string;
  /** The id that the sender gave it; null without one, and for its receivers. */
  readonly clientId: string | null;
  /** The agents that it went to. */
  readonly receivers: readonly {
    /** Null if the agent no longer exists. */
    readonly nick: string | null;
    readonly state: EntryState;
    /** When it got this state, in Unix milliseconds; null if that is unknown. */
    readonly stateAt: number | null;
    /** When it comes back unless the agent has it, in Unix milliseconds; null for never. */
    readonly expiresAt: number | null;
  }[];
}

/** The result of a message to a user of the IRC server. */
type Told = { readonly kind: "absent" } | { readonly kind: "sent"; readonly id: string | null };

export interface DirectMessagesOptions {
  readonly roster: { find(nick: string): RosterEntry | null };
  readonly accounts: Pick<AccountDirectory, "find" | "get">;
  readonly virtualUsers: Pick<
    VirtualUsers,
    "tell" | "attends" | "requireVoice" | "requireGoing" | "admit" | "identityOf"
  >;
  readonly inboxes: Pick<
    InboxDoor,
    "deliver" | "delivered" | "sendAs" | "requireRoom" | "flush" | "sent" | "copies"
  >;
  readonly sendLimits: Pick<SendLimits, "sent">;
  /** Whether the account has a connection to IRC. */
  readonly isOnline: (account: string) => boolean;
  /**
   * The history of the IRC server of this program; null on an external network. Throws Unavailable if
   * a text cannot be stored.
   */
  readonly history: {
    record(from: UserIdentity, to: UserIdentity, texts: readonly string[]): void;
  } | null;
  /** Null if the configuration turns the bridge off. */
  readonly bridge: Pick<Bridge, "tell"> | null;
  readonly bridgeNick: string;
  /** The nicks of other nodes' bridges. */
  readonly otherBridges: () => readonly string[];
  readonly log: Log;
}

/**
 * Private messages to an agent or IRC user, from callers over HTTP and MCP.
 *
 * If muster runs the IRC server, an agent sends under its own nick. For others, and on an external
 * network, the bridge sends, with the speaker's name in front. A message to an agent is in its
 * inbox, whether or not the agent is present. A message to a person or an admin who is not present is
 * in the history of the IRC server, where clients and the web pages find it.
 */
export class DirectMessages {
  readonly #options: DirectMessagesOptions;
  readonly #repeats = new Repeats();

  constructor(options: DirectMessagesOptions) {
    this.#options = options;
  }

  /**
   * Sends a message to the user of a nick. Resolves when it is on disk in the agent's inbox, or IRC
   * has it. A message with a `clientId` is sent once, however often the same caller sends it.
   *
   * @returns the message's id if it went to an agent; null otherwise
   * @throws Invalid and TooLarge for the text, and if the receiver is the speaker; Forbidden if the
   * caller may not use the nick or is paused; NotFound if nobody has the name; Conflict if the
   * receiver cannot receive messages, such as a service, or if the `clientId` belongs to a message
   * for somebody else; TooMany for the rate, and if the agent's inbox is full; Unavailable
   * while IRC or the disk is away; TimedOut if IRC does not confirm the message
   */
  async send(to: string, post: DirectPost, caller: Caller): Promise<string | null> {
    const { clientId = null, ...rest } = post;
    const composed = compose(rest, caller.principal);
    this.#options.virtualUsers.requireVoice(caller.principal);
    if (composed.speaker !== null) this.#options.virtualUsers.requireGoing(composed.speaker);
    const receiver = this.#receiver(to);
    const speaker = composed.speaker ?? this.#options.bridgeNick;
    if (foldCase(speaker) === foldCase(to)) throw new Invalid("You cannot send yourself a message");
    const sending = { senderId: senderIdOf(caller.principal), clientId };
    return await this.#repeats.once(sending, receiver?.id ?? foldCase(to), async () => {
      if (receiver === null) return await this.#sendToUser(to, composed, caller);
      const earlier = await this.#options.inboxes.sent(sending);
      if (earlier === null) return await this.#sendToAgent(receiver, { composed, sending }, caller);
      if (earlier.accountId === receiver.id) return earlier.id;
      throw usedForAnother(clientId ?? "");
    });
  }

  /**
   * What became of a message in the inboxes of agents.
   *
   * @throws NotFound if there is no such message, or the caller neither sent nor received it
   */
  async fate(id: string, { principal }: Caller): Promise<MessageFate> {
    const copies = await this.#options.inboxes.copies(id);
    const mayKnowAll = principal.kind !== "agent" ||
      copies.some(({ senderId }) => senderId !== null && senderId === principal.id);
    const known = copies.filter(({ accountId }) => mayKnowAll || accountId === principal.id);
    const [first] = known;
    if (first === undefined) throw new NotFound(`There is no message "${id}", or it is not yours`);
    return {
      id,
      timestamp: formatMicroseconds(first.time),
      clientId: mayKnowAll ? first.clientId : null,
      receivers: known.map(({ accountId, state, stateAt, expiresAt }) => ({
        nick: this.#options.accounts.get(accountId)?.name ?? null,
        state: stateOf(state),
        stateAt: stateAt === 0 ? null : stateAt,
        expiresAt: state === "queued" ? expiresAt : null,
      })),
    };
  }

  /** The agent of this name; null if there is none. */
  #receiver(to: string): RosterEntry | null {
    const { roster, accounts, bridgeNick, otherBridges } = this.#options;
    if (to.startsWith("#")) {
      throw new NotFound(`"${to}" is a channel: post to /v1/channels/${to.slice(1)}/messages`);
    }
    if (!isNick(to)) throw nobody(to);
    const bridges = [bridgeNick, ...otherBridges()];
    const bridge = bridges.find((nick) => foldCase(nick) === foldCase(to));
    if (bridge !== undefined) {
      throw new Conflict(`"${bridge}" is the bridge, which reads no private messages`);
    }
    if (isServiceName(to)) {
      throw new Conflict(`"${to}" is a service, which takes commands only from IRC clients`);
    }
    const account = accounts.find(to);
    if (account !== null && account.revokedAt !== null) {
      throw new NotFound(`The agent "${account.name}" is revoked`);
    }
    return roster.find(to);
  }

  async #sendToAgent(
    agent: RosterEntry,
    { composed, sending }: { readonly composed: Composition; readonly sending: Sending },
    caller: Caller,
  ): Promise<string | null> {
    const { virtualUsers, isOnline, inboxes } = this.#options;
    const units = composed.lines.reduce((sum, line) => sum + line.length + 1, 0);
    await inboxes.requireRoom(agent, units);
    if (virtualUsers.attends(agent)) {
      const told = inboxes.sendAs(sending, () => this.#tell(agent.nick, composed, caller));
      if (told?.kind === "sent") {
        await inboxes.flush();
        return (await inboxes.sent(sending))?.id ?? told.id;
      }
    }
    virtualUsers.admit(caller.principal, composed.lines.length);
    this.#record(agent.id, composed, caller);
    const id = this.#keep(agent, composed, sending);
    await inboxes.flush();
    // Another node may have stored the same message first.
    const stored = await inboxes.sent(sending);
    if (stored !== null && stored.id !== id) return stored.id;
    if (isOnline(agent.nick) && await this.#showOnIrc(agent, composed, caller)) {
      inboxes.delivered(agent, id);
    }
    return id;
  }

  async #sendToUser(to: string, post: Composition, caller: Caller): Promise<null> {
    const { virtualUsers, sendLimits } = this.#options;
    const told = this.#tell(to, post, caller);
    if (told?.kind === "absent") this.#leave(to, post, caller);
    if (told !== null) return null;
    virtualUsers.admit(caller.principal, post.lines.length);
    await this.#tellByBridge(to, post, caller);
    if (post.account !== null) sendLimits.sent(post.account);
    return null;
  }

  /** Sends the message as the caller's user of the IRC server; null if the caller is not one. */
  #tell(nick: string, post: Composition, { principal }: Caller): Told | null {
    const linesFor = (room: number) => cut(post, room);
    const { answered } = post;
    const told = this.#options.virtualUsers.tell(principal, nick, linesFor, answered);
    if (told === null || told.kind === "absent") return told;
    if (told.kind !== "sent") {
      const text = `IRC refused the message: ${told.reason}`;
      throw told.kind === "unavailable" ? new Unavailable(text) : new Conflict(text);
    }
    return { kind: "sent", id: told.ids[0] ?? null };
  }

  /**
   * Leaves a message for a person or an admin who is not present.
   *
   * @throws NotFound, Conflict if there is nobody to leave it for
   */
  #leave(to: string, post: Composition, caller: Caller): void {
    const account = this.#options.accounts.find(to);
    const isPersons = account !== null && account.kind !== "agent" && account.revokedAt === null;
    if (!isPersons || !this.#record(account.id, post, caller)) throw this.#absence(to);
  }

  /**
   * Adds a message to the history of a caller that acts as itself and of the receiver.
   *
   * @returns whether there is such a history
   * @throws Unavailable if it takes no messages at the moment
   */
  #record(receiverId: string, post: Composition, { principal }: Caller): boolean {
    const { history, virtualUsers } = this.#options;
    const from = principal.id === null ? null : virtualUsers.identityOf(principal.id);
    const to = virtualUsers.identityOf(receiverId);
    const { speaker } = post;
    if (history === null || from === null || to === null) return false;
    if (speaker === null || foldCase(speaker) !== foldCase(from.nick)) return false;
    history.record(from, to, cut(post, Infinity));
    return true;
  }

  #keep(agent: RosterEntry, post: Composition, sending: Sending): string {
    const { speaker, account } = post;
    const { bridgeNick, inboxes, sendLimits } = this.#options;
    const from = speaker ?? bridgeNick;
    const isOwn = speaker === null || (account !== null && foldCase(from) === foldCase(account));
    const delivery: Delivery = {
      from,
      account: speaker === null ? bridgeNick : account,
      text: shownLines(post, from).join("\n"),
      ...(isOwn ? {} : { via: "bridge" }),
    };
    if (account !== null) sendLimits.sent(account);
    return inboxes.deliver(agent, delivery, sending);
  }

  /** Also sends an agent on IRC what is already in its inbox. Returns whether the bridge could. */
  async #showOnIrc(
    agent: RosterEntry,
    post: Composition,
    { principal }: Caller,
  ): Promise<boolean> {
    const { bridge } = this.#options;
    try {
      await bridge?.tell(agent.nick, post, principal);
      return bridge !== null;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const reason = error.message;
      this.#options.log.debug("A message is in an inbox alone", { agent: agent.nick, reason });
      return false;
    }
  }

  async #tellByBridge(to: string, post: Composition, { principal }: Caller): Promise<void> {
    const { bridge } = this.#options;
    if (bridge === null) {
      throw new Unavailable("The bridge is turned off in the configuration (bridge.enabled)");
    }
    try {
      await bridge.tell(to, post, principal);
    } catch (error) {
      throw error instanceof NotFound ? this.#absence(to) : error;
    }
  }

  #absence(to: string): Error {
    const account = this.#options.accounts.find(to);
    return account === null ? nobody(to) : new Conflict(`"${account.name}" is not on IRC now`);
  }
}

/** The account of a caller as the sender of messages. */
function senderIdOf({ id }: Principal): string {
  return id ?? OPERATOR_SENDER;
}

function nobody(name: string): NotFound {
  return new NotFound(`There is no agent or IRC user named "${name}"`);
}
