import { join } from "node:path";
import { order } from "../../support/api.ts";
import { verifyPostgresLog } from "../../../services/engines/database/mod.ts";
import { type Frame, Subscription } from "./subscription.ts";
import { basic, bearer, type World } from "./world.ts";

/** Readers of the whole event log. */
const READERS = 3;

/** How long readers may take for the newest event, in milliseconds. */
const READ_LIMIT = 60_000;

interface LoggedEvent {
  readonly seq: number;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Readers of the event log and of each project's events, and what these must tell. */
export class Journal {
  readonly #world: World;
  readonly #readers: LogReader[] = [];
  readonly #projects: ProjectReader[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Opens the streams. */
  async gather(): Promise<void> {
    const world = this.#world;
    for (let index = 0; index < READERS; index++) this.#readers.push(new LogReader(world, index));
    for (const slug of world.projects) this.#projects.push(new ProjectReader(world, slug));
    const { cursor } = await this.#newest();
    for (const { stream } of [...this.#readers, ...this.#projects]) {
      stream.startAfter(String(cursor));
      await stream.open();
      stream.run();
    }
  }

  /** Waits until everything is read, and compares it. */
  async end(): Promise<void> {
    const world = this.#world;
    const { cursor } = await this.#newest();
    await this.#wait(() => this.#readers.every(({ last }) => last >= cursor));
    const events = this.#readers[0]?.events ?? [];
    await this.#wait(() => this.#projects.every((reader) => reader.missing(events).length === 0));
    for (const { last, stream } of this.#readers) {
      if (last < cursor) world.fault(`${stream.name} is at ${last}, not at ${cursor}`);
    }
    for (const reader of this.#projects) reader.compare(events);
    for (const { stream } of [...this.#readers, ...this.#projects]) await stream.close();
    world.count("events", events.length);
    this.#countEvents(events);
    const key = await Deno.readTextFile(join(world.cluster.folder, "a", "data", "event_key"));
    const { url } = world.cluster.postgres;
    const report = await verifyPostgresLog({ url, password: null }, key.trim());
    if (report.found > 0) world.fault(`The event log: ${report.findings.join("; ")}`);
  }

  async #newest(): Promise<{ readonly cursor: number }> {
    return await order(this.#world.operator(), "GET /v1/events?limit=1") as { cursor: number };
  }

  async #wait(isSo: () => boolean): Promise<void> {
    const start = performance.now();
    while (!isSo() && performance.now() - start < READ_LIMIT) {
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }

  /** What happens once is told once. */
  #countEvents(events: readonly LoggedEvent[]): void {
    const times = new Map<string, number>();
    for (const event of events) {
      const key = onceKeyOf(event);
      if (key !== null) times.set(key, (times.get(key) ?? 0) + 1);
    }
    for (const [key, count] of times) {
      if (count > 1) this.#world.fault(`The event log tells ${count} times of: ${key}`);
    }
  }
}

/** Names what happens once; null for what may happen again. */
function onceKeyOf({ type, data }: LoggedEvent): string | null {
  if (type === "project.claim") {
    return data["status"] === "claimed" ? `claim of ${data["project"]} ${data["ticket"]}` : null;
  }
  if (type === "project.ticket" || type === "project.checkin") {
    return `${type} ${data["project"]} ${data["uuid"]}`;
  }
  if (type === "question.asked") return `question ${data["question"]} asked`;
  if (type.startsWith("question.")) return `question ${data["question"]} ended`;
  if (type === "token.revoked") return `token ${data["id"]} revoked`;
  return null;
}

/** Reads the event log: each number follows on the one before. */
class LogReader {
  readonly stream: Subscription;
  readonly events: LoggedEvent[] = [];
  readonly #world: World;
  #last: number | null = null;

  constructor(world: World, index: number) {
    this.#world = world;
    this.stream = new Subscription({
      world,
      name: `The reader ${index} of the event log`,
      path: "/v1/events",
      who: bearer(world.token),
      take: (frame) => this.#take(frame),
    });
  }

  /** The number of the last event. */
  get last(): number {
    return this.#last ?? 0;
  }

  #take({ id, data }: Frame): void {
    const event: LoggedEvent = JSON.parse(data);
    if (Number(id) !== event.seq) this.#world.fault(`The event ${event.seq} has the id ${id}`);
    if (this.#last !== null && event.seq !== this.#last + 1) {
      this.#world.fault(`${this.stream.name} got event ${event.seq} after ${this.#last}`);
    }
    this.#last = event.seq;
    this.events.push(event);
  }
}

/** Reads the events of a project, and compares them with the log. */
class ProjectReader {
  readonly stream: Subscription;
  readonly #world: World;
  readonly #slug: string;
  readonly #ids: number[] = [];

  constructor(world: World, slug: string) {
    this.#world = world;
    this.#slug = slug;
    const [member] = world.members;
    if (member === undefined) throw new Error("Nobody may read");
    this.stream = new Subscription({
      world,
      name: `The reader of ${slug}`,
      path: `/projects/${slug}/fossil/api/events`,
      who: basic(member),
      take: ({ id }) => this.#ids.push(Number(id)),
    });
  }

  /** The events of the project in the log that it has not seen. */
  missing(events: readonly LoggedEvent[]): readonly number[] {
    const read = new Set(this.#ids);
    return events.filter(({ type, data, seq }) =>
      type.startsWith("project.") && data["project"] === this.#slug && !read.has(seq)
    ).map(({ seq }) => seq);
  }

  compare(events: readonly LoggedEvent[]): void {
    const ids = this.#ids;
    const missing = this.missing(events);
    if (missing.length > 0) this.#world.fault(`${this.stream.name} missed ${missing.join(", ")}`);
    const isOrdered = ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0));
    if (!isOrdered) this.#world.fault(`${this.stream.name} got ${ids.join(", ")}`);
    this.#world.count("events on streams of projects", ids.length);
  }
}
