import { randomBytes } from "node:crypto";
import type { TicketField } from "../artifact/mod.ts";
import { isArtifactHash, sha1 } from "../codec/mod.ts";
import { readTicketClosing, type SqlValue, ticketRowsQuery } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type Author, dateAfter, writeAs } from "./author.ts";

/** A change of a ticket to write. */
export interface NewTicketChange extends Author {
  /** Id of an existing ticket; absent for a new one. */
  readonly ticket?: string;
  readonly fields: readonly TicketField[];
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
 * the artifact has only their SHA1.
 *
 * @throws {FossilError} `missing` if the ticket is unknown; `invalid` if the repository has no such
 * field.
 */
export function writeTicketChange(
  repository: Repository,
  change: NewTicketChange,
): WrittenTicketChange {
  return writeAs(repository, change, () => {
    const ticket = change.ticket ?? randomBytes(20).toString("hex");
    checkFields(repository, change.fields);
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
      fields: change.fields.map((field) => conceal(repository, field)),
      ticket,
      user: change.user,
    });
    return { ticket, hash, date };
  });
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

function checkFields(repository: Repository, fields: readonly TicketField[]): void {
  if (fields.length === 0) throw new FossilError("invalid", "The change has no field");
  const columns = new Set([
    ...repository.db.columns("ticket"),
    ...repository.db.columns("ticketchng"),
  ]);
  for (const { name } of fields) {
    if (columns.has(name) && !name.startsWith("tkt_") && !name.includes(" ")) continue;
    throw new FossilError("invalid", `Tickets of this repository have no field "${name}"`);
  }
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
