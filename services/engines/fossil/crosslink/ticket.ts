/**
 * Tickets. A row of `ticket` is what all changes of the ticket make of it in the order of their
 * dates. One that is later than all others is added to it; whenever another one arrives, the row is
 * made again. Which fields there are, the repository says
 * itself: by the columns of `ticket` (the state) and `ticketchng` (one row per change).
 */
import type { TicketChange, TicketField } from "../artifact/mod.ts";
import { decodeUtf8, escapeHtml, toJulianDay } from "../codec/mod.ts";
import type { SqlValue } from "../content/mod.ts";
import { relabelAttachments } from "./attachment.ts";
import { addBacklinks } from "./backlink.ts";
import type { LinkContext } from "./context.ts";
import { insertTag, TAG_TYPE, tagId } from "./tag.ts";

export function linkTicketChange(ctx: LinkContext, rid: number, change: TicketChange): void {
  insertTag(ctx, {
    name: `tkt-${change.ticket}`,
    type: TAG_TYPE.single,
    value: null,
    source: rid,
    day: toJulianDay(change.date),
    target: rid,
  });
  const { tickets } = ctx.pending;
  const linked = tickets.get(change.ticket);
  if (linked === undefined) tickets.set(change.ticket, new Set([rid]));
  else linked?.add(rid);
  relabelAttachments(ctx, "ticket", change.ticket);
}

/** Columns of both tables that fields can be stored in. */
class TicketColumns {
  readonly state: ReadonlySet<string>;
  readonly change: ReadonlySet<string>;
  /** Every column of `ticket`. */
  readonly all: ReadonlySet<string>;
  readonly hasCreationTime: boolean;
  readonly hasChangeRow: boolean;
  readonly hasChangeUser: boolean;
  readonly #baselines: ReadonlySet<string>;

  constructor(ctx: LinkContext) {
    const state = ctx.db.columns("ticket");
    const change = ctx.db.columns("ticketchng");
    this.all = new Set(state);
    this.state = new Set(state.filter(isFieldName));
    this.change = new Set(change.filter(isFieldName));
    this.hasCreationTime = state.includes("tkt_ctime");
    this.hasChangeRow = change.includes("tkt_rid");
    this.hasChangeUser = change.includes("tkt_user");
    const integers = ctx.db.typedColumns("ticket").filter(({ type }) => type === "INTEGER");
    this.#baselines = new Set(integers.map(({ name }) => name));
  }

  /** The column that keeps which change last set a field, if the repository wants one. */
  baselineFor(field: string): string | null {
    const column = `baseline for ${field}`;
    return this.#baselines.has(column) ? column : null;
  }

  has(field: string): boolean {
    return this.state.has(field) || this.change.has(field);
  }
}

function isFieldName(column: string): boolean {
  return !column.startsWith("tkt_") && !column.includes(" ");
}

/** A value of a field that backlinks are taken from when all changes were applied. */
interface FieldText {
  readonly rid: number;
  readonly change: TicketChange;
  readonly value: string;
  readonly mimetype: string | null;
}

/**
 * Brings the rows of tickets up to date with their changes.
 *
 * @param tickets the rows of new changes by ticket; null to make a ticket again from all its changes.
 */
export function rebuildTickets(
  ctx: LinkContext,
  tickets: ReadonlyMap<string, ReadonlySet<number> | null>,
): void {
  if (tickets.size === 0) return;
  const columns = new TicketColumns(ctx);
  if (columns.all.size === 0) return;
  for (const [ticket, rids] of tickets) {
    const tag = tagId(ctx, `tkt-${ticket}`);
    const row = { columns, ticket, tag };
    if (rids === null || !addChanges(ctx, row, rids)) rebuildTicket(ctx, row);
  }
}

/**
 * The tickets that the columns of fields matter for: those with a change that names one of them, and
 * all if one gives tickets their titles or their status. Reads the changes without parsing them.
 *
 * @param fields names of letters, digits and "_"; null for all tickets
 */
export function ticketsNaming(
  ctx: LinkContext,
  fields: readonly string[] | null,
): ReadonlySet<string> {
  const isShown = fields === null || ["ticket-title-expr", "ticket-status-column"]
    .some((setting) => fields.includes(ctx.config.get(setting) ?? ""));
  const card = new RegExp(`^J \\+?(?:${fields?.join("|")})(?: |$)`, "m");
  const changes = ctx.db.rows<{ ticket: string; rid: number }>(
    `SELECT substr(tagname,5) AS ticket, rid FROM tag JOIN tagxref USING(tagid)
      WHERE tagname GLOB 'tkt-*' ORDER BY tagid`,
  );
  const tickets = new Set<string>();
  for (const { ticket, rid } of changes) {
    if (tickets.has(ticket)) continue;
    const content = isShown ? null : ctx.store.get(rid);
    if (isShown || (content !== null && card.test(decodeUtf8(content)))) tickets.add(ticket);
  }
  return tickets;
}

/** A ticket to bring up to date, and the row of its tag. */
interface Outdated {
  readonly columns: TicketColumns;
  readonly ticket: string;
  readonly tag: number;
}

/**
 * Applies new changes to the row of a ticket, if all of them are later than those that made it. A
 * thread may have thousands.
 *
 * @returns whether it did.
 */
function addChanges(
  ctx: LinkContext,
  { columns, ticket, tag }: Outdated,
  rids: ReadonlySet<number>,
): boolean {
  const id = ctx.db.value<number>("SELECT tkt_id FROM ticket WHERE tkt_uuid=?", ticket);
  if (id === undefined) return false;
  // The thread itself may be long.
  const [earlier, ...fresh] = ctx.db.rows<{ rid: number; mtime: number }>(
    "SELECT rid, mtime FROM tagxref WHERE tagid=? ORDER BY mtime DESC LIMIT ?",
    tag,
    rids.size + 1,
  ).reverse();
  if (
    earlier === undefined || fresh.length < rids.size || fresh.some(({ rid }) => !rids.has(rid))
  ) return false;
  if (fresh.some(({ mtime }) => mtime <= earlier.mtime)) return false;
  const isApplied = ({ rid }: { readonly rid: number }) =>
    ctx.db.exists("SELECT 1 FROM event WHERE objid=?", rid);
  if (!isApplied(earlier) || fresh.some(isApplied)) return false;
  const changes = fresh.map(({ rid }) => ({ rid, change: ctx.artifact(rid) }));
  const setsText = changes.some(({ change }) =>
    change?.kind === "ticket" &&
    change.fields.some(({ name, append }) =>
      !append && columns.state.has(name) && !columns.change.has(name)
    )
  );
  // A text that is replaced takes its links along.
  if (setsText && ctx.db.exists(`SELECT 1 FROM backlink WHERE ${OF_TICKET}`, tag)) return false;
  applyChanges(ctx, { columns, ticket, tag }, { id, rids: fresh, isNew: false });
  return true;
}

function rebuildTicket(ctx: LinkContext, row: Outdated): void {
  clearTicket(ctx, row.ticket, row.tag);
  const rids = ctx.db.rows<{ rid: number }>(
    "SELECT rid FROM tagxref WHERE tagid=? ORDER BY mtime",
    row.tag,
  );
  applyChanges(ctx, row, { id: 0, rids, isNew: true });
}

/** @param first the row of the ticket, 0 if it has none, and whether the first change is its first */
function applyChanges(
  ctx: LinkContext,
  { columns, ticket, tag }: Outdated,
  first: {
    readonly id: number;
    readonly rids: readonly { readonly rid: number }[];
    readonly isNew: boolean;
  },
): void {
  const texts = new Map<string, FieldText[]>();
  let { id, isNew } = first;
  for (const { rid } of first.rids) {
    const change = ctx.artifact(rid);
    if (change?.kind === "ticket") {
      if (id === 0) {
        id = ctx.db.insert("INSERT INTO ticket(tkt_uuid,tkt_mtime) VALUES(?,0)", ticket);
      }
      applyChange(ctx, columns, { id, rid, change }, texts);
      putTicketEvent(ctx, columns, { tag, rid, change, isNew });
    }
    isNew = false;
  }
  for (const { rid, change, value, mimetype } of [...texts.values()].flat()) {
    addBacklinks(ctx, value, { type: "ticket", id: rid, mimetype, day: toJulianDay(change.date) });
  }
}

/** The links that the changes of a ticket have. */
const OF_TICKET = "srctype=1 AND srcid IN (SELECT rid FROM tagxref WHERE tagid=?)";

function clearTicket(ctx: LinkContext, ticket: string, tag: number): void {
  const id = ctx.db.value<number>("SELECT tkt_id FROM ticket WHERE tkt_uuid=?", ticket);
  if (id !== undefined) {
    if (ctx.db.hasTable("ticketchng")) ctx.db.run("DELETE FROM ticketchng WHERE tkt_id=?", id);
    ctx.db.run("DELETE FROM ticket WHERE tkt_id=?", id);
  }
  ctx.db.run(`DELETE FROM backlink WHERE ${OF_TICKET}`, tag);
}

interface Step {
  /** Row of `ticket`. */
  readonly id: number;
  readonly rid: number;
  readonly change: TicketChange;
}

function applyChange(
  ctx: LinkContext,
  columns: TicketColumns,
  step: Step,
  texts: Map<string, FieldText[]>,
): void {
  const { rid, change } = step;
  const fields = change.fields.filter((field) => columns.has(field.name));
  updateState(ctx, columns, step, fields);
  insertChangeRow(ctx, columns, step, fields);
  const mimetype = fields.find((field) => field.name === "mimetype")?.value ?? null;
  for (const { name, value, append } of fields) {
    if (columns.change.has(name)) {
      const day = toJulianDay(change.date);
      addBacklinks(ctx, value, { type: "ticket", id: rid, mimetype, day });
    } else {
      const kept = append ? texts.get(name) ?? [] : [];
      kept.push({ rid, change, value, mimetype });
      texts.set(name, kept);
    }
  }
}

function quoted(column: string): string {
  return `"${column.replaceAll('"', '""')}"`;
}

function updateState(
  ctx: LinkContext,
  columns: TicketColumns,
  { id, rid, change }: Step,
  fields: readonly TicketField[],
): void {
  const day = toJulianDay(change.date);
  const sets = ["tkt_mtime=?"];
  const values: SqlValue[] = [day];
  if (columns.hasCreationTime) {
    sets.push("tkt_ctime=coalesce(tkt_ctime,?)");
    values.push(day);
  }
  for (const { name, value, append } of fields) {
    if (!columns.state.has(name)) continue;
    const column = quoted(name);
    sets.push(append ? `${column}=coalesce(${column},'') || ?` : `${column}=?`);
    values.push(value);
    const baseline = append ? null : columns.baselineFor(name);
    if (baseline === null) continue;
    sets.push(`${quoted(baseline)}=?`);
    values.push(rid);
  }
  ctx.db.run(`UPDATE OR REPLACE ticket SET ${sets.join(", ")} WHERE tkt_id=?`, ...values, id);
}

/** A field that both tables have and this change does not set is copied from the state. */
function insertChangeRow(
  ctx: LinkContext,
  columns: TicketColumns,
  { id, rid, change }: Step,
  fields: readonly TicketField[],
): void {
  const names = ["tkt_id", "tkt_mtime"];
  const terms = ["?", "?"];
  const values: SqlValue[] = [id, toJulianDay(change.date)];
  const add = (name: string, value: SqlValue) => {
    names.push(quoted(name));
    terms.push("?");
    values.push(value);
  };
  for (const { name, value } of fields) {
    if (columns.change.has(name)) add(name, value);
  }
  if (columns.hasChangeRow) add("tkt_rid", rid);
  if (columns.hasChangeUser) add("tkt_user", change.user);
  if (names.length === 2) return;
  const used = new Set(fields.map((field) => field.name));
  for (const name of columns.state) {
    if (used.has(name) || !columns.change.has(name)) continue;
    names.push(quoted(name));
    terms.push(quoted(name));
  }
  ctx.db.run(
    `INSERT INTO ticketchng(${names.join()}) SELECT ${terms.join()} FROM ticket WHERE tkt_id=?`,
    ...values,
    id,
  );
}

function putTicketEvent(
  ctx: LinkContext,
  columns: TicketColumns,
  { tag, rid, change, isNew }: Pick<Step, "rid" | "change"> & {
    readonly tag: number;
    readonly isNew: boolean;
  },
): void {
  const { comment, brief } = describeChange(ctx, columns, change, isNew);
  ctx.db.run(
    `REPLACE INTO event(type,tagid,mtime,objid,user,comment,brief) VALUES('t',?,?,?,?,?,?)`,
    tag,
    toJulianDay(change.date),
    rid,
    change.user,
    comment,
    brief,
  );
}

function describeChange(
  ctx: LinkContext,
  columns: TicketColumns,
  change: TicketChange,
  isNew: boolean,
): { comment: string; brief: string } {
  const link = `[${ctx.hashLink(change.ticket)}]`;
  const titleColumn = ctx.config.get("ticket-title-expr") ?? "title";
  const title = escapeHtml(currentValue(ctx, columns, change.ticket, titleColumn));
  if (isNew) {
    return { comment: `New ticket ${link} <i>${title}</i>.`, brief: `New ticket ${link}.` };
  }
  const statusColumn = ctx.config.get("ticket-status-column") ?? "status";
  const count = change.fields.length;
  const status = change.fields.findLast((field) => !field.append && field.name === statusColumn);
  if (status !== undefined) {
    const what = `${escapeHtml(status.value)} ticket ${link}`;
    const more = count > 1 ? ` plus ${count - 1} other change${plural(count - 1)}` : "";
    return { comment: `${what}: <i>${title}</i>${more}`, brief: `${what}.` };
  }
  const current = escapeHtml(currentValue(ctx, columns, change.ticket, statusColumn));
  const other = `${count} other change${plural(count)}`;
  return {
    comment: `Ticket ${link} <i>${title}</i> status still ${current} with ${other}`,
    brief: `Ticket ${link}: ${count} change${plural(count)}`,
  };
}

function plural(count: number): string {
  return count === 1 ? "" : "s";
}

/** A column of the ticket; a name that is not a column stands for itself, as in SQLite. */
function currentValue(
  ctx: LinkContext,
  columns: TicketColumns,
  ticket: string,
  column: string,
): string {
  if (!columns.all.has(column)) return column;
  const select = `SELECT ${quoted(column)} FROM ticket WHERE tkt_uuid=?`;
  return String(ctx.db.value<SqlValue>(select, ticket) ?? "");
}
