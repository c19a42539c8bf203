import type { Log } from "../log.ts";
import type { BridgeLogin } from "./options.ts";
import type { Client, ParsedLine } from "./irc_framework.d.ts";
import { type LinkEvent, reportEvents } from "./link_events.ts";
import type { Scheduler } from "../scheduler.ts";
import { byteLength } from "./text.ts";
import { type Connect, transportOver } from "./transport.ts";

export interface LinkOptions {
  readonly nick: string;
  readonly connect: Connect;
  /** Asked before each connection: what to log in with, null for nothing. */
  readonly login: () => Promise<BridgeLogin | null>;
  /** What the server asks of everybody who connects, or null. */
  readonly serverPassword: string | null;
  readonly scheduler: Scheduler;
  /** A number from 0 to 1, for jitter. */
  readonly random: () => number;
  readonly log: Log;
  /** Called in the order of the server's lines. */
  readonly onEvent: (event: LinkEvent) => void;
}

/** Without these the bridge cannot tell its own messages from those of others. */
const NEEDED_CAPABILITIES = ["echo-message", "labeled-response", "message-tags"] as const;

/** How long the server has to let us in. */
const REGISTRATION_MILLISECONDS = 30_000;

const FIRST_RETRY_MILLISECONDS = 250;
const LAST_RETRY_MILLISECONDS = 30_000;

/** A connection that lasted this long was a good one: the next retry is a first one again. */
const STABLE_MILLISECONDS = 10_000;

/** How long the server has to close the connection after QUIT. */
const QUIT_MILLISECONDS = 1000;

/** Longest line where the server names none (RFC 1459), with CR LF. */
const CLASSIC_LINE_BYTES = 512;

/** `user@host` of ours before the server has told it: as long as one can be. */
const LONGEST_USER_HOST = 32 + 1 + 64;

/**
 * The bridge's connection to IRC, through irc-framework. It comes back by itself, after a time that
 * doubles with each failure and is cut at random by up to a half.
 */
export class Link {
  readonly #options: LinkOptions;
  #client: Client | null = null;
  #up = false;
  #userHostBytes = LONGEST_USER_HOST;
  #failures = 0;
  #cancelTimer: () => void = () => {};
  #upSince = 0;
  #stopped: (() => void) | null = null;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  get up(): boolean {
    return this.#up;
  }

  /** Our nick on the network. */
  get nick(): string {
    return this.#client?.user.nick ?? this.#options.nick;
  }

  start(): void {
    this.#open().catch((error: unknown) => {
      this.#options.log.warn("The bridge cannot connect to IRC", { error });
      if (this.#stopped === null) this.#retry();
    });
  }

  /** Leaves the network for good. Resolves when the connection is closed. */
  async stop(reason: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stopped = resolve;
    this.#cancelTimer();
    const client = this.#client;
    if (client === null) return;
    if (this.#up) {
      this.#cancelTimer = this.#options.scheduler.after(QUIT_MILLISECONDS, () => {
        client.quit(reason);
      });
      client.raw(`QUIT :${reason}`);
    } else {
      client.quit(reason);
    }
    await promise;
  }

  join(channel: string): void {
    this.#client?.join(channel);
  }

  part(channel: string, reason: string): void {
    this.#client?.part(channel, reason);
  }

  /**
   * Sends a line to a channel. Its echo, or the refusal, carries the label.
   *
   * @param text at most {@link room} bytes
   */
  say(channel: string, text: string, label: string): void {
    this.#client?.raw(`@label=${label} PRIVMSG ${channel} :${text}`);
  }

  /** Bytes of text that one message to the channel can have, as the server sends it to others. */
  room(channel: string): number {
    const lineLength = Number(this.#client?.network.supports("LINELEN")) || CLASSIC_LINE_BYTES;
    const frame = byteLength(`:${this.nick}!@ PRIVMSG ${channel} :\r\n`);
    return lineLength - frame - this.#userHostBytes;
  }

  async #open(): Promise<void> {
    const { Client, ircLineParser } = await import("./irc_framework.ts");
    const { nick, connect, serverPassword, log, scheduler } = this.#options;
    const login = await this.#options.login();
    if (this.#stopped !== null) return;
    const client = new Client({
      nick,
      username: "bridge",
      gecos: "muster bridge",
      transport: transportOver(connect, (error) => log.error("An IRC line failed", { error })),
      auto_reconnect: false,
      enable_echomessage: true,
      ping_interval: 0,
      ping_timeout: 0,
      version: null,
      password: serverPassword ?? "",
      account: login ?? {},
      sasl_disconnect_on_fail: true,
    });
    client.requestCap("labeled-response");
    client.requestCap("draft/message-redaction");
    this.#client = client;
    this.#listen(client, ircLineParser);
    this.#cancelTimer = scheduler.after(REGISTRATION_MILLISECONDS, () => {
      log.warn("The IRC server did not let the bridge in in time");
      client.quit("No answer");
    });
    client.connect();
  }

  #listen(client: Client, parseLine: (line: string) => ParsedLine): void {
    const { log, scheduler, onEvent } = this.#options;
    // The last thing of a server's greeting: by then it has told its limits (005).
    client.on("motd", () => {
      if (!this.#up) this.#greeted(client);
    });
    client.on("close", () => this.#closed(client));
    client.on("nick in use", ({ nick }) => {
      if (this.#up) return;
      log.warn("The bridge's nick is in use", { nick });
      client.quit("Nick in use");
    });
    reportEvents(client, parseLine, scheduler, {
      event: (event) => {
        if (this.#client === client) onEvent(event);
      },
      ownHost: (userHost) => this.#userHostBytes = byteLength(userHost),
    });
  }

  #greeted(client: Client): void {
    const { log, scheduler, onEvent } = this.#options;
    const missing = NEEDED_CAPABILITIES.filter((name) => !client.network.cap.isEnabled(name));
    if (missing.length > 0) {
      log.error("The IRC server lacks capabilities that the bridge needs", { missing });
      return client.quit("Missing capabilities");
    }
    this.#cancelTimer();
    const botMode = client.network.supports("BOT");
    if (typeof botMode === "string") client.raw(`MODE ${client.user.nick} +${botMode}`);
    this.#up = true;
    this.#upSince = scheduler.now();
    onEvent({ kind: "up" });
  }

  #closed(client: Client): void {
    if (this.#client !== client) return;
    const { scheduler, onEvent } = this.#options;
    this.#cancelTimer();
    this.#client = null;
    this.#userHostBytes = LONGEST_USER_HOST;
    if (this.#up && scheduler.now() - this.#upSince >= STABLE_MILLISECONDS) this.#failures = 0;
    const wasUp = this.#up;
    this.#up = false;
    if (wasUp) onEvent({ kind: "down" });
    if (this.#stopped !== null) return this.#stopped();
    this.#retry();
  }

  /** Connects again, later with each failure. */
  #retry(): void {
    const { scheduler, random, log } = this.#options;
    const longest = FIRST_RETRY_MILLISECONDS * 2 ** Math.min(this.#failures++, 16);
    const delay = Math.min(longest, LAST_RETRY_MILLISECONDS) * (1 - random() / 2);
    log.warn("The bridge has no IRC connection", { retryInMilliseconds: Math.round(delay) });
    this.#cancelTimer = scheduler.after(delay, () => this.start());
  }
}
