/**
 * Tickets. Each repository defines its own fields. A field that the shapes have and the repository
 * lacks is empty text.
 */
import { shownText, type TicketChange } from "../artifact/mod.ts";
import { isHex } from "../codec/mod.ts";
import {
  blockersIn,
  type CustomTicketField,
  isCustomTicketFieldName,
  labelsIn,
  MIN_TICKET_PREFIX,
  readTicketClosing,
  type SqlValue,
  TICKET_FIELDS_DATE,
  type TicketClosing,
  ticketFieldType,
  ticketRowsQuery,
} from "../content/mod.ts";
import { FossilError } from "../error.ts";
import { timestampOf } from "./checkins.ts";
import { pageOf, type Paging } from "./paging.ts";
import type { Reader } from "./reader.ts";
import type {
  Blocker,
  Ticket,
  TicketChangeEntry,
  TicketChangeList,
  TicketComment,
  TicketRef,
} from "./shapes.ts";

type TicketRow = Readonly<Record<string, SqlValue>>;

const ID_LENGTH = 40;
const PLAIN_TEXT = "text/plain";

/** So much is told of a text before something was appended to it, in characters: it may be long. */
const MAX_BEFORE_APPENDED = 1000;

/** The fields that tickets of a repository have. */
export interface TicketFields {
  /** Fields of the ticket itself, in the order of its table. */
  readonly ticket: readonly string[];
  /** Fields that belong to a change, such as its comment. */
  readonly change: readonly string[];
  /** Fields of the ticket itself that a new repository does not have. */
  readonly custom: readonly CustomTicketField[];
}

/** The fields that tickets of this repository have, by its own schema. */
export function readTicketFields(reader: Reader): TicketFields {
  const { db } = reader.repository;
  const own = (table: string) =>
    db.typedColumns(table).filter(({ name }) => !name.startsWith("tkt_"));
  return reader.read(() => {
    const ticket = own("ticket");
    return {
      ticket: ticket.map(({ name }) => name),
      change: own("ticketchng").map(({ name }) => name),
      custom: ticket.filter(({ name }) => isCustomTicketFieldName(name))
        .map(({ name, type }) => ({ name, type: ticketFieldType(type) })),
    };
  });
}

/**
 * The date of the last change of the fields that this engine made, in Unix milliseconds; null if it
 * made none.
 */
export function readTicketFieldsDate(reader: Reader): number | null {
  return reader.read(() => {
    const date = reader.repository.config.get(TICKET_FIELDS_DATE);
    return date === undefined ? null : Number(date);
  });
}

/**
 * A ticket with its comments and changes, both oldest first.
 *
 * @param uuid its id, or a prefix of at least 4 digits.
 * @param hasChanges whether to read these; if not, there are none.
 * @throws {FossilError} `missing` if there is none; `ambiguous` if a prefix fits several.
 */
export function readTicket(reader: Reader, uuid: string, hasChanges = true): Ticket {
  return reader.read(() => {
    const row = findTicket(reader, uuid);
    const ref = ticketRef(reader, row);
    const columns = Object.keys(row).filter((column) => !column.startsWith("tkt_"));
    const changes = hasChanges ? changesOf(reader, ref.uuid) : [];
    return {
      ...ref,
      resolution: text(row, "resolution"),
      body: text(row, "comment"),
      fields: Object.fromEntries(columns.map((column) => [column, text(row, column)])),
      comments: changes.flatMap((change, i) => commentOf(change, i === 0)),
      changes: changes.map(({ uuid, timestamp, user, change }) => ({
        uuid,
        timestamp,
        user,
        fields: change.fields,
      })),
    };
  });
}

/**
 * A page of a ticket's changes, newest first, each with the values that it replaced.
 *
 * @param id its id, or a prefix of at least 4 digits.
 * @throws {FossilError} `missing` if there is none; `ambiguous` if a prefix fits several.
 */
export function listTicketChanges(
  reader: Reader,
  { id, ...paging }: Paging & { readonly id: string },
): TicketChangeList {
  return reader.read(() => {
    const { limit, offset } = pageOf(paging);
    const { uuid: ticket } = ticketRef(reader, findTicket(reader, id));
    const values = new Map<string, FieldValue>();
    const changes = changesOf(reader, ticket).map(({ uuid, timestamp, user, change }) => ({
      uuid,
      timestamp,
      user,
      fields: change.fields.map(({ name, value, append }) => {
        const previous = values.get(name) ?? new FieldValue();
        const shown = append ? previous.head : previous.whole;
        values.set(name, append ? previous.add(value) : new FieldValue().add(value));
        return { name, value, append, previous: shown };
      }),
    }));
    const page = changes.reverse().slice(offset, offset + limit);
    return { ticket, changes: page, total: changes.length };
  });
}

/** A value that grows by what is appended to it. */
class FieldValue {
  readonly #parts: string[] = [];
  #head = "";

  /** Its first {@link MAX_BEFORE_APPENDED} characters. */
  get head(): string {
    return this.#head;
  }

  get whole(): string {
    return this.#parts.join("");
  }

  add(text: string): this {
    this.#parts.push(text);
    this.#head = (this.#head + text.slice(0, MAX_BEFORE_APPENDED)).slice(0, MAX_BEFORE_APPENDED);
    return this;
  }
}

/**
 * A ticket in one line.
 *
 * @param uuid its id, or a prefix of at least 4 digits.
 * @throws {FossilError} `missing` if there is none; `ambiguous` if a prefix fits several.
 */
export function resolveTicket(reader: Reader, uuid: string): TicketRef {
  return reader.read(() => ticketRef(reader, findTicket(reader, uuid)));
}

/** A ticket in one line, by its full id; null if there is none. Needs `read`. */
export function readTicketRef(reader: Reader, uuid: string): TicketRef | null {
  const [row] = ticketRows(reader, "WHERE tkt_uuid=?", uuid);
  return row === undefined ? null : ticketRef(reader, row);
}

/**
 * Whether a ticket is closed, by the repository's own words.
 *
 * @param uuid its full id; an unknown ticket is not closed.
 */
export function isTicketClosed(reader: Reader, uuid: string): boolean {
  return reader.read(() => {
    const [row] = ticketRows(reader, "WHERE tkt_uuid=?", uuid);
    return row !== undefined && isClosed(reader, row);
  });
}

/** Needs `read`. */
function isClosed(reader: Reader, row: TicketRow): boolean {
  const { column, statuses } = ticketClosing(reader);
  return column !== null && statuses.includes(text(row, column));
}

/** What closes tickets of the repository. Needs `read`. */
export function ticketClosing(reader: Reader): TicketClosing {
  return reader.cached("ticket closing", () => {
    const { db, config } = reader.repository;
    return { value: readTicketClosing(db, config), bytes: 1000 };
  });
}

/** Whether a change is the first one of its ticket. Needs `read`. */
export function isFirstChange(
  { repository: { db } }: Reader,
  ticket: string,
  rid: number,
): boolean {
  const first = db.value<number>(
    `SELECT rid FROM tag CROSS JOIN tagxref USING(tagid)
      WHERE tagname=? AND tagtype>0 ORDER BY mtime, rid LIMIT 1`,
    `tkt-${ticket}`,
  );
  return first === rid;
}

function findTicket(reader: Reader, uuid: string): TicketRow {
  const prefix = uuid.toLowerCase();
  const isPrefix = prefix.length >= MIN_TICKET_PREFIX && prefix.length <= ID_LENGTH &&
    isHex(prefix);
  const condition = "WHERE tkt_uuid>=? AND tkt_uuid<? LIMIT 2";
  const rows = isPrefix ? ticketRows(reader, condition, prefix, `${prefix}g`) : [];
  if (rows.length > 1) throw new FossilError("ambiguous", `"${uuid}" fits several tickets`);
  if (rows[0] === undefined) throw new FossilError("missing", `There is no ticket "${uuid}"`);
  return rows[0];
}

/** The rows of tickets under a condition; none without a table of tickets. Needs `read`. */
function ticketRows(reader: Reader, condition: string, ...values: readonly string[]): TicketRow[] {
  const { db } = reader.repository;
  const query = reader.cached("ticket rows", () => {
    const value = ticketRowsQuery(db);
    return { value, bytes: value?.length ?? 0 };
  });
  return query === null ? [] : db.rows<TicketRow>(`${query} ${condition}`, ...values);
}

function text(row: TicketRow, column: string): string {
  return String(row[column] ?? "");
}

function ticketRef(reader: Reader, row: TicketRow): TicketRef {
  const blocked_by = readBlockers(reader, text(row, "blocked_by"));
  const modified = Number(row["tkt_mtime"] ?? 0);
  return {
    uuid: text(row, "tkt_uuid"),
    title: shownText(text(row, "title"), "title"),
    status: shownText(text(row, "status"), "name"),
    type: shownText(text(row, "type"), "name"),
    subsystem: shownText(text(row, "subsystem"), "name"),
    priority: shownText(text(row, "priority"), "name"),
    severity: shownText(text(row, "severity"), "name"),
    assignee: shownText(text(row, "assignee"), "name"),
    labels: labelsIn(text(row, "labels")).map((label) => shownText(label, "name")),
    blocked_by,
    is_blocked: blocked_by.some(({ is_closed }) => !is_closed) && !isClosed(reader, row),
    created: timestampOf(Number(row["tkt_ctime"] ?? modified)),
    last_modified: timestampOf(modified),
  };
}

/** The tickets that a field names, as far as the repository has them. */
function readBlockers(reader: Reader, names: string): Blocker[] {
  if (names === "") return [];
  return blockersIn(reader.repository.db, names).flatMap((uuid) => {
    const [row] = ticketRows(reader, "WHERE tkt_uuid=?", uuid);
    return row === undefined ? [] : [{ uuid, is_closed: isClosed(reader, row) }];
  });
}

interface ReadChange extends Omit<TicketChangeEntry, "fields"> {
  readonly change: TicketChange;
}

function changesOf(reader: Reader, ticket: string): ReadChange[] {
  const rows = reader.repository.db.rows<{ rid: number; mtime: number; uuid: string }>(
    `SELECT tagxref.rid, tagxref.mtime, blob.uuid
       FROM tag CROSS JOIN tagxref USING(tagid) JOIN blob ON blob.rid=tagxref.rid
      WHERE tagname=? AND tagtype>0 ORDER BY tagxref.mtime, tagxref.rid`,
    `tkt-${ticket}`,
  );
  return rows.flatMap(({ rid, mtime, uuid }) => {
    const change = reader.repository.artifact(rid);
    if (change?.kind !== "ticket") return [];
    return [{ uuid, timestamp: timestampOf(mtime), user: shownText(change.user, "name"), change }];
  });
}

/**
 * The comment of a change: the field "icomment", or the text appended to "comment". The "comment"
 * of the first change is the text of the ticket.
 */
function commentOf(entry: ReadChange, isFirst: boolean): TicketComment[] {
  const { uuid, timestamp, user, change: { fields } } = entry;
  const said = fields.find(({ name, append }) =>
    name === "icomment" || (name === "comment" && append && !isFirst)
  );
  if (said === undefined || said.value === "") return [];
  const mimetype = fields.find(({ name }) => name === "mimetype")?.value ?? PLAIN_TEXT;
  return [{ uuid, timestamp, user, comment: said.value, mimetype }];
}
