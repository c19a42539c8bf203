import { Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Rate } from "../../kernel/token_bucket.ts";
import type { BridgeLogin } from "./types.ts";
import type { LinkEvent, PeerBridges } from "./link_events.ts";
import { DirectSession } from "./direct_session.ts";
import { LinkSession } from "./link_session.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Delivery, DirectConnect, Session } from "./session.ts";
import { type Connect, transportOver } from "./transport.ts";

export interface LinkOptions {
  readonly nick: string;
  readonly connect: Connect | DirectConnect;
  /** Called before each connection; returns the login, or null for none. */
  readonly login: () => Promise<BridgeLogin | null>;
  /** The password for PASS, or null. */
  readonly serverPassword: string | null;
  /** The rate of outgoing lines; null for no limit. */
  readonly pace: Rate | null;
  /** The bridges of other nodes; null without nodes. */
  readonly peers: PeerBridges | null;
  readonly scheduler: Scheduler;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Log;
  /** Called in the order of the server's lines. */
  readonly onEvent: (event: LinkEvent) => void;
}

const FIRST_RETRY_MILLISECONDS = 250;
const LAST_RETRY_MILLISECONDS = 30_000;

/** A connection that lasted this long resets the delay between retries. */
const STABLE_MILLISECONDS = 10_000;

/** The bridge's identity on IRC. */
const USER_NAME = "bridge";
const REAL_NAME = "muster bridge";

/** IRCv3 capabilities that the bridge uses, beside those that the client requests itself. */
const CAPABILITIES = [
  "labeled-response",
  "draft/message-redaction",
  "draft/chathistory",
] as const;

/**
 * The bridge's connection to IRC: direct to the server in this process, and through irc-framework
 * to any other. It reconnects after a delay that doubles with each failure and is shortened at
 * random by up to a half.
 */
export class Link {
  readonly #options: LinkOptions;
  #session: Session | null = null;
  #failures = 0;
  #cancelRetry: () => void = () => {};
  #upSince = 0;
  #stopped: (() => void) | null = null;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get up(): boolean {
    return this.#session?.up ?? false;
  }

  /** Our nick on the network. */
  get nick(): string {
    return this.#session?.nick ?? this.#options.nick;
  }

  /** Milliseconds until a new line would be sent. */
  get delay(): number {
    return this.#session?.delay ?? 0;
  }

  start(): void {
    this.#open().catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      if (this.#stopped === null) this.#retry(reason);
    });
  }

  /** Leaves the network for good. Resolves when the connection is closed. */
  async stop(reason: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stopped = resolve;
    this.#cancelRetry();
    if (this.#session === null) return;
    this.#session.leave(reason);
    await promise;
  }

  /** Reconnects. */
  reconnect(reason: string): void {
    this.#session?.abandon(reason);
  }

  join(channel: string): void {
    this.#session?.join(channel);
  }

  part(channel: string, reason: string): void {
    this.#session?.part(channel, reason);
  }

  /** As {@link Session.admit}. */
  admit(messages: number): number {
    if (this.#session?.up) return this.#session.admit(messages);
    throw new Unavailable("The IRC connection was lost");
  }

  /** As {@link Session.say}. */
  say(
    channel: string,
    texts: readonly string[],
    labels: readonly string[],
    delivery: Delivery,
  ): void {
    this.#session?.say(channel, texts, labels, delivery);
  }

  /** As {@link Session.playback}. */
  get playback(): number {
    return this.#session?.playback ?? 0;
  }

  /** As {@link Session.playBack}. */
  playBack(part: string, limit: number, label: string): void {
    this.#session?.playBack(part, limit, label);
  }

  /** Bytes of text that one message to the channel can have, as the server sends it to others. */
  room(channel: string): number {
    return this.#session?.room(channel) ?? 0;
  }

  async #open(): Promise<void> {
    const { connect } = this.#options;
    const session = typeof connect === "function"
      ? await this.#lineSession(connect)
      : this.#directSession(connect);
    if (this.#stopped !== null || session === null) return;
    session.connect();
    this.#session = session;
  }

  #directSession(connect: DirectConnect): Session {
    return new DirectSession({
      ...this.#options,
      connect,
      username: USER_NAME,
      realname: REAL_NAME,
      onUp: () => this.#opened(),
      onClosed: (reason) => this.#closed(reason),
    });
  }

  /** Null if the link was stopped meanwhile. */
  async #lineSession(connect: Connect): Promise<Session | null> {
    const { Client, ircLineParser } = await import("./irc_framework.ts");
    const { nick, serverPassword, log } = this.#options;
    const login = await this.#options.login();
    if (this.#stopped !== null) return null;
    const onFailure = (error: unknown) => log.error("An IRC line failed", { error });
    const client = new Client({
      nick,
      username: USER_NAME,
      gecos: REAL_NAME,
      transport: transportOver(connect, onFailure),
      auto_reconnect: false,
      enable_echomessage: true,
      ping_interval: 0,
      ping_timeout: 0,
      version: null,
      password: serverPassword ?? "",
      account: login ?? {},
      sasl_disconnect_on_fail: false,
    });
    for (const capability of CAPABILITIES) client.requestCap(capability);
    return new LinkSession({
      ...this.#options,
      client,
      login,
      parseLine: ircLineParser,
      onUp: () => this.#opened(),
      onClosed: (reason) => this.#closed(reason),
    });
  }

  #opened(): void {
    const { scheduler, onEvent } = this.#options;
    this.#upSince = scheduler.now();
    onEvent({ kind: "up" });
  }

  #closed(reason: string): void {
    const { scheduler, onEvent } = this.#options;
    this.#session = null;
    const wasUp = this.#upSince > 0;
    if (wasUp && scheduler.now() - this.#upSince >= STABLE_MILLISECONDS) this.#failures = 0;
    this.#upSince = 0;
    if (wasUp) onEvent({ kind: "down" });
    if (this.#stopped !== null) return this.#stopped();
    this.#retry(reason);
  }

  /** Connects again, later with each failure. */
  #retry(reason: string): void {
    const { scheduler, random, log } = this.#options;
    const longest = FIRST_RETRY_MILLISECONDS * 2 ** Math.min(this.#failures++, 16);
    const delay = Math.min(longest, LAST_RETRY_MILLISECONDS) * (1 - random() / 2);
    const retryInMilliseconds = Math.round(delay);
    log.warn("The bridge has no IRC connection", { reason, retryInMilliseconds });
    this.#cancelRetry = scheduler.after(delay, () => this.start());
  }
}
