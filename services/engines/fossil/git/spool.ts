/**
 * Commits that were read and not written yet. Branches are known only at the end of the stream, so
 * the commits wait in a temporary table. Memory holds only their relations.
 */
import type { Repository } from "../repository.ts";
import type { GitCommit } from "./stream/mod.ts";

/** The data to write a commit. */
export type SpooledCommit =
  & Pick<
    GitCommit,
    "line" | "author" | "committer" | "message" | "changes" | "further"
  >
  & {
    /** The artifact with what the texts do not hold; null for none. */
    readonly rest: string | null;
  };

/** The commits of a stream by number, in its order: parents before children. */
export class CommitSpool implements Disposable {
  readonly #repository: Repository;
  readonly parents: (readonly number[])[] = [];
  readonly #labels: number[] = [];
  readonly #labelNames: string[] = [];
  readonly #labelIds = new Map<string, number>();

  constructor(repository: Repository) {
    this.#repository = repository;
    repository.db.exec(
      "CREATE TEMP TABLE git_commit(id INTEGER PRIMARY KEY, data TEXT NOT NULL)",
    );
  }

  get size(): number {
    return this.parents.length;
  }

  /** Adds a commit and returns its number. Needs `write`. */
  add(commit: SpooledCommit, ref: string, parents: readonly number[]): number {
    const id = this.parents.push(parents) - 1;
    let label = this.#labelIds.get(ref);
    if (label === undefined) {
      label = this.#labelNames.push(ref) - 1;
      this.#labelIds.set(ref, label);
    }
    this.#labels.push(label);
    const { line, author, committer, message, changes, further, rest } = commit;
    const data = JSON.stringify({ line, author, committer, message, changes, further, rest });
    this.#repository.db.run("INSERT INTO git_commit VALUES(?,?)", id, data);
    return id;
  }

  /** @returns the commit with a number from `add`. */
  get(id: number): SpooledCommit {
    const select = "SELECT data FROM git_commit WHERE id=?";
    return JSON.parse(this.#repository.db.value<string>(select, id) ?? "null");
  }

  /** Reference under which the stream has a commit. */
  label(id: number): string {
    return this.#labelNames[this.#labels[id]!]!;
  }

  [Symbol.dispose](): void {
    this.#repository.db.forgetStatements();
    this.#repository.db.exec("DROP TABLE IF EXISTS git_commit");
  }
}
