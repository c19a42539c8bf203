import type { DirectConnection } from "../irc/mod.ts";
import { DirectEvents, type DirectSelf } from "./direct_events.ts";
import { speakerTags } from "./protocol.ts";
import {
  bytesLeftFor,
  type Delivery,
  type DirectConnect,
  MAX_UNDERSCORES,
  type Session,
  type SessionOptions,
  UPKEEP_MILLISECONDS,
} from "./session.ts";

/** The capabilities that the bridge uses. */
const CAPABILITIES = [
  "account-tag batch chghost draft/chathistory draft/message-redaction echo-message",
  "extended-join labeled-response message-tags server-time",
].join(" ");

const NO_TAGS: ReadonlyMap<string, string> = new Map();

/** The end of a server's greeting, with a message of the day and without. */
const GREETED = new Set(["376", "422"]);
const NICK_IN_USE = "433";
const ISUPPORT = "005";

export interface DirectSessionOptions extends SessionOptions {
  readonly connect: DirectConnect;
  readonly username: string;
  readonly realname: string;
}

/**
 * The bridge's connection to the IRC server in this process: an ordinary IRC client, except that it
 * exchanges messages as values, without writing or parsing lines, and has no rate limit.
 */
export class DirectSession implements Session {
  readonly #options: DirectSessionOptions;
  readonly #self: DirectSelf;
  readonly #events: DirectEvents;
  #connection: DirectConnection | null = null;
  #up = false;
  #underscores = 0;
  #cancelTimer: () => void = () => {};
  #lastWords = "";
  #supported: ReadonlyMap<string, string> = NO_TAGS;

  constructor(options: DirectSessionOptions) {
    this.#options = options;
    this.#self = { nick: options.nick, userHost: "", account: null };
    this.#events = new DirectEvents(this.#self, options.onEvent);
  }

  get up(): boolean {
    return this.#up;
  }

  get nick(): string {
    return this.#self.nick;
  }

  get delay(): number {
    return 0;
  }

  get playback(): number {
    return Number(this.#supported.get("CHATHISTORY")) || 0;
  }

  connect(): void {
    const { connect, nick, username, realname } = this.#options;
    this.#connection = connect.direct({
      message: (message, tags) => {
        if (!this.#up) this.#greet(message.command, message.params);
        if (message.command === "ERROR") this.#lastWords = String(message.text ?? "");
        this.#events.take(message, tags);
      },
      closed: (reason) => this.#ended(reason),
    });
    this.#send("CAP", ["REQ", CAPABILITIES]);
    this.#send("NICK", [nick]);
    this.#send("USER", [username, "0", "*", realname]);
    this.#send("CAP", ["END"]);
  }

  leave(reason: string): void {
    this.#cancelTimer();
    if (this.#up) this.#send("QUIT", [reason]);
    this.#connection?.close();
  }

  abandon(reason: string): void {
    this.#lastWords = reason;
    this.#send("QUIT", [reason]);
    this.#connection?.close();
  }

  join(channel: string): void {
    this.#send("JOIN", [channel]);
  }

  part(channel: string, reason: string): void {
    this.#send("PART", [channel, reason]);
  }

  admit(): number {
    return 0;
  }

  say(
    channel: string,
    texts: readonly string[],
    labels: readonly string[],
    { speaker, isNotice, id, mayGo = () => true }: Delivery,
  ): void {
    const speakerOfAll = speaker === null ? [] : speakerTags(speaker);
    for (const [index, text] of texts.entries()) {
      const label = labels[index] ?? "";
      if (!mayGo(label)) continue;
      const tags = new Map([["label", label], ...speakerOfAll]);
      this.#send(isNotice ? "NOTICE" : "PRIVMSG", [channel, text], tags, id);
    }
  }

  playBack(part: string, limit: number, label: string): void {
    this.#send("CHATHISTORY", [...part.split(" "), String(limit)], new Map([["label", label]]));
  }

  room(channel: string): number {
    const lineLength = Number(this.#supported.get("LINELEN")) || 0;
    return bytesLeftFor(channel, { ...this.#self, lineLength });
  }

  #send(command: string, params: readonly string[], tags = NO_TAGS, id?: string): void {
    this.#connection?.send({ command, params, tags, id });
  }

  /** Handles the server's messages before registration is complete. */
  #greet(command: string, params: readonly string[]): void {
    if (command === NICK_IN_USE) return this.#tryOtherNick();
    if (command === ISUPPORT) return this.#noteSupported(params);
    if (!GREETED.has(command)) return;
    // The first parameter of a numeric is the nick that the server knows us by.
    this.#self.nick = params[0] ?? this.#self.nick;
    const botMode = this.#supported.get("BOT");
    if (botMode !== undefined) this.#send("MODE", [this.nick, `+${botMode}`]);
    this.#up = true;
    this.#scheduleUpkeep();
    this.#options.onUp();
  }

  #noteSupported(tokens: readonly string[]): void {
    const supported = new Map(this.#supported);
    for (const token of tokens) {
      const equals = token.indexOf("=");
      if (equals > 0) supported.set(token.slice(0, equals), token.slice(equals + 1));
    }
    this.#supported = supported;
  }

  #tryOtherNick(): void {
    const { nick, log } = this.#options;
    if (this.#underscores < MAX_UNDERSCORES) {
      return this.#send("NICK", [`${nick}${"_".repeat(++this.#underscores)}`]);
    }
    log.warn("The bridge's nick is in use", { nick });
    this.abandon("Nick in use");
  }

  #scheduleUpkeep(): void {
    const { nick, scheduler } = this.#options;
    this.#cancelTimer = scheduler.after(UPKEEP_MILLISECONDS, () => {
      if (this.nick !== nick) this.#send("NICK", [nick]);
      this.#scheduleUpkeep();
    });
  }

  #ended(reason: string): void {
    this.#cancelTimer();
    this.#up = false;
    this.#connection = null;
    this.#options.onClosed(this.#lastWords || reason);
  }
}
