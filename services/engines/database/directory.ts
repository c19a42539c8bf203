import type { FollowedTable } from "./followed.ts";

/**
 * Rows held in memory, for code that cannot wait for a read. The statements that change these rows
 * keep them current: see {@linkcode Statement.committed}.
 */
export interface Directory {
  /** The tables whose rows it holds. */
  readonly tables: readonly FollowedTable[];
  /** Reads all of its rows and replaces the earlier ones. */
  load(): Promise<void>;
  /**
   * Tells its listeners what the last load has changed. Every directory is loaded by then, but the
   * first load is not announced. It must not throw.
   */
  announce?(): void;
}
