import { TimedOut, TooMany } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Sent } from "./link_events.ts";
import type { Delivery } from "./session.ts";

/** How long the server may take to echo a message. */
const ECHO_MILLISECONDS = 5000;

/** Most bytes of messages whose echo is awaited. */
const MAX_UNCONFIRMED_BYTES = 8 * 1024 * 1024;

/** Most bytes of messages whose echo is late. */
const MAX_LATE_BYTES = 1024 * 1024;

/** What is kept beside a message's length, in bytes. */
const ENTRY_BYTES = 256;

/** The messages of one post, and its confirmation. */
interface Post {
  /** Unconfirmed messages by label. */
  readonly open: Map<string, Sent>;
  /** How many of its messages have an echo and are not stored yet. */
  unstored: number;
  /** The number of echoes received when it was sent. */
  readonly echoesBefore: number;
  /** When it is late, in Unix milliseconds. */
  readonly dueAt: number;
  readonly onLate: () => void;
  /** Each of its messages has an echo. */
  readonly echo: () => void;
  readonly confirm: () => void;
  readonly refuse: (error: Error) => void;
}

/** The messages of one post, as its sender knows them. */
interface Added {
  /** A label for each. */
  readonly labels: string[];
  /** Resolves when IRC has them, stored or not; rejects as {@linkcode confirmed} does. */
  readonly echoed: Promise<void>;
  /** Rejects with TimedOut, or with the error of {@link Outbox.refuse} or {@link Outbox.clear}. */
  readonly confirmed: Promise<void>;
}

/** A message whose echo has come. */
export interface Echo {
  readonly sent: Sent;
  readonly confirm: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * The bridge's messages without an echo yet, by the label of the echo. Only the bridge receives the
 * label, and nobody else can set it, so the speaker shown for a message never depends on its text.
 *
 * An overdue message makes room for others. The newest overdue ones are remembered, so that a late
 * echo is still shown as its post.
 */
export class Outbox {
  readonly #scheduler: Scheduler;
  readonly #onSilent: () => void;
  /** The posts with missing echoes, by label. */
  readonly #awaited = new Map<string, Post>();
  #awaitedBytes = 0;
  readonly #late = new Map<string, Sent>();
  #lateBytes = 0;
  /** Messages sent as other users and not received yet, by the server's id. */
  readonly #expected = new Map<string, Post>();
  /** Every waiting post, in order. */
  readonly #open = new Set<Post>();
  /** One timer for all posts, set for the earliest deadline. */
  #cancelTimer: () => void = () => {};
  #timerAt = Infinity;
  #lastLabel = 0;
  #echoes = 0;
  #silent = false;

  /**
   * @param onSilent called each time an echo is late and none has come since its message was sent
   */
  constructor(scheduler: Scheduler, onSilent: () => void) {
    this.#scheduler = scheduler;
    this.#onSilent = onSilent;
  }

  /** Whether a message of ours has had no echo in time, and no other one since it was sent. */
  get silent(): boolean {
    return this.#silent;
  }

  /**
   * Records the messages of one post.
   *
   * @param delay milliseconds until the last of them is sent
   * @throws TooMany if the server is far behind with echoes
   */
  add(messages: readonly Sent[], delay = 0): Added {
    const bytes = messages.reduce((sum, message) => sum + bytesOf(message), 0);
    if (this.#awaitedBytes + bytes > MAX_UNCONFIRMED_BYTES) {
      throw new TooMany("Too many messages wait for the IRC server", 1);
    }
    this.#awaitedBytes += bytes;
    const { post, echoed, confirmed } = this.#newPost(delay, () => this.#giveUp(post));
    const labels: string[] = [];
    for (const sent of messages) {
      const label = (++this.#lastLabel).toString(36);
      labels.push(label);
      post.open.set(label, sent);
      this.#awaited.set(label, post);
    }
    return { labels, echoed, confirmed };
  }

  /** Handles the echo of a message; null if the label is unknown. */
  confirm(label: string): Sent | null {
    const post = this.#awaited.get(label);
    const sent = this.#receive(label, post);
    if (post?.open.size === 0) post.confirm();
    return sent;
  }

  /** The same for a caller that confirms the message when it is stored, or tells why it is not. */
  echoed(label: string): Echo | null {
    const post = this.#awaited.get(label);
    const sent = this.#receive(label, post);
    if (sent === null) return null;
    if (post === undefined) return { sent, confirm() {}, refuse() {} };
    post.unstored++;
    return {
      sent,
      confirm: () => {
        post.unstored--;
        if (post.open.size + post.unstored === 0) post.confirm();
      },
      refuse: post.refuse,
    };
  }

  /**
   * Waits for a message that the server has accepted and sends to the bridge.
   *
   * @param id the server's id of it
   * @throws TimedOut, or the error of {@link clear}
   */
  async arrival(id: string): Promise<void> {
    const { post, confirmed } = this.#newPost(0, () => this.#missed(post));
    this.#expected.set(id, post);
    try {
      await confirmed;
    } finally {
      this.#expected.delete(id);
    }
  }

  /** Records that a message has arrived. */
  arrived(id: string): void {
    if (this.#expected.size === 0) return;
    const post = this.#expected.get(id);
    if (post === undefined) return;
    this.#open.delete(post);
    this.#heard();
    post.confirm();
  }

  /** Rejects the post of a refused message with this error. */
  refuse(label: string, error: Error): void {
    const post = this.#awaited.get(label);
    if (post === undefined) return;
    this.#take(label, post);
    this.#heard();
    post.refuse(error);
  }

  /** Rejects everything: no more echoes will come. */
  clear(error: Error): void {
    this.#cancelTimer();
    this.#timerAt = Infinity;
    for (const post of this.#open) post.refuse(error);
    this.#open.clear();
    this.#awaited.clear();
    this.#late.clear();
    this.#awaitedBytes = this.#lateBytes = 0;
    this.#silent = false;
  }

  /** Takes a message whose echo has come. */
  #receive(label: string, post: Post | undefined): Sent | null {
    const sent = post === undefined ? this.#takeLate(label) : this.#take(label, post);
    if (sent !== null) this.#heard();
    if (post?.open.size === 0) post.echo();
    return sent;
  }

  #newPost(
    delay: number,
    onLate: () => void,
  ): { readonly post: Post } & Pick<Added, "echoed" | "confirmed"> {
    const [echoed, confirmed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    for (const { promise } of [echoed, confirmed]) promise.catch(() => {});
    const post: Post = {
      open: new Map<string, Sent>(),
      unstored: 0,
      echoesBefore: this.#echoes,
      dueAt: this.#scheduler.now() + ECHO_MILLISECONDS + delay,
      onLate,
      echo: echoed.resolve,
      confirm: confirmed.resolve,
      refuse(error) {
        echoed.reject(error);
        confirmed.reject(error);
      },
    };
    this.#open.add(post);
    this.#lookAt(post.dueAt);
    return { post, echoed: echoed.promise, confirmed: confirmed.promise };
  }

  /** Sets the timer to run at that time at the latest. */
  #lookAt(time: number): void {
    if (this.#timerAt <= time) return;
    this.#cancelTimer();
    this.#timerAt = time;
    this.#cancelTimer = this.#scheduler.after(time - this.#scheduler.now(), () => this.#look());
  }

  #look(): void {
    this.#timerAt = Infinity;
    const now = this.#scheduler.now();
    const waiting = [...this.#open];
    const late = waiting.filter(({ dueAt }) => dueAt <= now);
    for (const post of late) this.#open.delete(post);
    if (late.length < waiting.length) {
      this.#lookAt(earliest(waiting, now));
    }
    for (const post of late) post.onLate();
  }

  /** Removes a message from those with missing echoes. */
  #take(label: string, post: Post): Sent | null {
    const sent = post.open.get(label);
    if (sent === undefined) return null;
    post.open.delete(label);
    this.#awaited.delete(label);
    this.#awaitedBytes -= bytesOf(sent);
    if (post.open.size === 0) this.#open.delete(post);
    return sent;
  }

  /** Frees the room of an overdue post. */
  #giveUp(post: Post): void {
    for (const label of [...post.open.keys()]) {
      const sent = this.#take(label, post);
      if (sent === null) continue;
      this.#late.set(label, sent);
      this.#lateBytes += bytesOf(sent);
    }
    for (const label of this.#late.keys()) {
      if (this.#lateBytes <= MAX_LATE_BYTES) break;
      this.#takeLate(label);
    }
    this.#missed(post);
  }

  #takeLate(label: string): Sent | null {
    const sent = this.#late.get(label);
    if (sent === undefined) return null;
    this.#late.delete(label);
    this.#lateBytes -= bytesOf(sent);
    return sent;
  }

  #heard(): void {
    this.#echoes++;
    this.#silent = false;
  }

  #missed(post: Post): void {
    post.refuse(new TimedOut("IRC did not confirm the message in time"));
    if (post.echoesBefore !== this.#echoes) return;
    this.#silent = true;
    this.#onSilent();
  }
}

/** The earliest deadline among these posts that is not over. */
function earliest(posts: readonly Post[], now: number): number {
  let first = Infinity;
  for (const { dueAt } of posts) {
    if (dueAt > now && dueAt < first) first = dueAt;
  }
  return first;
}

function bytesOf({ text }: Sent): number {
  return text.length * 2 + ENTRY_BYTES;
}

/** How often the bridge sends a message to itself before it considers the connection dead. */
const PROBES = 3;

/** The text of that message. */
const PROBE = "Do I hear myself?";

interface HearingOptions {
  readonly outbox: Pick<Outbox, "add" | "silent">;
  readonly link: {
    readonly nick: string;
    readonly delay: number;
    say(
      target: string,
      texts: readonly string[],
      labels: readonly string[],
      delivery: Delivery,
    ): void;
    reconnect(reason: string): void;
  };
  readonly log: Log;
}

/**
 * Checks a missing echo: the bridge sends a message to itself. If that is not echoed either, it
 * reconnects.
 */
export class Hearing {
  readonly #options: HearingOptions;
  #isProbing = false;

  constructor(options: HearingOptions) {
    this.#options = options;
  }

  /** Call this when an echo is missing. */
  doubt(): void {
    if (!this.#isProbing) this.#probe();
  }

  async #probe(): Promise<void> {
    const { outbox, link, log } = this.#options;
    log.warn("IRC does not echo the bridge's messages");
    this.#isProbing = true;
    for (let probe = 0; probe < PROBES && outbox.silent; probe++) {
      await this.#sayToMyself().catch(() => {});
    }
    this.#isProbing = false;
    if (!outbox.silent) return log.info("The bridge gave up waiting for echoes of its messages");
    link.reconnect("IRC does not echo the bridge's messages");
  }

  async #sayToMyself(): Promise<void> {
    const { outbox, link } = this.#options;
    const { labels, confirmed } = outbox.add(
      [{ nick: link.nick, text: PROBE, speaker: null }],
      link.delay,
    );
    link.say(link.nick, [PROBE], labels, { speaker: null });
    await confirmed;
  }
}
