import type { Bridge } from "../bridge/mod.ts";
import { Conflict } from "../errors.ts";
import type { IrcServer, ObservedMessage, User } from "../irc/mod.ts";

/** A bot on IRC: how it is seen, and how it speaks. */
export interface BotVoice {
  enter(channel: string): void;
  leave(channel: string): void;
  /** Says a line in a channel. Rejects with a ServiceError if IRC refuses it. */
  say(channel: string, line: string, mentions: boolean): Promise<void>;
  /** Sends a line to one user; does nothing if nobody has the nick. */
  tell(nick: string, line: string): Promise<void>;
  /** Returns the reason if it is not possible, or null. */
  kick(channel: string, nick: string, reason: string): string | null;
  changeModes(channel: string, changes: readonly string[]): Promise<string | null>;
  /** Leaves IRC. */
  close(reason: string): void;
}

/** The bots' way to a kind of IRC. */
export interface BotVoices {
  /** @throws Conflict if the nick is in use */
  open(name: string, purpose: string): BotVoice;
  /** Whether a nick is operator in a channel. */
  isChannelOperator(nick: string, channel: string): boolean;
  /**
   * Calls a listener with each private message to a nick that may be a bot's.
   *
   * @returns a function that ends it
   */
  onPrivate(listener: (message: ObservedMessage) => void): () => void;
}

/** What the IRC server in this process tells about the bots' lines. */
export class BotPort {
  #listener: ((message: ObservedMessage) => void) | null = null;
  #isQuiet = false;

  /** Whether the message that is being sent calls nobody by name, whatever its text. */
  get isQuiet(): boolean {
    return this.#isQuiet;
  }

  /** Handles a message that the server accepted. */
  take(message: ObservedMessage): void {
    if (message.receiver !== null && message.command === "PRIVMSG") this.#listener?.(message);
  }

  listen(listener: (message: ObservedMessage) => void): () => void {
    this.#listener = listener;
    return () => this.#listener = null;
  }

  /** Sends something that is in no agent's inbox. */
  quietly<Result>(send: () => Result): Result {
    this.#isQuiet = true;
    try {
      return send();
    } finally {
      this.#isQuiet = false;
    }
  }
}

/** Bots as users without a connection, marked +B, of the IRC server in this process. */
export class ServerVoices implements BotVoices {
  readonly #server: Pick<IrcServer, "addUser" | "channels">;
  readonly #port: BotPort;

  constructor(server: Pick<IrcServer, "addUser" | "channels">, port: BotPort) {
    this.#server = server;
    this.#port = port;
  }

  open(name: string, purpose: string): BotVoice {
    const identity = { nick: name, account: name, realname: purpose, privileged: true };
    const user = this.#server.addUser(identity);
    if (user === null) throw new Conflict(`The nick "${name}" is in use`);
    return new UserVoice(user, this.#port);
  }

  isChannelOperator(nick: string, channel: string): boolean {
    return this.#server.channels.isOperator(nick, channel) === true;
  }

  onPrivate(listener: (message: ObservedMessage) => void): () => void {
    return this.#port.listen(listener);
  }
}

class UserVoice implements BotVoice {
  readonly #user: User;
  readonly #port: BotPort;

  constructor(user: User, port: BotPort) {
    this.#user = user;
    this.#port = port;
  }

  enter(channel: string): void {
    if (!this.#user.isIn(channel)) this.#user.join(channel);
  }

  leave(channel: string): void {
    this.#user.part(channel);
  }

  say(channel: string, line: string, mentions: boolean): Promise<void> {
    const text = fitted(line, this.#user.room(channel));
    const send = () => this.#user.say(channel, [text]);
    const spoken = mentions ? send() : this.#port.quietly(send);
    if (spoken.kind === "sent") return Promise.resolve();
    return Promise.reject(new Conflict(`${channel} refuses the message: ${spoken.reason}`));
  }

  tell(nick: string, line: string): Promise<void> {
    this.#user.notify(nick, [fitted(line, this.#user.room(nick))]);
    return Promise.resolve();
  }

  kick(channel: string, nick: string, reason: string): string | null {
    return this.#user.kick(channel, nick, reason);
  }

  changeModes(channel: string, changes: readonly string[]): Promise<string | null> {
    return this.#user.changeModes(channel, changes);
  }

  close(reason: string): void {
    this.#user.leave(reason);
  }
}

/** The inbox of an agent, as bots use it. */
export interface AgentMail {
  /** Whether the agent also has a connection to IRC. */
  readonly isOnline: boolean;
  /** Keeps a line that a bot tells the agent. */
  keep(bot: string, line: string): void;
}

/** Bots that speak through the bridge, on a network that muster does not run. */
export class BridgeVoices implements BotVoices {
  readonly #bridge: Pick<Bridge, "announce" | "tell">;
  readonly #mailOf: (nick: string) => AgentMail | null;

  /** @param mailOf null if no agent has this nick */
  constructor(
    bridge: Pick<Bridge, "announce" | "tell">,
    mailOf: (nick: string) => AgentMail | null,
  ) {
    this.#bridge = bridge;
    this.#mailOf = mailOf;
  }

  open(name: string): BotVoice {
    const bridge = this.#bridge;
    const impossible = "the bridge is no operator of the network";
    // To a channel that the bridge is in, this is a post: agents that it names get it.
    const tell = (target: string, line: string, isNotice = false) => {
      const post = { speaker: name, account: name, lines: [line], isEnvelope: false, isNotice };
      return bridge.tell(target, post);
    };
    return {
      enter() {},
      leave() {},
      say: (channel, line, mentions) =>
        mentions ? tell(channel, line) : bridge.announce(channel, line, { bot: name }),
      tell: async (nick, line) => {
        // An agent over HTTP or MCP has no other place to read an answer.
        const mail = this.#mailOf(nick);
        mail?.keep(name, line);
        if (mail === null || mail.isOnline) await tell(nick, line, true);
      },
      kick: () => impossible,
      changeModes: () => Promise.resolve(impossible),
      close() {},
    };
  }

  isChannelOperator(): boolean {
    return false;
  }

  onPrivate(): () => void {
    return () => {};
  }
}

const encoder = new TextEncoder();

/** The beginning of a line that fits into so many bytes of UTF-8. */
function fitted(line: string, room: number): string {
  if (line.length * 3 <= room) return line;
  const target = new Uint8Array(Math.max(room - 3, 0));
  const { read, written } = encoder.encodeInto(line, target);
  if (read >= line.length) return line;
  return new TextDecoder().decode(target.subarray(0, written)) + "…";
}
