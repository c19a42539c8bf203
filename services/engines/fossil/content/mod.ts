/** The repository file: its tables, and its artifacts as bytes. */
export {
  applyChanges,
  type FirstNumbers,
  noteChanges,
  type NotedTable,
  Outdated,
} from "./changed_rows.ts";
export { Config, mainBranch } from "./config.ts";
export { addUser, createDatabase, type CreateOptions, type NewUser } from "./create.ts";
export { Database, type DatabaseOptions, type SqlValue } from "./database.ts";
export { isDamage, openDerived, removeDerived } from "./derived_file.ts";
export { copyDraft } from "./draft.ts";
export { type Examination, examine, type MissingContent } from "./examine.ts";
export { type AccessOptions, openDatabase, type OpenedDatabase, type SchemaState } from "./open.ts";
export {
  AUX_SCHEMA,
  AWAITED_SCHEMA,
  CONTENT_SCHEMA,
  DERIVED_SCHEMA,
  FORUM_SCHEMA,
  PERMANENT_TABLES,
  TAG,
  UNJUDGED_SCHEMA,
} from "./schema.ts";
export { DANGLING, dropMissing, dropPrivate, dropShunned, PUBLIC, READABLE, shun } from "./shun.ts";
export { rebuildPositions, walkArtifacts, type WalkedArtifact } from "./walk.ts";
export { ContentStore } from "./store.ts";
export type { Origin, PutOptions, PutResult, StoredArtifact, StoreOptions } from "./store_types.ts";
export { readTicketClosing, type TicketClosing } from "./ticket_closing.ts";
export {
  type CustomTicketField,
  isBuiltInTicketField,
  isCustomTicketFieldName,
  MAX_TICKET_FIELD_NAME,
  TICKET_FIELD_TYPES,
  TICKET_FIELDS_DATE,
  type TicketFieldType,
  ticketFieldType,
  withoutTicketColumn,
  withTicketColumn,
} from "./ticket_columns.ts";
export {
  blockersIn,
  labelsIn,
  MAX_WORK_TEXT,
  MIN_TICKET_PREFIX,
  WORK_BOUNDS,
  WORK_FIELDS,
} from "./ticket_work.ts";
export { copySnapshot } from "./snapshot.ts";
export { createTicketTables, ticketRowsQuery, ticketSchemaOf } from "./ticket_schema.ts";
export { TouchedEvents } from "./touched_events.ts";
export { upgradePermanentTables } from "./upgrade.ts";
export {
  type Damage,
  type HashCheck,
  hashingHere,
  type Progress,
  ProgressSteps,
  verifyArtifacts,
  type VerifyOptions,
} from "./verify.ts";
export { draftPathFor, removeDeadDrafts, removeDraft, requireAbsent } from "./whole_file.ts";
