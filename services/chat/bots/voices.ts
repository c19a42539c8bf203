import type { Bridge } from "../bridge/mod.ts";
import { Conflict, ServiceError, TooMany, Unavailable } from "../../kernel/errors.ts";
import type { IrcServer, ObservedMessage, User } from "../../engines/irc/mod.ts";
import { type Rate, TokenBucket } from "../../kernel/token_bucket.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

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

/** Most lines that wait for their turn. */
const MAX_WAITING = 1000;

interface WaitingLine {
  readonly send: (voice: BotVoice) => Promise<void>;
  /** Who waits for it; null if nobody does. */
  readonly awaited: PromiseWithResolvers<void> | null;
}

interface SpeechOptions {
  readonly voice: () => BotVoice | null;
  /** How fast the bot speaks. */
  readonly pace: () => Rate;
  readonly scheduler: Scheduler;
  /** Called with the number of lines that were not said since the last call. */
  readonly onDropped: (count: number) => void;
}

/** How long a bot waits before it tells how many lines it did not say, in milliseconds. */
const TELL_DROPPED_MS = 60_000;

/** The lines that a bot says: one after the other, at its pace, and at most so many waiting. */
export class Speech {
  readonly #options: SpeechOptions;
  #waiting: WaitingLine[] = [];
  readonly #bucket: TokenBucket;
  #isSending = false;
  /** Ends the wait for the turn of the next line; null without such a wait. */
  #cancel: (() => void) | null = null;
  #dropped = 0;
  #cancelTelling: (() => void) | null = null;

  constructor(options: SpeechOptions) {
    this.#options = options;
    this.#bucket = new TokenBucket(options.pace(), options.scheduler.now());
  }

  say(channel: string, lines: readonly string[], mentions: boolean): void {
    for (const line of lines) this.#add((voice) => voice.say(channel, line, mentions));
  }

  tell(nick: string, lines: readonly string[]): void {
    for (const line of lines) this.#add((voice) => voice.tell(nick, line));
  }

  /**
   * Says lines, and resolves when IRC has them.
   *
   * @throws TooMany if too many lines wait, Unavailable if the bot leaves IRC before, and what the
   * voice throws
   */
  async deliver(channel: string, lines: readonly string[]): Promise<void> {
    await Promise.all(lines.map((line) => {
      const awaited = Promise.withResolvers<void>();
      this.#add((voice) => voice.say(channel, line, false), awaited);
      return awaited.promise;
    }));
  }

  /** Forgets what waits. */
  close(): void {
    if (this.#cancel !== null) this.#isSending = false;
    this.#cancel?.();
    this.#cancel = null;
    this.#cancelTelling?.();
    this.#cancelTelling = null;
    for (const { awaited } of this.#waiting.splice(0)) awaited?.reject(away());
  }

  #add(send: WaitingLine["send"], awaited: WaitingLine["awaited"] = null): void {
    if (this.#waiting.length >= MAX_WAITING) {
      return this.#refuse({ send, awaited }, new TooMany("Too many lines wait already", 60));
    }
    this.#waiting.push({ send, awaited });
    if (!this.#isSending) this.#sendNext();
  }

  #sendNext(): void {
    const voice = this.#options.voice();
    const [next] = this.#waiting;
    this.#isSending = next !== undefined;
    if (next === undefined) return;
    const delay = this.#take();
    if (delay > 0) {
      this.#cancel = this.#options.scheduler.after(delay, () => {
        this.#cancel = null;
        this.#sendNext();
      });
      return;
    }
    this.#waiting.shift();
    if (voice === null) {
      this.#refuse(next, away());
      return this.#sendNext();
    }
    next.send(voice).then(() => next.awaited?.resolve(), (error: unknown) => {
      this.#refuse(next, error);
    }).finally(() => this.#sendNext());
  }

  /** A line is not said: who waits for it learns why; if nobody does, it is counted. */
  #refuse({ awaited }: WaitingLine, error: unknown): void {
    if (awaited !== null) return awaited.reject(error);
    if (!(error instanceof ServiceError)) throw error;
    this.#drop();
  }

  /** Takes the turn of one line; returns the milliseconds until there is one, or 0. */
  #take(): number {
    const { scheduler, pace } = this.#options;
    const now = scheduler.now();
    this.#bucket.follow(pace(), now);
    // A later change of the settings ends a pause.
    return Math.min(this.#bucket.tryTake(now), 1000);
  }

  #drop(): void {
    this.#dropped++;
    const { scheduler, onDropped } = this.#options;
    this.#cancelTelling ??= scheduler.after(TELL_DROPPED_MS, () => {
      this.#cancelTelling = null;
      const dropped = this.#dropped;
      this.#dropped = 0;
      onDropped(dropped);
    });
  }
}

function away(): Unavailable {
  return new Unavailable("The bot is not on IRC");
}
