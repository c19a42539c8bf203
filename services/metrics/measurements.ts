import { X509Certificate } from "node:crypto";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import type { Database, Tables } from "../database/mod.ts";
import type { Log } from "../log.ts";
import type { Project } from "../projects/mod.ts";
import { RETAINED, type Retained } from "../retention/mod.ts";
import { type Scheduler, untilMultiple } from "../scheduler.ts";
import type { Registry, Sample } from "./registry.ts";

/** How often the figures are read, in milliseconds: a request for the metrics reads none of them. */
const INTERVAL = 60_000;

/** Every how many of those the long ones are read: rows of tables, and sizes of repositories. */
const LONG = 60;

/** Repositories whose sizes are read in one go. */
const AT_ONCE = 100;

export interface MeasurementsOptions {
  readonly database: Pick<Database, "tables">;
  /** The folders of the data and of the repositories. */
  readonly folders: { readonly data: string; readonly projects: string };
  /** The file of the app database; null in PostgreSQL. */
  readonly databaseFile: string | null;
  /** The PEM file of the certificate; null without TLS. */
  readonly certificate: string | null;
  readonly projects: () => readonly { readonly project: Pick<Project, "slug"> }[];
  readonly scheduler: Scheduler;
  readonly log: Pick<Log, "warn">;
}

type Figures = ReadonlyMap<string, number>;

/** Figures that cost a read of the database or the disk. They are as old as a minute, or an hour. */
export class Measurements {
  readonly #options: MeasurementsOptions;
  #figures: Figures = new Map();
  #rows: ReadonlyMap<Retained, number> = new Map();
  #repositories:
    | { readonly bytes: number; readonly largest: number; readonly count: number }
    | null = null;
  #certificateEnd: number | null = null;
  #lastBackup: number | null = null;
  #round = 0;
  #cancel: () => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: MeasurementsOptions) {
    this.#options = options;
  }

  /** Reads the figures now, and each minute. */
  start(): void {
    this.#running = this.#measure();
    this.#expect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancel();
    await this.#running;
  }

  /** Adds the figures to a registry. One that is not known has no sample. */
  addTo(registry: Registry): void {
    const { folders, databaseFile } = this.#options;
    registry.sampled(
      "gauge",
      {
        name: "disk_free_bytes",
        help: "Bytes that are free for this user on the disk of a folder",
        labels: ["folder"],
      },
      () =>
        Object.entries(folders).flatMap(([label, folder]) =>
          sampleOf([label], freeBytesOf(folder))
        ),
    );
    if (databaseFile !== null) {
      registry.sampled("gauge", {
        name: "database_bytes",
        help: "Bytes of the files of the app database",
      }, () => sampleOf([], bytesOf(databaseFile)));
    }
    registry.sampled("gauge", {
      name: "repositories_bytes",
      help: "Bytes of the repositories on this node, measured once an hour",
    }, () => sampleOf([], this.#repositories?.bytes ?? null));
    registry.sampled("gauge", {
      name: "largest_repository_bytes",
      help: "Bytes of the largest repository on this node, measured once an hour",
    }, () => sampleOf([], this.#repositories?.largest ?? null));
    registry.sampled("gauge", {
      name: "repositories",
      help: "Repositories on this node, counted once an hour",
    }, () => sampleOf([], this.#repositories?.count ?? null));
    registry.sampled("gauge", {
      name: "table_rows",
      help: "Rows of a table with a retention, counted once an hour",
      labels: ["table"],
    }, () => Array.from(this.#rows, ([table, value]) => ({ labels: [table], value })));
    registry.sampled("gauge", {
      name: "certificate_end_timestamp_seconds",
      help: "When the certificate of tls.cert ends, in seconds since 1970",
    }, () => sampleOf([], this.#certificateEnd));
    registry.sampled("gauge", {
      name: "last_backup_timestamp_seconds",
      help: "When the last backup of this data folder began, in seconds since 1970",
    }, () => sampleOf([], this.#lastBackup));
    for (const [name, help] of COUNTED) {
      registry.sampled(
        "gauge",
        { name, help },
        () => sampleOf([], this.#figures.get(name) ?? null),
      );
    }
  }

  #expect(): void {
    if (this.#isClosed) return;
    const { scheduler } = this.#options;
    this.#cancel = scheduler.after(untilMultiple(INTERVAL, scheduler.now()), () => {
      this.#running = this.#running.then(() => this.#measure());
      this.#expect();
    });
  }

  async #measure(): Promise<void> {
    if (this.#isClosed) return;
    const isLong = this.#round++ % LONG === 0;
    try {
      this.#figures = await countsOf(this.#options.database.tables, this.#options.scheduler.now());
      this.#certificateEnd = await endOf(this.#options.certificate);
      this.#lastBackup = await lastBackupOf(this.#options.folders.data);
      if (!isLong) return;
      this.#rows = await rowsOf(this.#options.database.tables);
      this.#repositories = await this.#sizes();
    } catch (error) {
      this.#options.log.warn("Figures for the metrics could not be read", { error });
    }
  }

  async #sizes() {
    const { projects, folders } = this.#options;
    const all = projects();
    let [bytes, largest, count] = [0, 0, 0];
    for (let at = 0; at < all.length && !this.#isClosed; at += AT_ONCE) {
      const sizes = await Promise.all(
        all.slice(at, at + AT_ONCE).map(async ({ project }) => {
          const path = join(folders.projects, `${project.slug}.fossil`);
          return await Deno.stat(path).then(({ size }) => size, () => null);
        }),
      );
      for (const size of sizes.filter((size) => size !== null)) {
        bytes += size;
        largest = Math.max(largest, size);
        count++;
      }
    }
    return { bytes, largest, count };
  }
}

/** The figures that the database counts by an index. */
const COUNTED = [
  ["claims", "Claims that are in force"],
  ["landings", "Reviews in the landing queues"],
  ["landing_wait_seconds", "How long the oldest review in a landing queue has waited"],
  ["mirrors", "Mirrors of projects"],
  ["mirrors_failing", "Mirrors whose last run failed"],
  ["webhooks", "Webhooks that are active"],
  ["webhooks_failing", "Active webhooks whose receiver does not take what they send"],
  ["webhook_deliveries_waiting", "Deliveries of webhooks that wait for an attempt"],
] as const;

async function countsOf(tables: Database["tables"], now: number): Promise<Figures> {
  const counted = async (
    query: { executeTakeFirstOrThrow(): Promise<{ rows: number | string }> },
  ) => Number((await query.executeTakeFirstOrThrow()).rows);
  const from = <Table extends keyof Tables>(table: Table) => tables.selectFrom(table);
  const claims = from("claims").where("ended_at", "is", null)
    .select(({ fn }) => fn.countAll<number>().as("rows"));
  const landings = from("landings").where("ended_at", "is", null)
    .select(({ fn }) => fn.countAll<number>().as("rows"));
  const mirrors = from("project_mirrors").select(({ fn }) => fn.countAll<number>().as("rows"));
  const webhooks = from("webhooks").where("is_active", "=", 1)
    .select(({ fn }) => fn.countAll<number>().as("rows"));
  const waiting = from("webhook_deliveries").where("next_attempt_at", "is not", null)
    .select(({ fn }) => fn.countAll<number>().as("rows"));
  const oldest = await from("landings").where("ended_at", "is", null)
    .select(({ fn }) => fn.min("queued_at").as("at")).executeTakeFirst();
  const since = oldest?.at ?? null;
  return new Map([
    ["claims", await counted(claims)],
    ["landings", await counted(landings)],
    ["landing_wait_seconds", since === null ? 0 : Math.max(0, now - Number(since)) / 1000],
    ["mirrors", await counted(mirrors)],
    ["mirrors_failing", await counted(mirrors.where("failures", ">", 0))],
    ["webhooks", await counted(webhooks)],
    ["webhooks_failing", await counted(webhooks.where("failing_since", "is not", null))],
    ["webhook_deliveries_waiting", await counted(waiting)],
  ]);
}

async function rowsOf(tables: Database["tables"]): Promise<ReadonlyMap<Retained, number>> {
  const rows = new Map<Retained, number>();
  for (const table of RETAINED) {
    const { rows: count } = await tables.selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as("rows")).executeTakeFirstOrThrow();
    rows.set(table, Number(count));
  }
  return rows;
}

/** When a certificate ends, in Unix seconds; null without one that can be read. */
async function endOf(path: string | null): Promise<number | null> {
  if (path === null) return null;
  try {
    return Date.parse(new X509Certificate(await Deno.readTextFile(path)).validTo) / 1000;
  } catch {
    return null;
  }
}

/** When `muster backup` last copied a data folder, in Unix seconds; null if it never did. */
async function lastBackupOf(folder: string): Promise<number | null> {
  try {
    const time = Date.parse((await Deno.readTextFile(join(folder, "last_backup"))).trim());
    return Number.isNaN(time) ? null : time / 1000;
  } catch {
    return null;
  }
}

function sampleOf(labels: readonly string[], value: number | null): Sample[] {
  return value === null ? [] : [{ labels, value }];
}

function freeBytesOf(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return Number(bavail) * Number(bsize);
  } catch {
    return null;
  }
}

function bytesOf(path: string): number | null {
  let bytes: number | null = null;
  for (const file of [path, `${path}-wal`]) {
    try {
      bytes = (bytes ?? 0) + Deno.statSync(file).size;
    } catch {
      // A log that is missing is empty.
    }
  }
  return bytes;
}
