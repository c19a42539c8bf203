/** The app database: one SQLite file, read on the main thread and written by one worker. */
export {
  type Change,
  type Committed,
  Database,
  Duplicate,
  statement,
  Unchanged,
} from "./database.ts";
export { eventHash, type NewEvent } from "./journal.ts";
export { DatabaseError, migrate } from "./migrate.ts";
export type { Tables } from "./schema.ts";
