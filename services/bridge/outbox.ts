import { TimedOut, TooMany } from "../errors.ts";
import type { Scheduler } from "../scheduler.ts";
import type { Sent } from "./shown.ts";

/** How long the server has to send a message back to us. */
export const ECHO_MILLISECONDS = 5000;

/** Most bytes of messages whose echo is awaited. */
const MAX_UNCONFIRMED_BYTES = 8 * 1024 * 1024;

/** Most bytes of messages whose echo is late. */
const MAX_LATE_BYTES = 1024 * 1024;

/** What is kept beside a message's length, in bytes. */
const ENTRY_BYTES = 256;

/** Messages that were given to us together, and what waits for them. */
interface Post {
  /** Unconfirmed messages by label. */
  readonly open: Map<string, Sent>;
  /** How many echoes had come when it went out. */
  readonly echoesBefore: number;
  /** When it is late, in Unix milliseconds. */
  readonly dueAt: number;
  readonly onLate: () => void;
  readonly confirm: () => void;
  readonly refuse: (error: Error) => void;
}

/**
 * Messages of ours whose echo has not come yet, by the label that the echo will carry. The label
 * comes back to us alone and nobody else can set it, so what a message is shown as never depends on
 * its text.
 *
 * A message whose time is over makes room for others. The newest of those are remembered, so that
 * an echo that comes late is still shown as the post that it is.
 */
export class Outbox {
  readonly #scheduler: Scheduler;
  readonly #onSilent: () => void;
  /** The posts of labels whose echo is awaited. */
  readonly #awaited = new Map<string, Post>();
  #awaitedBytes = 0;
  readonly #late = new Map<string, Sent>();
  #lateBytes = 0;
  /** What others were made to say and is not here yet, by the server's id. */
  readonly #expected = new Map<string, Post>();
  /** Every post that waits, in the order of their coming. */
  readonly #open = new Set<Post>();
  /** One timer for all posts: it is set for the first that may be late, and asks then who is. */
  #cancelTimer: () => void = () => {};
  #timerAt = Infinity;
  #lastLabel = 0;
  #echoes = 0;
  #silent = false;

  /** @param onSilent called when an echo is late, each time that none has come since it was due */
  constructor(scheduler: Scheduler, onSilent: () => void) {
    this.#scheduler = scheduler;
    this.#onSilent = onSilent;
  }

  /** Whether a message of ours has had no echo in time, and no other one since it was sent. */
  get silent(): boolean {
    return this.#silent;
  }

  /**
   * Notes the messages of one post.
   *
   * @param delay milliseconds until the last of them goes out
   * @returns a label for each, and a promise of the last echo, which rejects with TimedOut, or with
   * the error of {@link refuse} or {@link clear}
   * @throws TooMany where the server is far behind with echoes
   */
  add(messages: readonly Sent[], delay = 0): { labels: string[]; confirmed: Promise<void> } {
    const bytes = messages.reduce((sum, message) => sum + bytesOf(message), 0);
    if (this.#awaitedBytes + bytes > MAX_UNCONFIRMED_BYTES) {
      throw new TooMany("Too many messages wait for the IRC server", 1);
    }
    this.#awaitedBytes += bytes;
    const { post, confirmed } = this.#newPost(delay, () => this.#giveUp(post));
    for (const sent of messages) {
      const label = (++this.#lastLabel).toString(36);
      post.open.set(label, sent);
      this.#awaited.set(label, post);
    }
    return { labels: [...post.open.keys()], confirmed };
  }

  /** Takes the echo of a message; null where the label is none of ours. */
  confirm(label: string): Sent | null {
    const post = this.#awaited.get(label);
    const sent = post === undefined ? this.#takeLate(label) : this.#take(label, post);
    if (sent !== null) this.#heard();
    if (post?.open.size === 0) post.confirm();
    return sent;
  }

  /**
   * Waits for a message that the server has taken and that is on its way to us.
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

  /** Notes that a message is here. */
  arrived(id: string): void {
    const post = this.#expected.get(id);
    if (post === undefined) return;
    this.#open.delete(post);
    this.#heard();
    post.confirm();
  }

  /** Ends the post whose message the server would not take, with this error. */
  refuse(label: string, error: Error): void {
    const post = this.#awaited.get(label);
    if (post === undefined) return;
    this.#take(label, post);
    this.#heard();
    post.refuse(error);
  }

  /** Ends everything: echoes will not come any more. */
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

  #newPost(delay: number, onLate: () => void): { post: Post; confirmed: Promise<void> } {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {});
    const post: Post = {
      open: new Map<string, Sent>(),
      echoesBefore: this.#echoes,
      dueAt: this.#scheduler.now() + ECHO_MILLISECONDS + delay,
      onLate,
      confirm: resolve,
      refuse: reject,
    };
    this.#open.add(post);
    this.#lookAt(post.dueAt);
    return { post, confirmed: promise };
  }

  /** Has the timer run by then at the latest. */
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

  /** Takes a message off those whose echo is awaited. */
  #take(label: string, post: Post): Sent | null {
    const sent = post.open.get(label);
    if (sent === undefined) return null;
    post.open.delete(label);
    this.#awaited.delete(label);
    this.#awaitedBytes -= bytesOf(sent);
    if (post.open.size === 0) this.#open.delete(post);
    return sent;
  }

  /** Makes the room free that a post takes whose time is over. */
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

/** When the first of these posts is late that is not late now. */
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
