import {
  createTicketTables,
  type CustomTicketField,
  isBuiltInTicketField,
  isCustomTicketFieldName,
  MAX_TICKET_FIELD_NAME,
  readTicketClosing,
  TICKET_FIELDS_DATE,
  ticketSchemaOf,
  withoutTicketColumn,
  withTicketColumn,
  WORK_FIELDS,
} from "../content/mod.ts";
import { errorCodeOf, FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, writeAs } from "./author.ts";

/** A new field of a repository's tickets. */
export interface NewTicketField extends Author, CustomTicketField {}

/** Most custom fields of a repository. */
export const MAX_TICKET_FIELDS = 50;

/**
 * Adds a field to the repository's setting `ticket-table`, and makes those tickets again that have
 * set the field already.
 *
 * @throws {FossilError} `invalid` if the name cannot be that of a custom field; `conflict` if the
 * field exists, or too many do; `unsupported` if the setting has an unusual form.
 */
export function addTicketField(repository: Repository, field: NewTicketField): void {
  const { name } = field;
  if (!isCustomTicketFieldName(name)) throw new FossilError("invalid", reasonAgainst(name));
  const refusal = new FossilError(
    "invalid",
    `"${name}" is a keyword of SQL and cannot name a field`,
  );
  changeFields(repository, { names: [name], author: field, refusal }, (columns, schema) => {
    const known = [...columns.ticket, ...columns.change];
    if (known.some((column) => column.toLowerCase() === name.toLowerCase())) {
      throw new FossilError("conflict", `Tickets already have a field "${name}"`);
    }
    if (columns.ticket.filter(isCustomTicketFieldName).length >= MAX_TICKET_FIELDS) {
      const message = `Tickets can have at most ${MAX_TICKET_FIELDS} custom fields`;
      throw new FossilError("conflict", message);
    }
    return { ticket: [...columns.ticket, name], schema: withTicketColumn(schema, field) };
  });
}

/**
 * Adds those of muster's own fields to the repository's setting `ticket-table` that it lacks, as
 * {@link addTicketField} does.
 *
 * @throws {FossilError} `unsupported` if the setting has an unusual form
 */
export function addWorkFields(repository: Repository, author: Author): void {
  const known = new Set(repository.db.columns("ticket"));
  const names = WORK_FIELDS.filter((name) => !known.has(name));
  changeFields(repository, { names, author }, ({ ticket }, schema) => ({
    ticket: [...ticket, ...names],
    schema: names.reduce((text, name) => withTicketColumn(text, { name, type: "text" }), schema),
  }));
}

/**
 * Removes a custom field from the repository's setting `ticket-table`. The artifacts keep its
 * values: if the field is added again, they are back.
 *
 * @throws {FossilError} `missing` if there is no such field; `invalid` if it is a built-in one;
 * `conflict` if other settings depend on it; `unsupported` if the setting has an unusual form.
 */
export function removeTicketField(
  repository: Repository,
  { name, ...author }: Author & { readonly name: string },
): void {
  if (isBuiltInTicketField(name)) {
    throw new FossilError("invalid", `The field "${name}" is built in and cannot be removed`);
  }
  const refusal = new FossilError(
    "conflict",
    `The field "${name}" is in use by an index or a constraint`,
  );
  changeFields(repository, { names: [name], author, refusal }, (columns, schema) => {
    if (!isCustomTicketFieldName(name) || !columns.ticket.includes(name)) {
      throw new FossilError("missing", `Tickets have no custom field "${name}"`);
    }
    if (fieldsInUse(repository).includes(name)) {
      const message = `The field "${name}" is in use by the repository's settings`;
      throw new FossilError("conflict", message);
    }
    const ticket = columns.ticket.filter((column) => column !== name);
    return { ticket, schema: withoutTicketColumn(schema, name) };
  });
}

function reasonAgainst(name: string): string {
  if (isBuiltInTicketField(name)) return `The field "${name}" is built in`;
  return `"${name}" cannot be the name of a field: a name is a letter, then letters, digits and ` +
    `"_", at most ${MAX_TICKET_FIELD_NAME} in all, and does not begin with "tkt_"`;
}

/** Fields that give tickets their title and status. */
function fieldsInUse({ db, config }: Repository): readonly (string | null | undefined)[] {
  const { column } = readTicketClosing(db, config);
  return [column, config.get("ticket-status-column"), config.get("ticket-title-expr")];
}

interface Columns {
  readonly ticket: readonly string[];
  readonly change: readonly string[];
}

/**
 * @param names the fields that are added or removed
 * @param refusal what to throw if SQLite refuses the new text
 * @param plan the new text of the setting, and the columns of `ticket` that it must lead to
 */
function changeFields(
  repository: Repository,
  { names, author, refusal }: {
    readonly names: readonly string[];
    readonly author: Author;
    readonly refusal?: FossilError;
  },
  plan: (
    columns: Columns,
    schema: string,
  ) => { readonly ticket: readonly string[]; readonly schema: string },
): void {
  const { config } = repository;
  writeAs(repository, author, () => {
    const kept = setRowsAside(repository);
    const before = recreate(repository);
    const { ticket, schema } = plan(before, ticketSchemaOf(config));
    config.set("ticket-table", schema);
    const after = recreate(repository, refusal);
    const isAsPlanned = after.ticket.join() === ticket.join() &&
      after.change.join() === before.change.join();
    if (!isAsPlanned) {
      throw new FossilError("unsupported", "The ticket schema has a form that cannot be changed");
    }
    config.set(TICKET_FIELDS_DATE, String(author.date));
    // Another program may have changed the setting without a rebuild.
    const isComplete = kept.ticket.join() === before.ticket.join() &&
      kept.change.join() === before.change.join();
    if (isComplete) putRowsBack(repository);
    dropRowsAside(repository);
    repository.relinkTickets(isComplete ? names : null);
  });
}

const TABLES = ["ticket", "ticketchng"];

/** Copies the rows of the tables of tickets; returns the tables' columns. */
function setRowsAside({ db }: Repository): Columns {
  for (const table of TABLES.filter((name) => db.hasTable(name))) {
    db.exec(`CREATE TEMP TABLE "kept ${table}" AS SELECT * FROM main."${table}" ORDER BY rowid`);
  }
  return columnsOf(db);
}

/** Fills recreated tables with the rows that were set aside. */
function putRowsBack({ db }: Repository): void {
  for (const table of TABLES.filter((name) => db.hasTable(name))) {
    const kept = new Set(db.columns(`kept ${table}`));
    const names = db.columns(table).filter((column) => kept.has(column))
      .map((column) => `"${column.replaceAll('"', '""')}"`).join();
    db.exec(`INSERT INTO main."${table}"(${names}) SELECT ${names} FROM temp."kept ${table}"`);
  }
}

function dropRowsAside({ db }: Repository): void {
  for (const table of TABLES) db.exec(`DROP TABLE IF EXISTS temp."kept ${table}"`);
}

/** Recreates the tables of tickets, empty, and returns their columns. */
function recreate({ db, config }: Repository, refusal?: FossilError): Columns {
  db.forgetStatements();
  try {
    createTicketTables(db, config);
  } catch (error) {
    const code = errorCodeOf(error);
    const isRefused = code === null || code === "unsupported";
    throw isRefused && refusal !== undefined ? refusal : error;
  }
  return columnsOf(db);
}

function columnsOf(db: Repository["db"]): Columns {
  return { ticket: db.columns("ticket"), change: db.columns("ticketchng") };
}
