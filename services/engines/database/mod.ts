/** The app database, in a SQLite file or in PostgreSQL. */
export { type ChainedRow, eventHash } from "./chain.ts";
export { type Change, type Committed, Database, type Directory, statement } from "./database.ts";
export type { ReadOnTable, ToldRow } from "./followed.ts";
export { DAMAGED, type JournalKey, type NewEvent, type Trim } from "./journal.ts";
export { DatabaseError, migrate, refusalOf, SCHEMA_VERSION } from "./migrate.ts";
export {
  copyToPostgres,
  copyToSqlite,
  openPostgres,
  openSqlite,
  readPostgres,
  verifyPostgresLog,
} from "./open.ts";
export { type PostgresSettings, readPostgresSettings } from "./postgres/settings.ts";
export { type AppendedEvent, Duplicate, type Statement, Unchanged } from "./protocol.ts";
export type { PeerNotes, Peers, Told } from "./store.ts";
export type { Tables } from "./schema.ts";
export { writerPart } from "./writer.ts";
export type { TransferOptions, TransferReport } from "./transfer/mod.ts";
export { verifyLog } from "./sqlite_verification.ts";
export type { LogReport } from "./verification.ts";
