import { randomBytes } from "node:crypto";
import type { TicketField } from "../artifact/mod.ts";
import { isArtifactHash, sha1 } from "../codec/mod.ts";
import {
  blockersIn,
  isCustomTicketFieldName,
  MAX_WORK_TEXT,
  readTicketClosing,
  type SqlValue,
  ticketFieldType,
  ticketRowsQuery,
  WORK_FIELDS,
} from "../content/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, dateAfter, writeAs } from "./author.ts";
import { addWorkFields } from "./ticket_fields.ts";

/** A change of a ticket to write. */
export interface NewTicketChange extends Author {
  /** Id of an existing ticket; absent for a new one. */
  readonly ticket?: string;
  readonly fields: readonly TicketField[];
  /** Fields that are set if tickets of the repository have them. */
  readonly optional?: readonly TicketField[];
  /** A comment, in the fields that the repository has for it. */
  readonly comment?: { readonly text: string; readonly mimetype?: string };
}

/** A change of a ticket that was written. */
export interface WrittenTicketChange {
  readonly ticket: string;
  readonly hash: string;
  /** Unix milliseconds: the author's date, or later if an older change has that date. */
  readonly date: number;
}

/**
 * Writes a change of a ticket. Values of fields whose names begin with "private_" are concealed:
 * the artifact has only their SHA1. If the change sets one of muster's own fields, and the repository
 * lacks its column, it gets them all.
 *
 * @throws {FossilError} `missing` if the ticket is unknown; `invalid` if the repository has no such
 * field, or a custom field of numbers gets a text; `conflict` if the ticket would wait for itself.
 */
export function writeTicketChange(
  repository: Repository,
  change: NewTicketChange,
): WrittenTicketChange {
  const ticket = change.ticket ?? randomBytes(20).toString("hex");
  const conclude = () => {
    if (change.fields.some(({ name }) => name === "blocked_by")) {
      requireNoCircle(repository, ticket);
    }
  };
  return writeAs(repository, change, () => {
    if (lacksWorkField(repository, change)) addWorkFields(repository, change);
    const fields = fieldsOf(repository, change);
    const newest = repository.db.value<number | null>(
      "SELECT max(mtime) FROM tagxref JOIN tag USING(tagid) WHERE tagname=?",
      `tkt-${ticket}`,
    );
    if (change.ticket !== undefined && newest === null) {
      throw new FossilError("missing", `Ticket "${ticket}" is unknown`);
    }
    const date = dateAfter(change, newest);
    const hash = repository.add({
      kind: "ticket",
      date,
      fields: fields.map((field) => conceal(repository, field)),
      ticket,
      user: change.user,
    });
    return { ticket, hash, date };
  }, { conclude });
}

function lacksWorkField({ db }: Repository, { fields }: NewTicketChange): boolean {
  const own = fields.filter(({ name }) => (WORK_FIELDS as readonly string[]).includes(name));
  if (own.length === 0) return false;
  const columns = new Set(db.columns("ticket"));
  return columns.size > 0 && own.some(({ name }) => !columns.has(name));
}

/**
 * Looks at every ticket once at most: what other programs wrote may have circles.
 *
 * @throws {FossilError} `conflict` if the ticket waits for itself, by way of others or directly
 */
function requireNoCircle({ db }: Repository, ticket: string): void {
  const rows = db.rows<{ uuid: string; names: string }>(
    "SELECT tkt_uuid AS uuid, substr(blocked_by,1,?) AS names FROM ticket WHERE blocked_by<>''",
    MAX_WORK_TEXT,
  );
  const waiting = new Map(rows.map(({ uuid, names }) => [uuid, names]));
  const seen = new Set<string>();
  const next = [ticket];
  for (let one = next.pop(); one !== undefined; one = next.pop()) {
    for (const blocker of blockersIn(db, waiting.get(one) ?? "")) {
      if (blocker === ticket) {
        const reason = one === ticket
          ? "A ticket cannot wait for itself"
          : `Ticket ${one.slice(0, 10)} waits for this one already: they would wait in a circle`;
        throw new FossilError("conflict", reason);
      }
      if (seen.has(blocker)) continue;
      seen.add(blocker);
      next.push(blocker);
    }
  }
}

/**
 * Closes a ticket as work that was done, in the words of the repository's own configuration.
 * Returns the hash of the change; null if the ticket is unknown or closed already, or has no
 * status.
 */
export function closeTicket(
  repository: Repository,
  { ticket, ...author }: Author & { readonly ticket: string },
): string | null {
  return writeAs(repository, author, () => {
    const { db, config } = repository;
    const { column, statuses, resolution } = readTicketClosing(db, config);
    const rows = ticketRowsQuery(db);
    if (rows === null) return null;
    const row = db.row<Record<string, SqlValue>>(`${rows} WHERE tkt_uuid=?`, ticket);
    const [closed] = statuses;
    if (row === undefined || column === null || closed === undefined) return null;
    if (statuses.includes(String(row[column] ?? ""))) return null;
    const values = { [column]: closed, ...resolution === null ? {} : { resolution } };
    const fields = Object.entries(values).map(([name, value]) => ({ name, value, append: false }));
    return writeTicketChange(repository, { ...author, ticket, fields }).hash;
  });
}

/** The fields that a change sets in this repository. */
function fieldsOf({ db }: Repository, change: NewTicketChange): TicketField[] {
  const { optional = [], comment, user } = change;
  const columns = new Map<string, string>();
  for (const table of ["ticketchng", "ticket"]) {
    for (const { name, type } of db.typedColumns(table)) columns.set(name, type);
  }
  const has = ({ name }: TicketField) => columns.has(name);
  const isSet = ({ name }: TicketField) => change.fields.some((field) => field.name === name);
  const fields = [
    ...change.fields,
    ...optional.filter((field) => has(field) && !isSet(field)),
    ...(comment === undefined ? [] : commentFields(comment, user, has)),
  ];
  if (fields.length === 0) throw new FossilError("invalid", "The change has no field");
  for (const { name, value } of fields) {
    const type = name.startsWith("tkt_") || name.includes(" ") ? undefined : columns.get(name);
    if (type === undefined) {
      throw new FossilError("invalid", `Tickets of this repository have no field "${name}"`);
    }
    if (
      isCustomTicketFieldName(name) && ticketFieldType(type) === "number" && !NUMBER.test(value)
    ) {
      const example = 'such as "3" or "2.5"';
      throw new FossilError("invalid", `The field "${name}" takes a number, ${example}`);
    }
  }
  return fields;
}

/** A decimal number, or nothing. */
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?)?$/i;

/**
 * The fields of a comment, as the program writes them. Old repositories have no fields for comments;
 * there, the comment is appended to the description.
 */
function commentFields(
  { text, mimetype = "text/plain" }: NonNullable<NewTicketChange["comment"]>,
  user: string,
  has: (field: TicketField) => boolean,
): TicketField[] {
  const set = (name: string, value: string) => ({ name, value, append: false });
  const comment = set("icomment", text);
  if (has(comment)) {
    return [comment, set("mimetype", mimetype), set("login", user)].filter(has);
  }
  return [{ name: "comment", value: `\n\n${user}: ${text}`, append: true }];
}

function conceal(repository: Repository, field: TicketField): TicketField {
  const { name, value } = field;
  if (!name.startsWith("private_") || value === "" || isArtifactHash(value)) return field;
  const hash = sha1(value);
  repository.db.run(
    "REPLACE INTO concealed(hash,content,mtime) VALUES(?,?,CAST(strftime('%s','now') AS INT))",
    hash,
    value,
  );
  return { ...field, value: hash };
}
