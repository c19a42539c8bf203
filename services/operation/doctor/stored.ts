/** What grows, and what bounds it: rows with a retention, and quotas. */
import { join } from "node:path";
import { amount } from "../../kernel/words.ts";
import type { Folders } from "../backup/mod.ts";
import type { Config } from "../config/mod.ts";
import { DAYS_OF, RETAINED, type Retained } from "../retention/mod.ts";
import { type Finding, findingsOf } from "./finding.ts";

/** The part of a quota beyond which it is time to act. */
const NEARLY_ALL = 0.9;

/** Rows that are removed some days after they ended. */
export interface StoredRows {
  readonly table: Retained;
  /** Of `projects`, those that are removed. */
  readonly rows: number;
  /** The key of the configuration. */
  readonly key: string;
  /** 0 keeps them forever. */
  readonly days: number;
}

/** A bound for each project, account or token. */
export interface StoredQuota {
  /** The key of the configuration. */
  readonly key: string;
  /** 0 is no bound. */
  readonly limit: number;
  /** The most that one of them uses; null if a running server alone knows, among its metrics. */
  readonly used: number | null;
  /** Who that is; null if nobody is known. */
  readonly by: string | null;
}

/** What grows in a data folder. */
export interface Stored {
  readonly rows: readonly StoredRows[];
  /** The files of removed projects. */
  readonly removed: { readonly files: number; readonly bytes: number };
  readonly quotas: readonly StoredQuota[];
}

/** What the app database tells. */
export interface StoredFacts {
  readonly rows: ReadonlyMap<Retained, number>;
  /** The account or token that has stored most; null if none has. */
  readonly largest: { readonly name: string; readonly bytes: number } | null;
  /** The names of the projects. */
  readonly slugs: readonly string[];
}

/** How SQLite counts the rows of a kind. */
export function countOf(table: Retained): string {
  return `SELECT count(*) AS value FROM ${table}${
    table === "projects" ? " WHERE removed_at IS NOT NULL" : ""
  }`;
}

/** The query of SQLite for the caller that stored most. */
export const LARGEST = `SELECT coalesce(max(name), actor_key) AS name, sum(bytes) AS bytes
  FROM stored_bytes LEFT JOIN accounts ON accounts.id = actor_key
  GROUP BY actor_key ORDER BY 2 DESC LIMIT 1`;

/** Measures what grows. */
export function measureStored(
  { projects: folder }: Folders,
  { rows, largest, slugs }: StoredFacts,
  { retention, limits }: Pick<Config, "retention" | "limits">,
): Stored {
  const repositories = slugs.map((by) => ({ by, bytes: sizeOf(join(folder, `${by}.fossil`)) }));
  const [biggest = null] = repositories.toSorted((one, other) => other.bytes - one.bytes);
  const removed = sizesIn(join(folder, "removed"));
  const hourly = (name: "pushes_per_hour" | "reports_per_hour") => ({
    key: `limits.${name}`,
    limit: limits[name],
    used: null,
    by: null,
  });
  return {
    rows: RETAINED.map((table) => ({
      table,
      rows: rows.get(table) ?? 0,
      key: `retention.${DAYS_OF[table]}`,
      days: retention[DAYS_OF[table]],
    })),
    removed: { files: removed.length, bytes: removed.reduce((sum, bytes) => sum + bytes, 0) },
    quotas: [
      {
        key: "limits.project_bytes",
        limit: limits.project_bytes,
        used: biggest?.bytes ?? 0,
        by: biggest?.by ?? null,
      },
      {
        key: "limits.account_bytes",
        limit: limits.account_bytes,
        used: largest?.bytes ?? 0,
        by: largest?.name ?? null,
      },
      hourly("pushes_per_hour"),
      hourly("reports_per_hour"),
    ],
  };
}

/** Finds the quotas of which little is left. */
export function checkQuotas({ quotas }: Stored): Finding[] {
  const found = findingsOf("quotas");
  return quotas.flatMap(({ key, limit, used, by }) => {
    if (limit === 0 || used === null || used < limit * NEARLY_ALL) return [];
    return [found.warning(
      `"${by}" has stored ${used} bytes of ${limit} (${key})`,
      `remove files of its releases, or raise ${key}`,
    )];
  });
}

/** What grows, in a line each, for people. */
export function linesOf({ rows, removed, quotas }: Stored): string[] {
  return [
    ...rows.map(({ table, rows, key, days }) =>
      `kept: ${table}: ${amount(rows, "row")}, ${
        days === 0 ? "forever" : `${amount(days, "day")} after the end`
      } (${key})`
    ),
    `kept: projects/removed: ${amount(removed.files, "file")}, ${amount(removed.bytes, "byte")}`,
    ...quotas.map(({ key, limit, used, by }) => {
      const bound = limit === 0 ? "no bound" : `at most ${limit}`;
      const most = used === null
        ? "a running server counts them: muster_quota_used"
        : `the most is ${used}${by === null ? "" : ` of "${by}"`}`;
      return `quota: ${key}: ${bound}; ${most}`;
    }),
  ];
}

function sizesIn(folder: string): number[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => sizeOf(join(folder, name)));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** The bytes of a file; 0 if it is missing. */
function sizeOf(path: string): number {
  try {
    return Deno.statSync(path).size;
  } catch {
    return 0;
  }
}
