import { createHash } from "node:crypto";
import type { RosterEntry, SendLimits } from "../../people/agents/mod.ts";
import {
  type Bridge,
  compose,
  type Composition,
  cut,
  type NewPost,
  shownLines,
} from "../bridge/mod.ts";
import { Conflict, Invalid, NotFound, ServiceError, Unavailable } from "../../kernel/errors.ts";
import {
  type AccountDirectory,
  type Caller,
  isServiceName,
  type Principal,
  speakerId,
} from "../../people/identity/mod.ts";
import { foldCase, isNick, type UserIdentity } from "../../engines/irc/mod.ts";
import type { VirtualUsers } from "../irc_server/virtual_users/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Log } from "../../kernel/log.ts";
import { formatMicroseconds } from "../messages/mod.ts";
import type { Delivery, Sending } from "./arrivals.ts";
import { type AddressedText, type EntryState, OPERATOR_SENDER, stateOf } from "./entry.ts";
import type { InboxDoor } from "./inboxes.ts";

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

/** What of an entry says whether it can be answered. */
type AnswerableEntry = Pick<AddressedText, "kind" | "from" | "channel" | "via">;

/** Conversations of accounts, as the IRC server keeps them. */
interface DirectHistory {
  /** Whether it takes messages at the moment. */
  readonly takesMessages: boolean;
  /**
   * Adds a message of an account to one that is absent.
   *
   * @param id the message's id; a new one, if absent
   * @throws Unavailable if a text cannot be stored
   */
  record(from: UserIdentity, to: UserIdentity, texts: readonly string[], id?: string): void;
  /** Whether an account has said this to the user of a nick. */
  hasSaid(from: UserIdentity, nick: string, id: string): Promise<boolean>;
}

/** A message on its way, and whose it is. */
interface Outgoing {
  readonly composed: Composition;
  readonly sending: Sending;
}

/** Who calls, and the id that the message gets; a new one, if absent. */
interface Recording {
  readonly caller: Caller;
  readonly id: string | undefined;
}

export interface DirectMessagesOptions {
  readonly roster: { receiver(nick: string): RosterEntry | null };
  readonly accounts: Pick<AccountDirectory, "find" | "nameOf">;
  readonly virtualUsers: Pick<
    VirtualUsers,
    "tell" | "room" | "attends" | "requireVoice" | "requireGoing" | "admit" | "identityOf"
  >;
  readonly inboxes: Pick<
    InboxDoor,
    "deliver" | "delivered" | "showing" | "requireRoom" | "flush" | "sent" | "copies"
  >;
  readonly sendLimits: Pick<SendLimits, "sent">;
  /** Whether the account has a connection to IRC. */
  readonly isOnline: (account: string) => boolean;
  /** The history of the IRC server of this program; null on an external network. */
  readonly history: DirectHistory | null;
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
   * has it. A message with a `clientId` is sent once, however often the same caller sends it; if the
   * bridge sends it to a person, as long as the program runs. An agent's IRC connection gets it
   * once it is in the inbox: nobody reads what a crash takes back.
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
      if (receiver === null) return await this.#sendToUser(to, { composed, sending }, caller);
      const earlier = await this.#options.inboxes.sent(sending);
      if (earlier === null) return await this.#sendToAgent(receiver, { composed, sending }, caller);
      if (earlier.accountId !== receiver.id) throw usedForAnother(clientId ?? "");
      if (earlier.state === "queued") await this.#complete(receiver, earlier.id, composed, caller);
      return earlier.id;
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
    const own = speakerId(principal);
    const known = copies.filter(({ accountId }) => mayKnowAll || accountId === own);
    const [first] = known;
    if (first === undefined) throw new NotFound(`There is no message "${id}", or it is not yours`);
    return {
      id,
      timestamp: formatMicroseconds(first.time),
      clientId: mayKnowAll ? first.clientId : null,
      receivers: known.map(({ accountId, state, stateAt, expiresAt }) => ({
        nick: this.#options.accounts.nameOf(accountId),
        state: stateOf(state),
        stateAt: stateAt === 0 ? null : stateAt,
        expiresAt: state === "queued" ? expiresAt : null,
      })),
    };
  }

  /**
   * Where an answer to an entry of an agent's inbox goes: a nick or a channel.
   *
   * @returns null if nobody would get one
   */
  placeOfAnswer(nick: string, entry: AnswerableEntry): string | null {
    const { kind, from, channel, via } = entry;
    if (foldCase(from) === foldCase(nick)) return null;
    if (kind === "mention") return channel;
    if (kind !== "message" || !isNick(from) || isServiceName(from)) return null;
    const { accounts, bridgeNick, otherBridges } = this.#options;
    const bridges = [bridgeNick, ...otherBridges()];
    if (bridges.some((bridge) => foldCase(bridge) === foldCase(from))) return null;
    const account = accounts.find(from);
    // A name under which the operator speaks may be nobody's.
    if (account === null) return via === undefined ? from : null;
    return account.revokedAt === null ? from : null;
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
    return roster.receiver(to);
  }

  async #sendToAgent(
    agent: RosterEntry,
    { composed, sending }: Outgoing,
    caller: Caller,
  ): Promise<string> {
    const { virtualUsers, inboxes, history } = this.#options;
    const units = composed.lines.reduce((sum, line) => sum + line.length + 1, 0);
    await inboxes.requireRoom(agent, units);
    if (history?.takesMessages === false) throw notStored();
    const own = this.#ownLines(agent.nick, composed, caller);
    virtualUsers.admit(caller.principal, own?.length ?? composed.lines.length);
    const id = this.#keep(agent, composed, sending);
    await inboxes.flush();
    // Another node, or this one before a crash, may have stored the same message first.
    const stored = await inboxes.sent(sending);
    if (stored !== null && stored.id !== id) return stored.id;
    if (await this.#show(agent, { composed, own, id }, caller)) inboxes.delivered(agent, id);
    return id;
  }

  /** Shows what was stored, unless it was shown before a crash or a failure of the disk. */
  async #complete(agent: RosterEntry, id: string, composed: Composition, caller: Caller) {
    const { history, inboxes, virtualUsers } = this.#options;
    const from = this.#identityOf(caller);
    if (from !== null && await history?.hasSaid(from, agent.nick, id)) return;
    const own = this.#ownLines(agent.nick, composed, caller);
    virtualUsers.admit(caller.principal, own?.length ?? composed.lines.length);
    if (await this.#show(agent, { composed, own, id }, caller)) inboxes.delivered(agent, id);
  }

  /**
   * Puts what is in an agent's inbox into its conversation, too, and sends it to its IRC connection.
   *
   * @returns whether such a connection got it
   */
  async #show(
    agent: RosterEntry,
    { composed, own, id }: {
      readonly composed: Composition;
      /** Its lines, if its sender is a user of the IRC server. */
      readonly own: readonly string[] | null;
      readonly id: string;
    },
    caller: Caller,
  ): Promise<boolean> {
    const { virtualUsers, inboxes, isOnline, sendLimits, log } = this.#options;
    const { answered, account } = composed;
    const told = own === null || !virtualUsers.attends(agent)
      ? null
      : inboxes.showing(() =>
        virtualUsers.tell(caller.principal, agent.nick, own, { answered, id })
      );
    if (told?.kind === "sent") return isOnline(agent.nick);
    if (account !== null) sendLimits.sent(account);
    try {
      this.#record(agent.id, composed, { caller, id });
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      log.debug("A message is in an inbox alone", { agent: agent.nick, reason: error.message });
    }
    return isOnline(agent.nick) && await this.#showOnIrc(agent, composed, caller);
  }

  async #sendToUser(to: string, { composed, sending }: Outgoing, caller: Caller): Promise<null> {
    const { virtualUsers, sendLimits, history, accounts } = this.#options;
    const { principal } = caller;
    const id = lastingId(sending);
    const from = this.#identityOf(caller);
    if (id !== undefined && from !== null) {
      const nick = accounts.find(to)?.name ?? to;
      if (await history?.hasSaid(from, nick, id)) return null;
    }
    const lines = this.#ownLines(to, composed, caller);
    virtualUsers.admit(principal, lines?.length ?? composed.lines.length);
    const { answered } = composed;
    const told = lines === null ? null : virtualUsers.tell(principal, to, lines, { answered, id });
    if (told === null) {
      await this.#tellByBridge(to, composed, caller);
      if (composed.account !== null) sendLimits.sent(composed.account);
    } else if (told.kind === "absent") this.#leave(to, composed, { caller, id });
    else if (told.kind === "unavailable") throw new Unavailable(refused(told.reason));
    else if (told.kind === "refused") throw new Conflict(refused(told.reason));
    return null;
  }

  /** The lines of a message of a caller that is a user of the IRC server; null if it is not one. */
  #ownLines(nick: string, post: Composition, { principal }: Caller): readonly string[] | null {
    const room = this.#options.virtualUsers.room(principal, nick);
    return room === null ? null : cut(post, room);
  }

  /**
   * Leaves a message for a person or an admin who is not present.
   *
   * @throws NotFound, Conflict if there is nobody to leave it for
   */
  #leave(to: string, post: Composition, recording: Recording): void {
    const account = this.#options.accounts.find(to);
    const isPersons = account !== null && account.kind !== "agent" && account.revokedAt === null;
    if (!isPersons || !this.#record(account.id, post, recording)) throw this.#absence(to);
  }

  /**
   * Adds a message to the history of a caller that acts as itself and of the receiver.
   *
   * @returns whether there is such a history
   * @throws Unavailable if it takes no messages at the moment
   */
  #record(receiverId: string, post: Composition, { caller, id }: Recording): boolean {
    const { history, virtualUsers } = this.#options;
    const from = this.#identityOf(caller);
    const to = virtualUsers.identityOf(receiverId);
    const { speaker } = post;
    if (history === null || from === null || to === null) return false;
    if (speaker === null || foldCase(speaker) !== foldCase(from.nick)) return false;
    history.record(from, to, cut(post, Infinity), id);
    return true;
  }

  #identityOf({ principal }: Caller): UserIdentity | null {
    const id = speakerId(principal);
    return id === null ? null : this.#options.virtualUsers.identityOf(id);
  }

  #keep(agent: RosterEntry, post: Composition, sending: Sending): string {
    const { speaker, account } = post;
    const { bridgeNick, inboxes } = this.#options;
    const from = speaker ?? bridgeNick;
    const isOwn = speaker === null || (account !== null && foldCase(from) === foldCase(account));
    const delivery: Delivery = {
      from,
      account: speaker === null ? bridgeNick : account,
      text: shownLines(post, from).join("\n"),
      ...(isOwn ? {} : { via: "bridge" }),
    };
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

/** The id that a message always has which its sender repeats; undefined if it does not. */
function lastingId({ senderId, clientId }: Sending): string | undefined {
  if (clientId === null) return undefined;
  return createHash("sha256").update(`${senderId} ${clientId}`).digest("hex").slice(0, 40);
}

function refused(reason: string): string {
  return `IRC refused the message: ${reason}`;
}

/** The error for a message that the history does not take. */
export function notStored(): Unavailable {
  return new Unavailable("The message cannot be stored at the moment: try again");
}

/** The account of a caller as the sender of messages. */
function senderIdOf({ id }: Principal): string {
  return id ?? OPERATOR_SENDER;
}

function nobody(name: string): NotFound {
  return new NotFound(`There is no agent or IRC user named "${name}"`);
}

/** Sends that are remembered; the database knows older ones to agents. */
const MAX_SENDS = 5000;

interface Send {
  readonly receiver: string;
  readonly result: Promise<string | null>;
}

/** Sends a message once whose sender repeats it with the same id. */
export class Repeats {
  readonly #sends = new BoundedMap<string, Send>(MAX_SENDS);

  /**
   * Sends a message, unless its sender sent one with this id before.
   *
   * @param receiver identifies the receiver
   * @returns the result of the first send
   * @throws Conflict if the id belongs to a message for another receiver, and what `send` throws
   */
  async once(
    { senderId, clientId }: Sending,
    receiver: string,
    send: () => Promise<string | null>,
  ): Promise<string | null> {
    if (clientId === null) return await send();
    const key = `${senderId} ${clientId}`;
    const known = this.#sends.peek(key);
    if (known !== undefined) {
      if (known.receiver !== receiver) throw usedForAnother(clientId);
      return await known.result;
    }
    const result = send();
    this.#sends.set(key, { receiver, result });
    try {
      return await result;
    } catch (error) {
      this.#sends.delete(key);
      throw error;
    }
  }
}

/** The error for an id that belongs to a message for somebody else. */
function usedForAnother(clientId: string): Conflict {
  return new Conflict(
    `You gave the id "${clientId}" to a message for another receiver: give each message its own id`,
  );
}
