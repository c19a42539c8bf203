import type { Selectable } from "kysely";
import {
  type Change,
  type Database,
  type Statement,
  statement,
  type Tables,
} from "../../engines/database/mod.ts";
import type { Origin } from "../../engines/events/mod.ts";
import type { PooledRepository, ReceivedArtifact } from "../../engines/fossil/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Project } from "./records.ts";

/** Author and date of a write, and the mark by which its artifacts are found, also after a crash. */
export interface Stamp {
  readonly user: string;
  /** Unix milliseconds; unique among the writes of this project. */
  readonly date: number;
  /** The repository keeps it with what the write brings. */
  readonly mark: string;
}

/**
 * The stamp of a write.
 *
 * @param id a ULID, which is that of its intention
 */
export function stampOf(id: string, { user, date }: Omit<Stamp, "mark">): Stamp {
  return { user, date, mark: `muster write ${id}` };
}

/**
 * The stamp for a further operation of a write: no two transactions of a repository have one mark.
 *
 * @param count how many operations the write has made
 */
export function furtherStamp<Given extends Pick<Stamp, "mark">>(
  stamp: Given,
  count: number,
): Given {
  return { ...stamp, mark: `${stamp.mark} ${count}` };
}

/** How the marks of pushes begin. */
export const PUSH_MARK = "muster:";

/** The stamp of what a push intends: the push's mark is also kept in place of the author. */
export function pushStampOf(mark: string, date: number): Stamp {
  return { user: mark, date, mark };
}

function isPushMark(author: string): boolean {
  return author.startsWith(PUSH_MARK);
}

/** The mark in a write's stamp, given that of any of its operations. */
export function markOfWrite(mark: string | null): string | null {
  return mark !== null && FURTHER.test(mark) ? mark.slice(0, mark.lastIndexOf(" ")) : mark;
}

/** The mark of a further operation. */
const FURTHER = /^muster write \w+ \d+$/;

/** A write whose outcome is known, as its kind of intention sees it. */
export interface SettledWrite<Body> {
  readonly project: Project;
  readonly body: Body;
  readonly origin: Origin;
  readonly stamp: Stamp;
  /** The artifacts that the write left in the repository; empty if it is undone. */
  readonly artifacts: readonly ReceivedArtifact[];
  /** Unix milliseconds. */
  readonly now: number;
}

/**
 * The changes of the app database after a write to a repository is done or lost. They must follow
 * from the intention alone, since a crash may come between: no statement may be `mustChange`, and
 * the body must survive JSON.
 */
export interface IntentionKind<Body> {
  /** Unique, such as `workspace.commit`; it is stored. */
  readonly name: string;
  /** State and events if the repository has the write. */
  settle(write: SettledWrite<Body>): Change | Promise<Change>;
  /** State and events if it does not. */
  undo?(write: SettledWrite<Body>): Change | Promise<Change>;
  /**
   * Whether the write is done; only for writes that leave no artifact in the timeline. Artifacts of
   * its author then say nothing.
   */
  isDone?(repository: PooledRepository, write: SettledWrite<Body>): Promise<boolean>;
}

/** A registered kind of intention. */
export interface RegisteredKind<Body> {
  readonly name: string;
  /** Carries the type of the body and never has a value. */
  readonly body?: Body;
}

/** What a write intends. */
export interface Intended<Body> {
  readonly kind: RegisteredKind<Body>;
  readonly body: Body;
}

/** An unsettled intention. */
export interface Pending {
  readonly id: string;
  readonly projectId: string;
  readonly kind: string;
  readonly stamp: Stamp;
  readonly origin: Origin;
  readonly body: unknown;
}

/** Writes under way: recorded before the repository changes, removed when they are settled. */
export class Intentions {
  readonly #database: Database;
  readonly #log: Log;
  readonly #kinds = new Map<string, IntentionKind<unknown>>();
  readonly #pending = new Map<string, Pending>();

  constructor(options: { readonly database: Database; readonly log: Log }) {
    this.#database = options.database;
    this.#log = options.log;
  }

  /** Reads the intentions that an earlier process left unsettled. */
  async load(): Promise<void> {
    const rows = await this.#database.tables.selectFrom("intentions").selectAll().execute();
    for (const row of rows) this.#pending.set(row.id, pendingOf(row));
  }

  /** Reads those of a project that another node has written to. */
  async reload(projectId: string): Promise<void> {
    const rows = await this.#database.tables.selectFrom("intentions").selectAll()
      .where("project_id", "=", projectId).execute();
    for (const { id } of this.of(projectId)) this.#pending.delete(id);
    for (const row of rows) this.#pending.set(row.id, pendingOf(row));
  }

  /** Registers a kind. Call this before an intention of the kind is settled. */
  register<Body>(kind: IntentionKind<Body>): RegisteredKind<Body> {
    this.#kinds.set(kind.name, kind as IntentionKind<unknown>);
    return { name: kind.name };
  }

  /** The unsettled intentions of a project, oldest first. */
  of(projectId: string): readonly Pending[] {
    return [...this.#pending.values()].filter((pending) => pending.projectId === projectId);
  }

  /** The projects that have unsettled intentions. */
  projects(): ReadonlySet<string> {
    return new Set(Array.from(this.#pending.values(), ({ projectId }) => projectId));
  }

  /** Records writes before they begin. */
  async record(intentions: readonly Pending[], now: number): Promise<void> {
    if (intentions.length === 0) return;
    const statements = intentions.map((pending) => this.#insertion(pending, now));
    await this.#database.commit({ statements });
  }

  #insertion(pending: Pending, now: number): Statement {
    const { id, projectId, kind, stamp, origin, body } = pending;
    return statement(
      this.#database.tables.insertInto("intentions").values({
        id,
        project_id: projectId,
        kind,
        author: stamp.user,
        date: stamp.date,
        origin: JSON.stringify(origin),
        body: JSON.stringify(body),
        created_at: now,
      }),
      { committed: () => void this.#pending.set(id, pending) },
    );
  }

  /** The changes of the app database that follow from the outcome of a write. */
  async outcome(
    pending: Pending,
    { project, repository, artifacts, now }: {
      readonly project: Project;
      readonly repository: PooledRepository;
      readonly artifacts: readonly ReceivedArtifact[];
      readonly now: number;
    },
  ): Promise<Required<Change>> {
    const { stamp, origin, body } = pending;
    const kind = this.#kinds.get(pending.kind);
    if (kind === undefined) {
      this.#log.error("An intention of an unknown kind was given up", { kind: pending.kind });
    }
    const settling = { project, body, origin, stamp, artifacts, now };
    // Without artifacts of its own, a write is not done because its author wrote something else.
    const isDone = kind?.isDone === undefined
      ? artifacts.length > 0
      : await kind.isDone(repository, settling);
    const change = isDone ? await kind?.settle(settling) : await kind?.undo?.(settling);
    return {
      statements: [...change?.statements ?? [], this.#removal(pending)],
      events: change?.events ?? [],
    };
  }

  #removal({ id }: Pending): Statement {
    const removal = this.#database.tables.deleteFrom("intentions").where("id", "=", id);
    return statement(removal, { mustChange: true, committed: () => void this.#pending.delete(id) });
  }
}

function pendingOf(row: Selectable<Tables["intentions"]>): Pending {
  const { id, project_id: projectId, kind, author: user, date } = row;
  const origin: Origin = JSON.parse(row.origin);
  const { mark } = stampOf(id, { user, date });
  const stamp = { user, date, mark: isPushMark(user) ? user : mark };
  return { id, projectId, kind, stamp, origin, body: JSON.parse(row.body) };
}
