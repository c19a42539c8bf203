import { Unavailable } from "../../kernel/errors.ts";
import { foldCase, formatTags } from "../../engines/irc/mod.ts";
import { type Rate, TokenBucket } from "../../kernel/token_bucket.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { byteLength } from "./composition.ts";
import type { Client, ParsedLine } from "./irc_framework.d.ts";
import type { LinkEvent, LinkMessage, PeerBridges } from "./link_events.ts";
import { reportEvents } from "./link_reports.ts";
import { QUIET, speakerTags } from "./protocol.ts";
import {
  bytesLeftFor,
  type Delivery,
  MAX_UNDERSCORES,
  type Session,
  type SessionOptions,
  UPKEEP_MILLISECONDS,
} from "./session.ts";
import type { BridgeLogin } from "./types.ts";

/** How long the server may take to register the bridge. */
const REGISTRATION_MILLISECONDS = 30_000;

/** How long NickServ may take to log the bridge in. */
const IDENTIFY_MILLISECONDS = 5000;

/** The same while services are away: they come back soon after a restart of the network. */
const SERVICES_AWAY_MILLISECONDS = 5000;

/** How long the server may take to close the connection after QUIT. */
const QUIT_MILLISECONDS = 1000;

/** A post that waits longer than this for its turn is refused. */
const MAX_DELAY_MILLISECONDS = 30_000;

/** Longest list of channels in one JOIN, in bytes and in number. */
const MAX_JOIN_BYTES = 400;
const MAX_JOIN_CHANNELS = 10;

/** The default nick that receives the password. */
const NICK_SERVICE = "NickServ";

interface LinkSessionOptions extends SessionOptions {
  readonly client: Client;
  /** Parses a line of the server. */
  readonly parseLine: (line: string) => ParsedLine;
  readonly login: BridgeLogin | null;
  readonly pace: Rate | null;
  /** The bridges of other nodes; null without nodes. */
  readonly peers: PeerBridges | null;
}

/**
 * One connection of the bridge. If the server echoes and labels our messages (IRCv3), that shows
 * the fate of each; otherwise the order of its lines and its answers to PING do.
 */
export class LinkSession implements Session {
  readonly #options: LinkSessionOptions;
  readonly #pacer: Pacer;
  readonly #pendingAcks = new PendingAcks();
  #up = false;
  #closed = false;
  #isLoggedIn = false;
  #isWaitingForLogin = false;
  #areServicesAway = false;
  #underscores = 0;
  #userHost = "";
  #joining: string[] = [];
  #cancelTimer: () => void = () => {};
  #lastWords = "";

  constructor(options: LinkSessionOptions) {
    this.#options = options;
    this.#pacer = new Pacer(options.pace, options.scheduler);
    this.#listen();
  }

  get up(): boolean {
    return this.#up;
  }

  get nick(): string {
    return this.#options.client.user.nick;
  }

  get delay(): number {
    return this.#pacer.delay(1);
  }

  connect(): void {
    const { client, scheduler, log } = this.#options;
    this.#cancelTimer = scheduler.after(REGISTRATION_MILLISECONDS, () => {
      log.warn("The IRC server did not register the bridge in time");
      client.quit("No answer");
    });
    client.connect();
  }

  leave(reason: string): void {
    const { client, scheduler } = this.#options;
    this.#cancelTimer();
    if (!this.#up) return client.quit(reason);
    this.#cancelTimer = scheduler.after(QUIT_MILLISECONDS, () => client.quit(reason));
    client.raw(`QUIT :${reason}`);
  }

  abandon(reason: string): void {
    this.#lastWords = reason;
    this.#options.client.quit(reason);
  }

  /** Joins a channel; if lines are paced, several channels share one JOIN. */
  join(channel: string): void {
    this.#joining.push(channel);
    if (this.#options.pace === null) return this.#sendJoins();
    if (this.#joining.length > 1) return;
    queueMicrotask(() => this.#pacer.send(() => this.#sendJoins()));
  }

  part(channel: string, reason: string): void {
    this.#pacer.send(() => this.#options.client.part(channel, reason));
  }

  admit(messages: number): number {
    const delay = this.#pacer.delay(messages + 1);
    if (this.#pacer.idle || delay <= MAX_DELAY_MILLISECONDS) return delay;
    throw new Unavailable("The IRC network accepts no more messages from the bridge at present");
  }

  say(
    channel: string,
    texts: readonly string[],
    labels: readonly string[],
    { speaker, isNotice, isQuiet = false, mayGo = () => true }: Delivery,
  ): void {
    const { client, peers } = this.#options;
    const isLabelled = this.#has("labeled-response") && this.#has("echo-message");
    const command = isNotice ? "NOTICE" : "PRIVMSG";
    const pairs = speaker === null ? [] : speakerTags(speaker);
    const told = isQuiet && peers !== null ? [...pairs, QUIET] : pairs;
    const tags = told.length === 0 ? "" : `;${formatTags(told)}`;
    for (const [index, text] of texts.entries()) {
      const label = labels[index] ?? "";
      this.#pacer.send(() => {
        if (!mayGo(label)) return;
        if (isLabelled) return client.raw(`@label=${label}${tags} ${command} ${channel} :${text}`);
        this.#pendingAcks.sent({ label, channel });
        client.raw(`${command} ${channel} :${text}`);
      });
    }
    if (isLabelled) return;
    this.#pacer.send(() => client.raw(`PING ${this.#pendingAcks.barrier()}`));
  }

  get playback(): number {
    if (!this.#has("labeled-response") || !this.#has("batch")) return 0;
    return Number(this.#options.client.network.supports("CHATHISTORY")) || 0;
  }

  playBack(part: string, limit: number, label: string): void {
    const { client } = this.#options;
    this.#pacer.send(() => client.raw(`@label=${label} CHATHISTORY ${part} ${limit}`));
  }

  room(channel: string): number {
    const lineLength = Number(this.#options.client.network.supports("LINELEN")) || 0;
    return bytesLeftFor(channel, { nick: this.nick, userHost: this.#userHost, lineLength });
  }

  #has(capability: string): boolean {
    return this.#options.client.network.cap.isEnabled(capability);
  }

  #sendJoins(): void {
    const names: string[] = [];
    let bytes = 0;
    while (names.length < MAX_JOIN_CHANNELS) {
      const name = this.#joining[0];
      if (name === undefined) break;
      bytes += byteLength(name) + 1;
      if (names.length > 0 && bytes > MAX_JOIN_BYTES) break;
      names.push(name);
      this.#joining.shift();
    }
    this.#options.client.join(names.join(","));
    if (this.#joining.length > 0) this.#pacer.send(() => this.#sendJoins());
  }

  #listen(): void {
    const { client, parseLine, scheduler } = this.#options;
    // The end of a server's greeting: its limits (005) have arrived.
    client.on("motd", () => {
      if (!this.#up) this.#greeted();
    });
    client.on("socket close", (error) => {
      if (this.#lastWords === "") this.#lastWords = error?.message ?? "";
    });
    client.on("irc error", ({ error, reason }) => {
      if (error === "irc") this.#lastWords = reason ?? "";
    });
    client.on("close", () => this.#ended());
    client.on("nick in use", () => {
      if (!this.#up) this.#tryOtherNick();
    });
    client.on("displayed host", ({ nick, hostname }) => {
      const user = this.#userHost.split("@")[0];
      if (nick === this.nick && user !== "") this.#userHost = `${user}@${hostname}`;
    });
    this.#listenForLogin();
    reportEvents({ client, parseLine }, scheduler, {
      peers: this.#options.peers,
      event: (event) => this.#take(event),
      ownHost: (userHost) => this.#userHost = userHost,
      pong: (token) => this.#passed(token),
    });
  }

  #listenForLogin(): void {
    const { client, log } = this.#options;
    client.on("loggedin", () => {
      this.#isLoggedIn = true;
      this.#areServicesAway = false;
      if (this.#isWaitingForLogin) this.#enter();
    });
    client.on("loggedout", () => this.#isLoggedIn = false);
    client.on("sasl failed", ({ reason }) => {
      if (reason === "capability_missing" || reason === "unsupported_mechanism") return;
      log.error("The IRC network refuses the bridge's login", { reason });
      if (!this.#up) client.quit("Login refused");
    });
  }

  #greeted(): void {
    const { client, login, scheduler, log } = this.#options;
    this.#cancelTimer();
    if (this.#isWaitingForLogin) return;
    const botMode = client.network.supports("BOT");
    if (typeof botMode === "string") client.raw(`MODE ${this.nick} +${botMode}`);
    if (login === null || this.#isLoggedIn) return this.#enter();
    this.#isWaitingForLogin = true;
    this.#identify(login);
    this.#cancelTimer = scheduler.after(IDENTIFY_MILLISECONDS, () => {
      log.warn("The IRC network did not log the bridge in");
      this.#enter();
    });
  }

  #enter(): void {
    this.#cancelTimer();
    this.#isWaitingForLogin = false;
    this.#up = true;
    this.#scheduleUpkeep();
    this.#options.onUp();
  }

  /** Logs in after the greeting: by SASL, or by NickServ if the server has no SASL. */
  #identify({ account, password, nickServ = NICK_SERVICE }: BridgeLogin): void {
    const { client } = this.#options;
    if (this.#has("sasl")) return client.raw("AUTHENTICATE PLAIN");
    if (client.network.cap.available.has("sasl")) return;
    this.#areServicesAway = false;
    client.raw(`PRIVMSG ${nickServ} :IDENTIFY ${account} ${password}`);
  }

  /** There is no NickServ. */
  #missServices(): void {
    if (this.#options.login === null) return;
    this.#areServicesAway = true;
    if (this.#isWaitingForLogin) return this.#enter();
    if (this.#up) this.#scheduleUpkeep();
  }

  #tryOtherNick(): void {
    const { client, nick, log } = this.#options;
    if (this.#underscores === MAX_UNDERSCORES) {
      log.warn("The bridge's nick is in use", { nick });
      return client.quit("Nick in use");
    }
    client.raw(`NICK ${nick}${"_".repeat(++this.#underscores)}`);
  }

  #scheduleUpkeep(): void {
    this.#cancelTimer();
    const pause = this.#areServicesAway ? SERVICES_AWAY_MILLISECONDS : UPKEEP_MILLISECONDS;
    this.#cancelTimer = this.#options.scheduler.after(pause, () => this.#keepUp());
  }

  #keepUp(): void {
    const { client, nick, login } = this.#options;
    if (this.nick !== nick) this.#pacer.send(() => client.raw(`NICK ${nick}`));
    if (login !== null && !this.#isLoggedIn) this.#pacer.send(() => this.#identify(login));
    this.#scheduleUpkeep();
  }

  /** Passes on an event. If the server does not label, adds the label that is determined here. */
  #take(event: LinkEvent): void {
    const { onEvent } = this.#options;
    if (event.kind === "message" && event.label === null && event.nick === this.nick) {
      return onEvent({ ...event, label: this.#pendingAcks.echoed(event.channel) });
    }
    if (event.kind === "refusal" && event.label === null) {
      const label = this.#pendingAcks.refused(event.channel, event.code);
      const isAboutUser = event.code === "401" && !event.channel.startsWith("#");
      if (label === null && isAboutUser) return this.#missServices();
      return onEvent({ ...event, label });
    }
    onEvent(event);
  }

  /** The server has handled everything sent before this PING. */
  #passed(token: string): void {
    const { scheduler, onEvent } = this.#options;
    const isEchoing = this.#has("echo-message");
    for (const { channel, label } of this.#pendingAcks.passed(token)) {
      const said: LinkMessage = {
        kind: "message",
        channel,
        label,
        nick: this.nick,
        account: null,
        speaker: null,
        text: "",
        id: null,
        time: scheduler.now(),
      };
      const reason = "The server did not pass it on";
      onEvent(isEchoing ? { kind: "refusal", label, code: "PONG", channel, reason } : said);
    }
  }

  #ended(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#cancelTimer();
    this.#pacer.clear();
    this.#pendingAcks.clear();
    this.#up = false;
    this.#options.onClosed(this.#lastWords);
  }
}

/**
 * Sends lines in order, no faster than a network allows. After a silence, a burst may be sent at
 * once.
 */
class Pacer {
  /** Null without a limit. */
  readonly #bucket: TokenBucket | null;
  readonly #scheduler: Scheduler;
  #queue: (() => void)[] = [];
  #cancelTimer: (() => void) | null = null;

  /** @param pace null for no limit */
  constructor(pace: Rate | null, scheduler: Scheduler) {
    this.#bucket = pace === null ? null : new TokenBucket(pace, scheduler.now());
    this.#scheduler = scheduler;
  }

  /** Whether nothing waits. */
  get idle(): boolean {
    return this.#queue.length === 0;
  }

  /** Milliseconds until the last of this many further lines would be sent. */
  delay(lines: number): number {
    return this.#bucket?.delay(this.#scheduler.now(), this.#queue.length + lines) ?? 0;
  }

  /** Queues a task that sends one line. */
  send(task: () => void): void {
    if (this.#bucket === null) return task();
    this.#queue.push(task);
    if (this.#cancelTimer === null) this.#drain(this.#bucket);
  }

  /** Drops the queue. */
  clear(): void {
    this.#queue = [];
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  #drain(bucket: TokenBucket): void {
    this.#cancelTimer = null;
    while (!this.idle) {
      const delay = bucket.tryTake(this.#scheduler.now());
      if (delay > 0) {
        this.#cancelTimer = this.#scheduler.after(delay, () => this.#drain(bucket));
        return;
      }
      this.#queue.shift()?.();
    }
  }
}

/** A message of ours that is not confirmed yet. */
interface Unanswered {
  readonly label: string;
  readonly channel: string;
}

/** A message, or a PING sent between messages. */
type PendingAck = Unanswered | { readonly token: string };

/**
 * Replies that refuse a JOIN, an INVITE, a change of mode or of nick, and never a message, though
 * they may name a channel.
 */
const NOT_ABOUT_MESSAGES = new Set(
  "405 431 432 433 437 441 442 443 461 467 471 472 473 474 475 476 479 482 485 489 520".split(" "),
);

/**
 * Finds the message that an unlabelled answer is about. The server handles lines in order, so the
 * answer concerns the first unanswered message to its channel, and an answered PING means that all
 * messages before it are handled.
 */
class PendingAcks {
  #entries: PendingAck[] = [];
  #lastToken = 0;

  /** Records an outgoing message. */
  sent(message: Unanswered): void {
    this.#entries.push(message);
  }

  /** Records a PING after all messages so far; returns its token. */
  barrier(): string {
    const token = `b${++this.#lastToken}`;
    this.#entries.push({ token });
    return token;
  }

  /** The label of the message that a channel echoed, or null. */
  echoed(channel: string): string | null {
    return this.#takeFirst(channel);
  }

  /**
   * The label of the message that a reply refuses, or null if it is about something else.
   *
   * @param code the number of the reply
   */
  refused(channel: string, code: string): string | null {
    return NOT_ABOUT_MESSAGES.has(code) ? null : this.#takeFirst(channel);
  }

  /** Messages sent before an answered PING and still unconfirmed, in order. */
  passed(token: string): Unanswered[] {
    const end = this.#entries.findIndex((entry) => "token" in entry && entry.token === token);
    if (end === -1) return [];
    return this.#entries.splice(0, end + 1).filter((entry) => "label" in entry);
  }

  /** Forgets everything: the connection is gone. */
  clear(): void {
    this.#entries = [];
  }

  #takeFirst(channel: string): string | null {
    const key = foldCase(channel);
    const index = this.#entries.findIndex((entry) =>
      "label" in entry && foldCase(entry.channel) === key
    );
    const [found] = index === -1 ? [] : this.#entries.splice(index, 1);
    return found !== undefined && "label" in found ? found.label : null;
  }
}
