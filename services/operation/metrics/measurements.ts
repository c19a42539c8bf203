import { sql } from "kysely";
import { X509Certificate } from "node:crypto";
import { statfsSync } from "node:fs";
import { join } from "node:path";
import type { Database, Tables } from "../../engines/database/mod.ts";
import type { QuotaFigures } from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Project, ProjectRepositories } from "../../work/projects/mod.ts";
import { countRetained, type Retained } from "../retention/mod.ts";
import { type Scheduler, untilMultiple } from "../../kernel/scheduler.ts";
import { type ChildFigures, readChildFigures } from "./child_processes.ts";
import type { Registry, Sample } from "./registry.ts";

/** How often the figures are read, in milliseconds: a request for the metrics reads none of them. */
const INTERVAL = 60_000;

/** Every how many of those the long ones are read: rows of tables, and sizes of repositories. */
const LONG = 60;

/** Files whose sizes are read in one go. */
const AT_ONCE = 100;

/** In seconds. */
const DAY = 86_400;

/** Lists the descriptors of this process. */
const LS = "/usr/bin/ls";
const NEWLINE = 10;

export interface MeasurementsOptions {
  readonly database: Pick<Database, "tables">;
  /** The folders of the data and of the repositories. */
  readonly folders: { readonly data: string; readonly projects: string };
  /** The file of the app database; null in PostgreSQL. */
  readonly databaseFile: string | null;
  /** The PEM file of the certificate; null without TLS. */
  readonly certificate: string | null;
  /** The bounds of what one project or caller may store or do. */
  readonly quotas: {
    hourly(): readonly QuotaFigures[];
    readonly storage: Pick<ProjectRepositories["quotas"], "figures">;
  };
  /** How many days each kind is kept; 0 keeps it forever. */
  readonly retentionDays: ReadonlyMap<Retained, number>;
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
  #repositories: Sizes | null = null;
  #removed: Sizes | null = null;
  #postgresBytes: number | null = null;
  #largestAccount: number | null = null;
  #openDescriptors: number | null = null;
  #children: ChildFigures | null = null;
  readonly #certificate = new CertificateEnd();
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
    registry.sampled("gauge", {
      name: "database_bytes",
      help: "Bytes of the app database; in PostgreSQL, measured once an hour",
    }, () => sampleOf([], databaseFile === null ? this.#postgresBytes : bytesOf(databaseFile)));
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
      help: "Rows of a table with a retention, of projects the removed ones, counted once an hour",
      labels: ["table"],
    }, () => Array.from(this.#rows, ([table, value]) => ({ labels: [table], value })));
    registry.sampled("gauge", {
      name: "removed_repositories",
      help: "Files of removed projects that are kept on this node, counted once an hour",
    }, () => sampleOf([], this.#removed?.count ?? null));
    registry.sampled("gauge", {
      name: "removed_repositories_bytes",
      help: "Bytes of the files of removed projects on this node, measured once an hour",
    }, () => sampleOf([], this.#removed?.bytes ?? null));
    registry.sampled("gauge", {
      name: "certificate_end_timestamp_seconds",
      help: "When the certificate of tls.cert or tls.acme ends, in seconds since 1970",
    }, () => sampleOf([], this.#certificate.of(this.#options.certificate)));
    registry.sampled("gauge", {
      name: "process_open_fds",
      help: "Files and connections that are open in this process",
    }, () => sampleOf([], this.#openDescriptors));
    registry.sampled("gauge", {
      name: "engine_processes",
      help:
        "Processes of this program that read repositories, markup and SQL, counted once a minute",
    }, () => sampleOf([], this.#children?.engines ?? null));
    registry.sampled("gauge", {
      name: "engine_processes_memory_bytes",
      help: "Memory of these processes together, shared memory divided among its users (PSS)",
    }, () => sampleOf([], this.#children?.engineBytes ?? null));
    registry.sampled("counter", {
      name: "child_processes_cpu_seconds_total",
      help: "Processor time of all processes that this one has started, read once a minute",
    }, () => sampleOf([], this.#children?.cpuSeconds ?? null));
    this.#addBounds(registry);
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

  #addBounds(registry: Registry): void {
    const { quotas, retentionDays } = this.#options;
    registry.sampled(
      "gauge",
      {
        name: "retention_seconds",
        help: "How long the rows of a table are kept after they ended; 0 is forever",
        labels: ["table"],
      },
      () => Array.from(retentionDays, ([table, days]) => ({ labels: [table], value: days * DAY })),
    );
    const figures = () => [
      ...quotas.storage.figures({
        project: this.#repositories?.largest ?? null,
        account: this.#largestAccount,
      }),
      ...quotas.hourly(),
    ];
    const shown = (read: (figures: QuotaFigures) => number | null) =>
      figures().flatMap((quota) => sampleOf([quota.setting], read(quota)));
    registry.sampled("gauge", {
      name: "quota",
      help: "The most that one project, account or token may use of a quota; 0 is no bound",
      labels: ["key"],
    }, () => shown(({ most }) => most));
    registry.sampled("gauge", {
      name: "quota_used",
      help: "The most that one of them uses of it; bytes are measured once an hour",
      labels: ["key"],
    }, () => shown(({ highest }) => highest));
    registry.sampled("counter", {
      name: "quota_refusals_total",
      help: "What was refused because a quota was used up, by quota",
      labels: ["key"],
    }, () => shown(({ refused }) => refused));
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
      this.#openDescriptors = await countOpenDescriptors();
      this.#children = await readChildFigures();
      this.#lastBackup = await lastBackupOf(this.#options.folders.data);
      if (!isLong) return;
      if (this.#options.databaseFile === null) {
        this.#postgresBytes = await postgresBytesOf(this.#options.database.tables);
      }
      this.#rows = await countRetained(this.#options.database.tables);
      this.#largestAccount = await largestAccountOf(this.#options.database.tables);
      this.#repositories = await this.#sizes();
      this.#removed = await sizesIn(join(this.#options.folders.projects, "removed"));
    } catch (error) {
      this.#options.log.warn("Figures for the metrics could not be read", { error });
    }
  }

  async #sizes(): Promise<Sizes> {
    const { projects, folders } = this.#options;
    const paths = projects().map(({ project }) => join(folders.projects, `${project.slug}.fossil`));
    return await sizesOf(paths, () => this.#isClosed);
  }
}

/** Files that are there: how many, and how large together and the largest. */
interface Sizes {
  readonly bytes: number;
  readonly largest: number;
  readonly count: number;
}

async function sizesOf(
  paths: readonly string[],
  isEnded: () => boolean = () => false,
): Promise<Sizes> {
  let [bytes, largest, count] = [0, 0, 0];
  for (let at = 0; at < paths.length && !isEnded(); at += AT_ONCE) {
    const sizes = await Promise.all(
      paths.slice(at, at + AT_ONCE).map((path) =>
        Deno.stat(path).then(({ size }) => size, () => null)
      ),
    );
    for (const size of sizes.filter((size) => size !== null)) {
      bytes += size;
      largest = Math.max(largest, size);
      count++;
    }
  }
  return { bytes, largest, count };
}

/** The sizes of the files in a folder, which may be missing. */
async function sizesIn(folder: string): Promise<Sizes> {
  const paths: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) paths.push(join(folder, name));
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return await sizesOf(paths);
}

/** The figures that the database counts by an index. */
const COUNTED = [
  ["claims", "Claims that are in force"],
  ["landings", "Reviews in the landing queues"],
  ["landing_wait_seconds", "How long the oldest review in a landing queue has waited"],
  ["check_jobs_queued", "Jobs of checks that wait for a runner"],
  ["check_jobs_running", "Jobs of checks that runners have"],
  ["check_queue_seconds", "How long the oldest job of a check has waited for a runner"],
  ["runners", "Runners of checks that are not paused"],
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
  const queued = from("check_jobs").where("state", "=", "queued");
  const running = from("check_jobs").where("state", "=", "running")
    .select(({ fn }) => fn.countAll<number>().as("rows"));
  const runners = from("runners").where("paused_at", "is", null)
    .select(({ fn }) => fn.countAll<number>().as("rows"));
  const first = await queued.select(({ fn }) => fn.min("queued_at").as("at")).executeTakeFirst();
  const queuedAt = first?.at ?? null;
  return new Map([
    ["claims", await counted(claims)],
    ["landings", await counted(landings)],
    ["landing_wait_seconds", since === null ? 0 : Math.max(0, now - Number(since)) / 1000],
    [
      "check_jobs_queued",
      await counted(queued.select(({ fn }) => fn.countAll<number>().as("rows"))),
    ],
    ["check_jobs_running", await counted(running)],
    ["check_queue_seconds", queuedAt === null ? 0 : Math.max(0, now - Number(queuedAt)) / 1000],
    ["runners", await counted(runners)],
    ["mirrors", await counted(mirrors)],
    ["mirrors_failing", await counted(mirrors.where("failures", ">", 0))],
    ["webhooks", await counted(webhooks)],
    ["webhooks_failing", await counted(webhooks.where("failing_since", "is not", null))],
    ["webhook_deliveries_waiting", await counted(waiting)],
  ]);
}

async function postgresBytesOf(tables: Database["tables"]): Promise<number> {
  const size = sql<number | string>`pg_database_size(current_database())`.as("bytes");
  return Number((await tables.selectNoFrom(size).executeTakeFirstOrThrow()).bytes);
}

/** The bytes of the caller that stored most. */
async function largestAccountOf(tables: Database["tables"]): Promise<number> {
  const row = await tables.selectFrom("stored_bytes")
    .select(({ fn }) => fn.sum<number | string>("bytes").as("sum"))
    .groupBy("actor_key").orderBy("sum", "desc").limit(1).executeTakeFirst();
  return Number(row?.sum ?? 0);
}

/**
 * How many descriptors this process has open; null if nobody tells. Deno lets a program read its
 * own `/proc` with every permission alone, so `ls` does.
 */
async function countOpenDescriptors(): Promise<number | null> {
  if (Deno.build.os !== "linux") return null;
  try {
    const { success, stdout } = await new Deno.Command(LS, {
      args: ["-U", `/proc/${Deno.pid}/fd`],
      clearEnv: true,
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).output();
    return success ? stdout.filter((byte) => byte === NEWLINE).length : null;
  } catch {
    return null;
  }
}

/** When the certificate in a file ends. It is read again once the file has changed. */
class CertificateEnd {
  #modified: number | null = null;
  #end: number | null = null;

  /** In Unix seconds; null without one that can be read. */
  of(path: string | null): number | null {
    if (path === null) return null;
    try {
      const modified = Deno.statSync(path).mtime?.getTime() ?? null;
      if (modified !== this.#modified || modified === null) {
        const { validTo } = new X509Certificate(Deno.readTextFileSync(path));
        this.#end = Date.parse(validTo) / 1000;
        this.#modified = modified;
      }
      return this.#end;
    } catch {
      return null;
    }
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
