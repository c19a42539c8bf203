import type { RosterEntry, SendLimits } from "../agents/mod.ts";
import { type Bridge, compose, type Composition, cut, type NewPost } from "../bridge/mod.ts";
import { Conflict, Invalid, NotFound, ServiceError, Unavailable } from "../errors.ts";
import { type AccountDirectory, type Caller, isServiceName } from "../identity/mod.ts";
import { foldCase, isNick } from "../irc/mod.ts";
import type { Log } from "../log.ts";
import type { VirtualUsers } from "../irc_server/virtual_users/mod.ts";
import type { Inboxes } from "./inboxes.ts";

export interface DirectMessagesOptions {
  readonly roster: { find(nick: string): RosterEntry | null };
  readonly accounts: Pick<AccountDirectory, "find">;
  readonly virtualUsers: Pick<VirtualUsers, "tell" | "attends" | "requireVoice" | "admit">;
  readonly inboxes: Pick<Inboxes, "deliver">;
  readonly sendLimits: Pick<SendLimits, "sent">;
  /** Whether the account has a connection to IRC. */
  readonly isOnline: (account: string) => boolean;
  /** Null if the configuration turns the bridge off. */
  readonly bridge: Pick<Bridge, "tell"> | null;
  readonly bridgeNick: string;
  readonly log: Log;
}

/**
 * Private messages to an agent or IRC user, from callers over HTTP and MCP.
 *
 * If muster runs the IRC server, an agent sends under its own nick. For others, and on an external
 * network, the bridge sends, with the speaker's name in front. A message to an agent is in its
 * inbox, whether or not the agent is present.
 */
export class DirectMessages {
  readonly #options: DirectMessagesOptions;

  constructor(options: DirectMessagesOptions) {
    this.#options = options;
  }

  /**
   * Sends a message to the user of a nick. Resolves when it is in the agent's inbox, or IRC has it.
   *
   * @throws Invalid and TooLarge for the text, and if the receiver is the speaker; Forbidden if the
   * caller may not use the nick or is paused; NotFound if nobody has the name; Conflict if the
   * receiver cannot receive messages, such as a person who is not on IRC; TooMany; Unavailable
   * while IRC is away; TimedOut if it does not confirm the message
   */
  async send(to: string, post: NewPost, caller: Caller): Promise<void> {
    const composed = compose(post, caller.principal);
    this.#options.virtualUsers.requireVoice(caller.principal);
    const receiver = this.#receiver(to);
    const speaker = composed.speaker ?? this.#options.bridgeNick;
    if (foldCase(speaker) === foldCase(to)) throw new Invalid("You cannot send yourself a message");
    if (receiver !== null) return await this.#sendToAgent(receiver, composed, caller);
    await this.#sendToUser(to, composed, caller);
  }

  /** The agent of this name; null if there is none. */
  #receiver(to: string): RosterEntry | null {
    const { roster, accounts, bridgeNick } = this.#options;
    if (to.startsWith("#")) {
      throw new NotFound(`"${to}" is a channel: post to /v1/channels/${to.slice(1)}/messages`);
    }
    if (!isNick(to)) throw nobody(to);
    if (foldCase(to) === foldCase(bridgeNick)) {
      throw new Conflict(`"${bridgeNick}" is the bridge, which reads no private messages`);
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

  async #sendToAgent(agent: RosterEntry, post: Composition, caller: Caller): Promise<void> {
    const { virtualUsers, isOnline } = this.#options;
    if (virtualUsers.attends(agent)) {
      const told = this.#tell(agent.nick, post, caller);
      if (told === "told") return;
    }
    virtualUsers.admit(caller.principal, post.lines.length);
    this.#keep(agent, post);
    if (isOnline(agent.nick)) await this.#showOnIrc(agent, post);
  }

  async #sendToUser(to: string, post: Composition, caller: Caller): Promise<void> {
    const { virtualUsers, sendLimits } = this.#options;
    const told = this.#tell(to, post, caller);
    if (told === "told") return;
    if (told === "absent") throw this.#absence(to);
    virtualUsers.admit(caller.principal, post.lines.length);
    await this.#tellByBridge(to, post);
    if (post.account !== null) sendLimits.sent(post.account);
  }

  /** Sends the message as the caller's user of the IRC server; null if the caller is not one. */
  #tell(nick: string, post: Composition, { principal }: Caller): "told" | "absent" | null {
    const told = this.#options.virtualUsers.tell(principal, nick, (room) => cut(post, room));
    if (told === null || told.kind === "absent") return told?.kind ?? null;
    if (told.kind === "refused") throw new Conflict(`IRC refused the message: ${told.reason}`);
    return "told";
  }

  #keep(agent: RosterEntry, { speaker, account, lines }: Composition): void {
    const { bridgeNick, inboxes, sendLimits } = this.#options;
    const from = speaker ?? bridgeNick;
    const isOwn = speaker === null || (account !== null && foldCase(from) === foldCase(account));
    inboxes.deliver(agent, {
      from,
      account: speaker === null ? bridgeNick : account,
      text: lines.join("\n"),
      ...(isOwn ? {} : { via: "bridge" }),
    });
    if (account !== null) sendLimits.sent(account);
  }

  /** Also sends an agent on IRC what is already in its inbox, if the bridge can. */
  async #showOnIrc(agent: RosterEntry, post: Composition): Promise<void> {
    try {
      await this.#options.bridge?.tell(agent.nick, post);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const reason = error.message;
      this.#options.log.debug("A message is in an inbox alone", { agent: agent.nick, reason });
    }
  }

  async #tellByBridge(to: string, post: Composition): Promise<void> {
    const { bridge } = this.#options;
    if (bridge === null) {
      throw new Unavailable("The bridge is turned off in the configuration (bridge.enabled)");
    }
    try {
      await bridge.tell(to, post);
    } catch (error) {
      throw error instanceof NotFound ? this.#absence(to) : error;
    }
  }

  #absence(to: string): Error {
    const account = this.#options.accounts.find(to);
    return account === null ? nobody(to) : new Conflict(`"${account.name}" is not on IRC now`);
  }
}

function nobody(name: string): NotFound {
  return new NotFound(`There is no agent or IRC user named "${name}"`);
}
