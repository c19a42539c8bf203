import { sql } from "kysely";
import { type Database, type Statement, statement } from "../../engines/database/mod.ts";
import { InsufficientStorage } from "../../kernel/errors.ts";
import type { Principal, QuotaFigures } from "../../people/identity/mod.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Log } from "../../kernel/log.ts";
import type { Project } from "./records.ts";

/** Callers whose sums are remembered, and for how many milliseconds: other nodes add to them too. */
const MAX_CALLERS = 10_000;
const FRESH = 60_000;

export interface StorageQuotasOptions {
  readonly database: Pick<Database, "tables" | "commit" | "commitLater">;
  /** Most bytes of one repository that still grows; 0 for no bound. */
  readonly projectBytes: number;
  /** By how many bytes one caller may make repositories grow together; 0 for no bound. */
  readonly accountBytes: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly log: Pick<Log, "warn">;
}

/** The sum of one caller, when it was read, in Unix milliseconds. */
interface Sum {
  bytes: number;
  readonly readAt: number;
}

/**
 * Bounds the bytes of each repository (artifacts, unversioned files and releases), and of what one
 * caller stores in all of them. A write that begins below a bound is done, so a bound is exceeded at
 * most by the requests that are written together. What a removed project took counts no more.
 */
export class StorageQuotas {
  readonly #options: StorageQuotasOptions;
  /** Bytes of repositories, by the project's id. */
  readonly #sizes = new Map<string, number>();
  readonly #sums = new BoundedMap<string, Sum>(MAX_CALLERS);
  readonly #refused = { project: 0, account: 0 };

  constructor(options: StorageQuotasOptions) {
    this.#options = options;
  }

  /**
   * What the metrics tell of both bounds.
   *
   * @param highest the bytes of the largest repository, and of what the busiest caller has stored
   */
  figures(
    highest: { readonly project: number | null; readonly account: number | null },
  ): QuotaFigures[] {
    const { projectBytes, accountBytes } = this.#options;
    return [
      {
        setting: "limits.project_bytes",
        most: projectBytes,
        highest: highest.project,
        refused: this.#refused.project,
      },
      {
        setting: "limits.account_bytes",
        most: accountBytes,
        highest: highest.account,
        refused: this.#refused.account,
      },
    ];
  }

  /**
   * Checks that a project and a caller may store something.
   *
   * @param principal null for what nobody sent, such as a mirror
   * @param coming bytes that are known to come
   * @param measure reads the bytes of the repository
   * @throws InsufficientStorage
   */
  async require(
    { id, slug }: Pick<Project, "id" | "slug">,
    principal: Principal | null,
    { coming = 0, measure }: {
      readonly coming?: number;
      readonly measure: () => Promise<number>;
    },
  ): Promise<void> {
    const { projectBytes, accountBytes } = this.#options;
    if (projectBytes > 0) {
      const size = this.#sizes.get(id) ?? await measure();
      this.#sizes.set(id, size);
      if (isFull(size, coming, projectBytes)) {
        this.#refused.project++;
        throw new InsufficientStorage(
          `The project "${slug}" has ${size} bytes of ${projectBytes} (limits.project_bytes): ` +
            "remove release files, or ask the operator to raise the limit",
        );
      }
    }
    const key = principal === null ? null : keyOf(principal);
    if (accountBytes === 0 || key === null) return;
    const stored = (await this.#sumOf(key)).bytes;
    if (isFull(stored, coming, accountBytes)) {
      this.#refused.account++;
      throw new InsufficientStorage(
        `"${principal?.name}" has stored ${stored} bytes of ${accountBytes} ` +
          "(limits.account_bytes): ask the operator to raise the limit",
      );
    }
  }

  /**
   * Bytes that a repository leaves of its project's bound, for what can be deleted at any time.
   *
   * @param wants.most without a bound
   * @param wants.measure reads the bytes of the repository
   */
  async roomOf(
    { id }: Pick<Project, "id">,
    { most, measure }: { readonly most: number; readonly measure: () => Promise<number> },
  ): Promise<number> {
    const { projectBytes } = this.#options;
    if (projectBytes === 0) return most;
    const size = this.#sizes.get(id) ?? await measure();
    this.#sizes.set(id, size);
    return Math.max(0, Math.min(most, projectBytes - size));
  }

  /**
   * Notes the bytes of a repository after writes.
   *
   * @param writers who wrote, and how many bytes each sent: what the repository grew is theirs in
   * this proportion
   */
  note(
    { id: project_id }: Pick<Project, "id">,
    writers: readonly { readonly principal: Principal | null; readonly sent: number }[],
    size: number,
  ): void {
    const before = this.#sizes.get(project_id);
    this.#sizes.set(project_id, size);
    if (before === undefined || size <= before) return;
    const sent = writers.reduce((sum, writer) => sum + writer.sent, 0);
    const shares = new Map<string, number>();
    for (const writer of writers) {
      const key = writer.principal === null ? null : keyOf(writer.principal);
      if (key === null) continue;
      const part = sent === 0 ? 1 / writers.length : writer.sent / sent;
      shares.set(key, (shares.get(key) ?? 0) + part);
    }
    const statements = [...shares].map(([key, part]) =>
      this.#addition(project_id, key, Math.round((size - before) * part))
    );
    if (statements.length === 0) return;
    this.#options.database.commitLater({ statements }).catch((error) => {
      this.#options.log.warn("What callers stored is not counted", { error });
    });
  }

  #addition(project_id: string, actor_key: string, bytes: number): Statement {
    const sum = this.#sums.get(actor_key);
    if (sum !== undefined) sum.bytes += bytes;
    return statement(
      this.#options.database.tables.insertInto("stored_bytes")
        .values({ project_id, actor_key, bytes })
        .onConflict((conflict) =>
          conflict.columns(["project_id", "actor_key"])
            .doUpdateSet({ bytes: sql<number>`stored_bytes.bytes + excluded.bytes` })
        ),
    );
  }

  /** Forgets the size of a repository that is removed, or comes from elsewhere. */
  forget({ id }: Pick<Project, "id">): void {
    this.#sizes.delete(id);
  }

  async #sumOf(key: string): Promise<Sum> {
    const now = this.#options.clock();
    const known = this.#sums.get(key);
    if (known !== undefined && Math.abs(now - known.readAt) < FRESH) return known;
    const row = await this.#options.database.tables.selectFrom("stored_bytes")
      .select(({ fn }) => fn.sum<number | null>("bytes").as("bytes"))
      .where("actor_key", "=", key).executeTakeFirst();
    const sum = { bytes: Number(row?.bytes ?? 0), readAt: now };
    this.#sums.set(key, sum);
    return sum;
  }
}

function isFull(stored: number, coming: number, bound: number): boolean {
  return stored >= bound || stored + coming > bound;
}

/** What a caller's bytes are counted under; null for the operator: nothing bounds those. */
function keyOf({ kind, id, tokenId }: Principal): string | null {
  return kind === "operator" ? null : id ?? (tokenId === null ? kind : `token:${tokenId}`);
}
