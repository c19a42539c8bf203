import { createHash } from "node:crypto";
import { type Database, type Statement, statement } from "../../engines/database/mod.ts";
import {
  Conflict,
  Invalid,
  NotFound,
  TooMany,
  Unauthorized,
  Unavailable,
} from "../../kernel/errors.ts";
import { newEvent } from "../../engines/events/mod.ts";
import { type Caller, originOf } from "../../people/identity/mod.ts";
import { channelName, foldCase } from "../../engines/irc/mod.ts";
import { startThread, WorkerPool } from "../../kernel/worker_pool.ts";
import type { BotSettings } from "../policies/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { newUlid } from "../../kernel/ulid.ts";
import { type SecretKey, secretOf } from "../../work/webhooks/mod.ts";
import { BotState } from "./bot_state.ts";
import {
  type Arrived,
  type HeraldNotice,
  type ReadDelivery,
  readDelivery,
} from "./herald_reading.ts";
import type { HeraldSource, StoredNotice, StoredSource } from "./schemas.ts";

/** Most notices that wait to be announced. */
const MAX_WAITING = 256;

/** Longest text of a notice, and its most lines. */
const TEXT_LENGTH = 600;
const MOST_LINES = 5;

const MAX_SOURCES = 50;

/** Least time between two events about notices that found the queue full, in milliseconds. */
const TELL_DROPPED_MS = 60_000;

/** After how many seconds to try again what needs the stored notices and sources. */
const RETRY_SECONDS = 2;

/** Bodies up to this length are read on the main thread, which takes a few milliseconds. */
const SHORT_BYTES = 262_144;

/** How long it may take to read a longer one, in milliseconds, and how many are read at a time. */
const READING_MS = 10_000;
const READERS = 3;

/** What became of a notice. */
export interface Accepted {
  readonly channel: string;
  /** How many notices wait now, this one among them. */
  readonly waiting: number;
}

interface HeraldDeskOptions {
  readonly database: Database;
  readonly settings: () => BotSettings<"herald">;
  /** The secrets of sources are derived from it: the database has none. */
  readonly key: SecretKey;
  readonly scheduler: Scheduler;
  /** Statements without which nothing is stored. */
  readonly guard: () => readonly Statement[];
}

/** Takes events from outside, for herald to announce. What it accepted is on disk. */
export class HeraldDesk {
  readonly #options: HeraldDeskOptions;
  readonly #state: BotState;
  readonly #deliveries: HeraldDeliveries;
  readonly #readers: WorkerPool<Arrived, ReadDelivery>;
  #sources: StoredSource[] = [];
  /** As it is stored. */
  #waiting: readonly StoredNotice[] = [];
  /** The last change of it: the next one follows it. */
  #storing: Promise<unknown> = Promise.resolve();
  /** Notices that are being stored. */
  #accepting = 0;
  /** The id of the notice that was announced last; it may be stored still. */
  #announced: string | null = null;
  /** Whether this is what is stored. */
  #isLoaded = false;
  #dropped = 0;
  #toldDroppedAt = -Infinity;
  /** Called when there is something to announce; null while the bot does not run. */
  #onWaiting: (() => void) | null = null;

  constructor(options: HeraldDeskOptions) {
    this.#options = options;
    this.#deliveries = new HeraldDeliveries(options.database, options.scheduler);
    this.#readers = readersOf(options.scheduler);
    this.#state = new BotState({ ...options, bot: "herald" });
  }

  /** Reads what is stored. Until then, it takes nothing. */
  async load(): Promise<void> {
    await this.#storing;
    await this.#deliveries.load();
    const state = this.#state;
    const schemas = () => import("./schemas.ts");
    this.#sources = await state.read("sources", async () => (await schemas()).sourcesSchema) ?? [];
    this.#waiting = await state.read("waiting", async () => (await schemas()).noticesSchema) ?? [];
    this.#isLoaded = true;
  }

  /** Leaves everything to another node, until it is loaded again. */
  leave(): void {
    this.#isLoaded = false;
  }

  /** The number of waiting notices. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * The sources of webhooks, by name.
   *
   * @throws Unavailable while a node takes them over, as all others do
   */
  sources(): HeraldSource[] {
    this.#requireLoaded();
    return this.#sources.map(({ name, kind }) => ({ name, kind }));
  }

  /**
   * Adds a source.
   *
   * @returns its secret, which is shown once
   * @throws Conflict if there is one of this name or the limit is reached, Unavailable
   */
  async addSource({ name, kind }: HeraldSource, caller: Caller): Promise<string> {
    this.#requireLoaded();
    if (this.#sources.some((source) => source.name === name)) {
      throw new Conflict(`There is a source "${name}" already`);
    }
    if (this.#sources.length >= MAX_SOURCES) {
      throw new Conflict(`There are ${MAX_SOURCES} sources, which is the limit`);
    }
    // A later source of the same name has another secret.
    const version = this.#options.scheduler.now();
    await this.#keepSources([...this.#sources, { name, kind, version }]);
    await this.#note("herald.source_added", name, caller);
    return await this.#secretOf(name, version);
  }

  /** @throws NotFound, Unavailable */
  async removeSource(name: string, caller: Caller): Promise<void> {
    this.#requireLoaded();
    const kept = this.#sources.filter((source) => source.name !== name);
    if (kept.length === this.#sources.length) throw new NotFound(`There is no source "${name}"`);
    await this.#keepSources(kept);
    await this.#note("herald.source_removed", name, caller);
  }

  /**
   * Accepts a notice. Resolves when it is on disk.
   *
   * @param channel if absent, the settings decide by the type
   * @param more statements of the same transaction
   * @throws Conflict if the bot is not enabled or its settings name no channel, TooMany if too many wait, Invalid, Unavailable
   */
  async announce(
    notice: HeraldNotice,
    channel?: string,
    more: readonly Statement[] = [],
  ): Promise<Accepted> {
    this.#requireLoaded();
    if (!this.#options.settings().enabled) throw new Conflict("The bot herald is not enabled");
    const target = channelName(channel ?? this.#routeOf(notice.type));
    if (target === null) {
      if (channel !== undefined) throw new Invalid('"channel" must be the name of a channel');
      throw new Conflict("The settings of herald name no channel for this event");
    }
    if (this.#waiting.length + this.#accepting >= MAX_WAITING) {
      await this.#drop();
      throw new TooMany(`${MAX_WAITING} notices wait already`, 60);
    }
    const text = shownText(notice.text);
    if (text === "") throw new Invalid('"text" must not be empty');
    const type = notice.type.replaceAll(/[\p{Cc}\s]+/gu, "_").slice(0, 100);
    const stored = { id: newUlid(this.#options.scheduler.now()), type, text, channel: target };
    this.#accepting++;
    try {
      await this.#store((waiting) => [...waiting, stored], more);
    } finally {
      this.#accepting--;
    }
    const accepted = { channel: target, waiting: this.#waiting.length };
    this.#onWaiting?.();
    return accepted;
  }

  /**
   * Accepts a webhook. Its body is parsed once its signature proves it, a long one in a thread of
   * its own.
   *
   * @param headers by names in small letters
   * @param body belongs to the desk from now on
   * @returns null if this delivery was accepted before
   * @throws Unauthorized if there is no such source or the signature is wrong, Invalid if the body is
   * not JSON, and what {@link announce} throws
   */
  async receive(
    name: string,
    headers: Readonly<Record<string, string>>,
    body: Uint8Array<ArrayBuffer>,
  ): Promise<Accepted | null> {
    this.#requireLoaded();
    const { scheduler } = this.#options;
    const known = this.#sources.find((one) => one.name === name);
    const { kind, version } = known ?? { kind: "standard" as const, version: 0 };
    const secret = await this.#secretOf(name, version);
    const arrived = { source: name, kind, headers, body, secret, now: scheduler.now() };
    const isShort = known === undefined || body.length <= SHORT_BYTES;
    const read = isShort ? readDelivery(arrived) : await this.#readers.call(arrived, {
      limitMs: READING_MS,
      transfer: [body.buffer],
    });
    if (known === undefined || read.kind === "unproven") throw unproven();
    if (read.kind === "invalid") throw new Invalid(read.message);
    return await this.#deliveries.once(
      `${name} ${version} ${read.id}`,
      (remembering) => this.announce(read.notice, undefined, remembering),
    );
  }

  /**
   * Requires that there is a source.
   *
   * @throws Unauthorized, Unavailable
   */
  requireSource(name: string): void {
    if (!this.sources().some((source) => source.name === name)) throw unproven();
  }

  /**
   * Passes the waiting notices to the bot from now on.
   *
   * @returns a function that ends it
   */
  attach(onWaiting: () => void): () => void {
    this.#onWaiting = onWaiting;
    if (this.#waiting.length > 0) onWaiting();
    return () => this.#onWaiting = null;
  }

  /**
   * The notice that has waited longest; null if none waits. It waits until {@linkcode remove}.
   *
   * @throws Unavailable if the one before it is stored still
   */
  async next(): Promise<StoredNotice | null> {
    const [first = null] = this.#waiting;
    if (first === null || first.id !== this.#announced) return first;
    await this.remove(first);
    return await this.next();
  }

  /**
   * Removes the notice that has waited longest, because it was announced or cannot be. It does not
   * come again on this node, even if that cannot be stored yet.
   *
   * @throws Unavailable
   */
  async remove({ id }: StoredNotice): Promise<void> {
    this.#announced = id;
    await this.#store((waiting) => waiting[0]?.id === id ? waiting.slice(1) : waiting);
  }

  /** @throws Unavailable if what is in memory is not what is stored */
  #requireLoaded(): void {
    if (this.#isLoaded) return;
    throw new Unavailable("The bot herald is starting; try again", {
      retryAfterSeconds: RETRY_SECONDS,
    });
  }

  /** The channel of the longest prefix of a type, or else the default one. */
  #routeOf(type: string): string {
    const { routes, channel } = this.#options.settings();
    let [longest, found] = [-1, channel];
    for (const [prefix, target] of Object.entries(routes)) {
      if (prefix.length <= longest || !foldCase(type).startsWith(foldCase(prefix))) continue;
      [longest, found] = [prefix.length, target];
    }
    return found;
  }

  #secretOf(name: string, version: number): Promise<string> {
    return secretOf(this.#options.key, `herald ${name}`, version);
  }

  async #keepSources(sources: StoredSource[]): Promise<void> {
    await this.#state.write("sources", sources);
    this.#sources = sources;
  }

  /** Changes which notices wait, once that is on disk. */
  #store(
    change: (waiting: readonly StoredNotice[]) => readonly StoredNotice[],
    more: readonly Statement[] = [],
  ): Promise<void> {
    const stored = this.#storing.then(async () => {
      const waiting = change(this.#waiting);
      await this.#state.write("waiting", waiting, more);
      this.#waiting = waiting;
    });
    this.#storing = stored.catch(() => {});
    return stored;
  }

  /** Counts a notice that found the queue full; tells of them once a minute. */
  async #drop(): Promise<void> {
    this.#dropped++;
    const { database, scheduler } = this.#options;
    const now = scheduler.now();
    if (now - this.#toldDroppedAt < TELL_DROPPED_MS) return;
    this.#toldDroppedAt = now;
    const origin = { actor: "bot:herald", actorId: null, address: null, cause: null };
    const event = newEvent("herald.dropped", { count: this.#dropped }, origin, now);
    this.#dropped = 0;
    await database.commit({ events: [event] });
  }

  async #note(
    type: "herald.source_added" | "herald.source_removed",
    name: string,
    caller: Caller,
  ): Promise<void> {
    const { database, scheduler } = this.#options;
    const event = newEvent(type, { name }, originOf(caller), scheduler.now());
    await database.commit({ events: [event] });
  }
}

/** Reads long webhooks, each in a thread of its own, which ends with it. */
function readersOf(scheduler: Scheduler): WorkerPool<Arrived, ReadDelivery> {
  const unreadable = () => new Unavailable("The body could not be read; try again");
  return new WorkerPool({
    start: () => {
      const url = new URL("./herald_worker.ts", import.meta.url);
      return startThread(() => new Worker(url, { type: "module", name: "herald" }));
    },
    workers: READERS,
    idleMs: 0,
    full: unreadable,
    lost: unreadable,
    unusable: unreadable,
    closed: unreadable,
    after: (ms, task) => scheduler.after(ms, task),
  });
}

function unproven(): Unauthorized {
  return new Unauthorized("There is no such source, or the signature or its time is wrong");
}

/** A text as IRC shows it: a few lines without control characters. */
function shownText(text: string): string {
  const lines = text.slice(0, TEXT_LENGTH).split(/[\r\n]+/)
    .map((line) => line.replaceAll(/[\p{Cc}\s]+/gu, " ").trim()).filter((line) => line !== "");
  return lines.slice(0, MOST_LINES).join("\n");
}

/** How long an accepted delivery is remembered, in milliseconds: 90 days. */
const REMEMBERED_MS = 90 * 86_400_000;

/** Most deliveries that are remembered; older ones make room. */
const MAX_REMEMBERED = 100_000;

/** The webhooks that herald accepted, so that it announces none twice. They are on disk. */
class HeraldDeliveries {
  readonly #database: Database;
  readonly #scheduler: Scheduler;
  /** Deliveries that are being accepted. */
  readonly #open = new Map<string, Promise<unknown>>();
  #newest = 0;

  constructor(database: Database, scheduler: Scheduler) {
    this.#database = database;
    this.#scheduler = scheduler;
  }

  /** Finds where the last program ended. Call it before anything else. */
  async load(): Promise<void> {
    const row = await this.#database.tables.selectFrom("herald_deliveries").select("seq")
      .orderBy("seq", "desc").limit(1).executeTakeFirst();
    this.#newest = row?.seq ?? 0;
  }

  /**
   * Accepts a delivery, unless it was accepted before.
   *
   * @param identity what makes it this one
   * @param accept gets the statements that remember it, which belong to its transaction
   * @returns what `accept` returns; null if it was accepted before
   * @throws what `accept` throws, after which it may come again; Unavailable
   */
  async once<Accepted>(
    identity: string,
    accept: (remembering: readonly Statement[]) => Promise<Accepted>,
  ): Promise<Accepted | null> {
    const mark = createHash("sha256").update(identity).digest("base64url");
    const running = this.#open.get(mark);
    if (running !== undefined) {
      // If that one fails, this one was not accepted either.
      await running;
      return null;
    }
    const accepting = this.#acceptNew(mark, accept);
    this.#open.set(mark, accepting);
    try {
      return await accepting;
    } finally {
      this.#open.delete(mark);
    }
  }

  async #acceptNew<Accepted>(
    mark: string,
    accept: (remembering: readonly Statement[]) => Promise<Accepted>,
  ): Promise<Accepted | null> {
    const known = await this.#database.tables.selectFrom("herald_deliveries").select("seq")
      .where("mark", "=", mark).executeTakeFirst();
    return known === undefined ? await accept(this.#remembering(mark)) : null;
  }

  #remembering(mark: string): readonly Statement[] {
    const { tables } = this.#database;
    const at = this.#scheduler.now();
    const seq = ++this.#newest;
    const forgotten = [
      tables.deleteFrom("herald_deliveries").where("at", "<", at - REMEMBERED_MS),
      tables.deleteFrom("herald_deliveries").where("seq", "<=", seq - MAX_REMEMBERED),
    ];
    const added = tables.insertInto("herald_deliveries").values({ seq, mark, at });
    return [added, ...forgotten].map((one) => statement(one));
  }
}

/** @throws Conflict without bots */
export function requireDesk(herald: HeraldDesk | null): HeraldDesk {
  if (herald !== null) return herald;
  throw new Conflict("There are no bots: the bridge or the policies are off in the configuration");
}
