import { Buffer } from "node:buffer";
import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { EventLog, Following, LoggedEvent } from "../../engines/events/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import { Forbidden, Invalid, NotFound, TooMany, Unavailable } from "../../kernel/errors.ts";
import type { Log } from "../../kernel/log.ts";
import type { OutboundAnswer } from "../../kernel/outbound/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Semaphore } from "../../kernel/semaphore.ts";
import { TokenBucket } from "../../kernel/token_bucket.ts";
import { parseJson } from "../../kernel/validation/mod.ts";
import {
  type Caller,
  CallerQuota,
  type Ended,
  holderOf,
  type Identity,
  type Principal,
} from "../../people/identity/mod.ts";
import type { PostOutcome, SignedPosts } from "../webhooks/mod.ts";
import { type EventRights, followedTypes, type Interest } from "./event_types.ts";
import { cursorOf, positionOf, type Wanted } from "./positions.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Most subscriptions; one caller has a quarter of them. */
const MAX_SUBSCRIPTIONS = 1000;

/** Most requests to receivers at the same time, and of one subscriber; each subscription has one. */
const MAX_AT_ONCE = 32;
const MAX_OF_ONE = 8;

/** How long a subscription lasts that is not renewed, in milliseconds. */
const LONGEST = HOUR;
const SHORTEST = MINUTE;

/** Pauses after failed attempts, in milliseconds; then the subscription rests until it is renewed. */
const PAUSES = [SECOND, 5 * SECOND, 30 * SECOND, 2 * MINUTE, 5 * MINUTE];

/** How long the secret before also signs, in milliseconds. */
const SECRETS_OVERLAP = 5 * MINUTE;

/** Longest body of an event, in bytes: receivers may refuse more. */
const MAX_BODY = 256 * 1024;

/** Longest answer to a challenge, in bytes. */
const MAX_ECHO = 4096;

/** Challenges to one host: so many at once, and so many a second. */
const CHALLENGES = { burst: 20, perSecond: 0.2 };

/** Hosts whose challenges are counted, and receivers that are remembered. */
const MAX_HOSTS = 1000;
const MAX_VERIFIED = 2000;

const SECRET = /^whsec_([A-Za-z0-9+/]+={0,2})$/;
const [FEWEST_BYTES, MOST_BYTES] = [24, 64];

/** The receiver asks for no more (Standard Webhooks), or refuses one body. */
const GONE = 410;
const TOO_LARGE = 413;

/** What went wrong at a receiver, in words that tell nothing of what it answered. */
export type Failing =
  | "connection_refused"
  | "timeout"
  | "tls_error"
  | "http_3xx"
  | "http_4xx"
  | "http_5xx"
  | "challenge_failed";

/** A receiver did not prove that it wants events. */
export class ReceiverFailed extends Error {
  override readonly name = "ReceiverFailed";
  readonly reason: Failing;

  constructor(reason: Failing) {
    super('The receiver at "delivery.url" did not answer its verification');
    this.reason = reason;
  }
}

/** What a subscriber asks for. */
export interface SubscriptionRequest extends Wanted {
  readonly interest: Interest;
  /** The arguments of the subscription, as its key has them. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly url: string;
  readonly secret: string;
  /** How long it shall last, in milliseconds; null forever, absent for the default. */
  readonly ttl?: number | null | undefined;
}

/** A subscription as its subscriber sees it. */
export interface Subscribed {
  readonly id: string;
  /** When it ends unless it is renewed, in Unix milliseconds. */
  readonly expiresAt: number;
  /** Everything up to here has arrived. */
  readonly cursor: string;
  readonly isTruncated: boolean;
  /** How the deliveries went; null if it is new. */
  readonly deliveries: {
    readonly isActive: boolean;
    readonly lastAt: number | null;
    readonly lastError: Failing | null;
    readonly failedSince: number | null;
  } | null;
}

/** To what a subscription posts. */
interface Receiver {
  readonly id: string;
  readonly url: URL;
  readonly secrets: readonly string[];
  readonly subscriber: string;
}

/** What ends a subscription, as its receiver is told. */
interface Ending {
  readonly code: number;
  readonly message: string;
}

/** Of a subscriber who may not see the events any more. */
const FORBIDDEN: Ending = { code: -32012, message: "You may no longer read these events" };

export interface CallbacksOptions {
  readonly eventLog: EventLog;
  readonly rights: EventRights;
  readonly identity: Pick<Identity, "onEnded">;
  readonly posts: SignedPosts;
  /** Whether receivers may be on addresses inside the network, and without TLS. */
  readonly allowPrivate: boolean;
  readonly scheduler: Scheduler;
  readonly log: Log;
}

/**
 * Posts events to receivers that subscribers name (SEP-3415, webhook delivery). A subscription is in
 * memory, on the node that leads, and ends within an hour unless it is renewed; the subscriber gives
 * the place where it was, so that a restart loses nothing. The log is the queue: each subscription has
 * one event on its way.
 */
export class Callbacks {
  readonly #options: CallbacksOptions;
  readonly #byId = new Map<string, Callback>();
  readonly #quota = new CallerQuota(MAX_SUBSCRIPTIONS, {
    things: "subscriptions",
    state: "active",
  });
  readonly #turns = new Semaphore({
    permits: MAX_AT_ONCE,
    permitsPerKey: MAX_OF_ONE,
    refusal: () => new Unavailable("Too many receivers are slow"),
  });
  readonly #challenges = new BoundedMap<string, TokenBucket>(MAX_HOSTS);
  /** Until when a receiver counts as verified, by subscriber and URL. */
  readonly #verified = new BoundedMap<string, number>(MAX_VERIFIED);
  /** Aborted while it is stopped. */
  #stopped = new AbortController();

  constructor(options: CallbacksOptions) {
    this.#options = options;
    this.#stopped.abort();
    options.identity.onEnded((ended) => this.#endAll(ended));
  }

  /** The number of subscriptions. */
  get size(): number {
    return this.#byId.size;
  }

  start(): void {
    this.#stopped = new AbortController();
  }

  /** Forgets every subscription: their subscribers renew them where they were. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    const all = [...this.#byId.values()];
    for (const callback of all) this.#remove(callback);
    this.#verified.clear();
    await Promise.all(all.map(({ working }) => working));
  }

  /** Resolves when nothing is on its way; for tests. */
  async idle(): Promise<void> {
    for (const { following, working } of this.#byId.values()) {
      await following?.idle();
      await working;
    }
  }

  /**
   * Subscribes, or renews a subscription of the same subscriber, receiver and arguments. A receiver
   * first proves that it wants the events, by repeating a challenge.
   *
   * @throws Invalid for the URL, the secret and the cursor; Forbidden for guests; TooMany;
   * ReceiverFailed; Unavailable
   */
  async subscribe(request: SubscriptionRequest, caller: Caller): Promise<Subscribed> {
    const { eventLog, scheduler } = this.#options;
    if (this.#stopped.signal.aborted) throw new Unavailable("This node does not send events now");
    const url = this.#receiver(request.url);
    requireSecret(request.secret);
    const id = idOf(request, url, caller.principal);
    const held = this.#byId.get(id);
    if (held !== undefined) return this.#renew(held, request, caller.principal);
    const position = await positionOf(eventLog, request, scheduler.now());
    const place = this.#quota.take(caller);
    try {
      await this.#verify(id, url, request, caller.principal);
      await caller.confirm?.();
      const since = this.#byId.get(id);
      if (since !== undefined) {
        place[Symbol.dispose]();
        return this.#renew(since, request, caller.principal);
      }
      if (this.#stopped.signal.aborted) throw new Unavailable("This node does not send events now");
      const { interest, secret } = request;
      const { principal } = caller;
      const callback = new Callback({ id, url, interest, principal, secret, place });
      callback.position = position.after;
      this.#byId.set(id, callback);
      this.#expireIn(callback, request.ttl);
      this.#follow(callback);
      return { ...viewOf(callback), isTruncated: position.isTruncated, deliveries: null };
    } catch (error) {
      if (this.#byId.get(id)?.place !== place) place[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Ends a subscription.
   *
   * @throws NotFound if the caller has none like this; Invalid for the URL
   */
  unsubscribe(
    key: Pick<SubscriptionRequest, "interest" | "input" | "url">,
    { principal }: Caller,
  ): void {
    const callback = this.#byId.get(idOf(key, this.#receiver(key.url), principal));
    if (callback === undefined) throw new NotFound("There is no such subscription");
    this.#remove(callback);
  }

  /** @throws Invalid */
  #receiver(text: string): URL {
    const url = URL.canParse(text) ? new URL(text) : null;
    const isPlain = url?.protocol === "http:" && this.#options.allowPrivate;
    if (url === null || !(url.protocol === "https:" || isPlain)) {
      throw new Invalid('"delivery.url" must be an https URL');
    }
    if (url.username !== "" || url.password !== "" || url.hash !== "") {
      throw new Invalid('"delivery.url" must have no user, password or fragment');
    }
    return url;
  }

  #renew(callback: Callback, request: SubscriptionRequest, principal: Principal): Subscribed {
    const now = this.#options.scheduler.now();
    if (request.secret !== callback.secret) {
      callback.earlier = { secret: callback.secret, until: now + SECRETS_OVERLAP };
      callback.secret = request.secret;
    }
    callback.principal = principal;
    const view = viewOf(callback);
    this.#expireIn(callback, request.ttl);
    if (!callback.isActive) {
      callback.isActive = true;
      callback.attempts = 0;
      this.#follow(callback);
    }
    return { ...view, expiresAt: callback.expiresAt };
  }

  #expireIn(callback: Callback, ttl: number | null | undefined): void {
    const { scheduler } = this.#options;
    const granted = Math.min(Math.max(ttl ?? LONGEST, SHORTEST), LONGEST);
    callback.cancelExpiry();
    callback.expiresAt = scheduler.now() + granted;
    callback.cancelExpiry = scheduler.after(granted, () => this.#remove(callback));
  }

  /** Lets a receiver repeat a challenge, unless it has lately done so for the same subscriber. */
  async #verify(
    id: string,
    url: URL,
    { secret }: SubscriptionRequest,
    principal: Principal,
  ): Promise<void> {
    const { scheduler } = this.#options;
    const now = scheduler.now();
    const subscriber = subscriberOf(principal);
    const key = JSON.stringify([subscriber, url.href]);
    if ((this.#verified.get(key) ?? 0) > now) return;
    const bucket = this.#challenges.use(url.host, () => new TokenBucket(CHALLENGES, now));
    const wait = bucket.tryTake(now);
    if (wait > 0) {
      throw new TooMany("Too many receivers of this host are verified", Math.ceil(wait / SECOND));
    }
    const challenge = randomBytes(24).toString("base64url");
    let echo = "";
    const body = JSON.stringify({ type: "verification", challenge });
    const outcome = await this.#post(
      { id, url, secrets: [secret], subscriber },
      controlId("verification"),
      body,
      async (answer) => {
        if (answer.status >= 200 && answer.status < 300) echo = await echoOf(answer);
      },
    );
    if (outcome.obstacle === "host") {
      throw new Invalid('"delivery.url" must name a host on the public internet');
    }
    const failing = failingOf(outcome);
    if (failing !== null) throw new ReceiverFailed(failing);
    if (!isSame(echo, challenge)) throw new ReceiverFailed("challenge_failed");
    this.#verified.set(key, now + LONGEST);
  }

  /** Reads on in the log from where the receiver is. */
  #follow(callback: Callback): void {
    const { eventLog } = this.#options;
    const { interest: { project }, interest } = callback;
    callback.following?.close();
    callback.queue.length = 0;
    const asked = {
      after: Math.min(callback.position, eventLog.newest),
      types: followedTypes(interest),
      ...project === null ? {} : { project },
    };
    callback.following = eventLog.follow(asked, {
      message: (event) => {
        callback.queue.push(event);
        this.#work(callback);
      },
      gap: ({ to }) => {
        callback.position = Number(to) - 1;
        callback.queue.push("gap");
        this.#work(callback);
      },
      end: () => this.#remove(callback),
    });
    callback.following.more();
  }

  /** Sends what waits for a receiver, one after the other. */
  #work(callback: Callback): void {
    if (callback.isWorking) return;
    callback.isWorking = true;
    callback.working = Promise.resolve().then(async () => {
      try {
        while (callback.queue.length > 0 && this.#isHeld(callback)) await this.#takeNext(callback);
      } catch (error) {
        this.#options.log.error("Events of a subscription could not be sent", { error });
        this.#remove(callback);
      } finally {
        callback.isWorking = false;
      }
      if (this.#isHeld(callback) && callback.isActive) callback.following?.more();
    });
  }

  #isHeld(callback: Callback): boolean {
    return this.#byId.get(callback.id) === callback;
  }

  async #takeNext(callback: Callback): Promise<void> {
    const { rights, scheduler } = this.#options;
    const [next] = callback.queue;
    if (next === undefined) return;
    if (!rights.holds(callback.interest, callback.principal)) return this.#end(callback, FORBIDDEN);
    const message = next === "gap"
      ? { type: "gap", cursor: cursorOf(callback.position) }
      : rights.occurrence(next, callback.interest, callback.principal);
    const body = message === null ? null : JSON.stringify(
      next === "gap" ? message : { ...message, cursor: cursorOf(next.seq) },
    );
    if (body === null || Buffer.byteLength(body) > MAX_BODY) return passed(callback, next);
    callback.controlId ??= controlId("gap");
    const id = next === "gap" ? callback.controlId : String(next.seq);
    const outcome = await this.#post(this.#receiverOf(callback), id, body);
    if (!this.#isHeld(callback) || callback.queue[0] !== next) return;
    const now = scheduler.now();
    if (outcome.error === null || outcome.status === TOO_LARGE) {
      callback.lastAt = now;
      callback.attempts = 0;
      callback.lastError = callback.failedSince = null;
      return passed(callback, next);
    }
    if (outcome.status === GONE) return this.#remove(callback);
    callback.lastError = failingOf(outcome);
    callback.failedSince ??= now;
    const pause = PAUSES[callback.attempts++];
    if (pause === undefined) {
      callback.isActive = false;
      callback.following?.close();
      callback.queue.length = 0;
      return;
    }
    const wait = Math.min(Math.max(pause, (outcome.retryAfter ?? 0) * SECOND), LONGEST);
    const { promise, resolve } = Promise.withResolvers<void>();
    callback.cancelPause = resolve;
    const cancel = scheduler.after(wait, resolve);
    await promise;
    cancel();
  }

  #receiverOf({ id, url, secret, earlier, principal }: Callback): Receiver {
    const isKept = earlier !== null && earlier.until > this.#options.scheduler.now();
    const secrets = isKept ? [secret, earlier.secret] : [secret];
    return { id, url, secrets, subscriber: subscriberOf(principal) };
  }

  async #post(
    { id, url, secrets, subscriber }: Receiver,
    messageId: string,
    body: string,
    read?: (answer: OutboundAnswer) => Promise<void>,
  ): Promise<PostOutcome> {
    const { posts, scheduler } = this.#options;
    const headers = { "x-mcp-subscription-id": id };
    using _turn = await this.#turns.acquire(subscriber);
    return await posts.send(
      { url, id: messageId, body, secrets, headers },
      { now: scheduler.now(), stopped: this.#stopped.signal },
      read,
    );
  }

  /** Ends the subscriptions of a credential. */
  #endAll(ended: Ended): void {
    for (const callback of [...this.#byId.values()]) {
      if (!ended.covers(callback.principal)) continue;
      // The node has lost touch: the subscribers renew elsewhere.
      if (ended.isEverything) this.#remove(callback);
      else this.#end(callback, { ...FORBIDDEN, message: "Your credential has ended" });
    }
  }

  /** Ends a subscription, and tells its receiver once. */
  #end(callback: Callback, error: Ending): void {
    this.#remove(callback);
    const body = JSON.stringify({ type: "terminated", error });
    this.#post(this.#receiverOf(callback), controlId("terminated"), body).catch((error) => {
      this.#options.log.warn("The end of a subscription could not be sent", { error });
    });
  }

  #remove(callback: Callback): void {
    if (!this.#isHeld(callback)) return;
    this.#byId.delete(callback.id);
    callback.close();
  }
}

/** A subscription and how far its receiver is. */
class Callback {
  readonly id: string;
  readonly url: URL;
  readonly interest: Interest;
  readonly place: Disposable;
  principal: Principal;
  secret: string;
  earlier: { readonly secret: string; readonly until: number } | null = null;
  expiresAt = 0;
  /** The number of the last event that has arrived, or is for others. */
  position = 0;
  /** Events on their way, in their order, and a gap before them. */
  readonly queue: (LoggedEvent | "gap")[] = [];
  following: Following | null = null;
  isWorking = false;
  working: Promise<void> = Promise.resolve();
  /** Failed attempts at the first one of the queue. */
  attempts = 0;
  /** The id of the message about a gap, the same for every attempt. */
  controlId: string | null = null;
  isActive = true;
  lastAt: number | null = null;
  lastError: Failing | null = null;
  failedSince: number | null = null;
  cancelExpiry: () => void = () => {};
  cancelPause: () => void = () => {};

  constructor(
    made: Pick<Callback, "id" | "url" | "interest" | "principal" | "secret" | "place">,
  ) {
    this.id = made.id;
    this.url = made.url;
    this.interest = made.interest;
    this.place = made.place;
    this.principal = made.principal;
    this.secret = made.secret;
  }

  close(): void {
    this.following?.close();
    this.queue.length = 0;
    this.cancelExpiry();
    this.cancelPause();
    this.place[Symbol.dispose]();
  }
}

/** The receiver has the first one of the queue, or it is not for it. */
function passed(callback: Callback, first: LoggedEvent | "gap"): void {
  callback.queue.shift();
  callback.controlId = null;
  if (first !== "gap") callback.position = first.seq;
}

function viewOf(callback: Callback): Subscribed {
  const { id, expiresAt, position, queue, following, isActive } = callback;
  const reached = queue.length === 0 && isActive ? following?.cursor ?? position : position;
  return {
    id,
    expiresAt,
    cursor: cursorOf(Math.max(position, reached)),
    isTruncated: false,
    deliveries: {
      isActive,
      lastAt: callback.lastAt,
      lastError: callback.lastError,
      failedSince: callback.failedSince,
    },
  };
}

/** Whose subscriptions are the same. */
function subscriberOf(principal: Principal): string {
  return holderOf({ principal, address: null }) ?? principal.kind;
}

/** The id of a subscription, which follows from what makes it one. */
function idOf(
  { interest: { name }, input }: Pick<SubscriptionRequest, "interest" | "input">,
  { href }: URL,
  principal: Principal,
): string {
  if (principal.kind === "guest") throw new Forbidden("A subscription needs a credential");
  const sorted = Object.entries(input).sort(([one], [other]) => one < other ? -1 : 1);
  const key = JSON.stringify([subscriberOf(principal), href, name, sorted]);
  return `sub_${createHash("sha256").update(key).digest("hex").slice(0, 32)}`;
}

function controlId(type: string): string {
  return `msg_${type}_${randomBytes(12).toString("base64url")}`;
}

/** @throws Invalid */
function requireSecret(secret: string): void {
  const [, encoded] = SECRET.exec(secret) ?? [];
  const { length } = Buffer.from(encoded ?? "", "base64");
  if (length >= FEWEST_BYTES && length <= MOST_BYTES) return;
  throw new Invalid('"delivery.secret" must be "whsec_" and 24 to 64 random bytes in Base64');
}

/** The challenge that an answer repeats; "" if it repeats none. */
async function echoOf({ body }: OutboundAnswer): Promise<string> {
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > MAX_ECHO) return "";
    parts.push(part.slice());
  }
  try {
    const answer = parseJson(Buffer.concat(parts).toString());
    const isObject = typeof answer === "object" && answer !== null;
    return isObject && "challenge" in answer ? String(answer.challenge) : "";
  } catch {
    return "";
  }
}

function isSame(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one), Buffer.from(other)];
  return first.length === second.length && timingSafeEqual(first, second);
}

/** What went wrong; null if nothing did. */
function failingOf({ status, error, obstacle }: PostOutcome): Failing | null {
  if (error === null) return null;
  if (status !== null) return status >= 500 ? "http_5xx" : status >= 400 ? "http_4xx" : "http_3xx";
  if (obstacle === "time") return "timeout";
  return /certificate|handshake|tls/i.test(error) ? "tls_error" : "connection_refused";
}
