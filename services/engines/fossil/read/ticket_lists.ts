/** Lists of tickets: filtered, searched and sorted. */
import { firstIndex } from "../../../kernel/first_index.ts";
import type { TICKET_ORDERS } from "./bounds.ts";
import { shownText } from "../artifact/mod.ts";
import { blockersIn, labelsIn, MAX_WORK_TEXT, MIN_TICKET_PREFIX } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import { pageOf, type Paging } from "./paging.ts";
import type { Reader } from "./reader.ts";
import type { TicketList, TicketRef, TicketStatusCount } from "./shapes.ts";
import { readTicketRef, ticketClosing } from "./tickets.ts";
import { TextMap } from "../text/mod.ts";

export type TicketOrder = (typeof TICKET_ORDERS)[number];

/** Built-in fields of tickets with words that lists are filtered by. */
type WordField = "type" | "priority" | "severity" | "subsystem";

/** Which tickets to list, and in which order. */
export interface TicketListOptions extends Paging, Readonly<Partial<Record<WordField, string>>> {
  /** Exactly this status. */
  readonly status?: string;
  /** Only open tickets, or only closed ones, by the repository's own words. */
  readonly state?: "open" | "closed";
  /** The name of who is to do it; empty for nobody. */
  readonly assignee?: string;
  /** Only tickets of nobody, and those of the account of this name. */
  readonly for?: string;
  /** One of its labels. */
  readonly label?: string;
  /** Whether it waits for an open ticket. */
  readonly isBlocked?: boolean;
  /** Every word of this text is in the title, in upper or lower case, or begins the id. */
  readonly search?: string;
  /** Exactly this value of a field; empty text also finds tickets that never had one. */
  readonly field?: { readonly name: string; readonly value: string };
  /** Ids of tickets that are left out. */
  readonly without?: readonly string[];
  /** Ids of the only tickets that are listed. */
  readonly only?: readonly string[];
  /** `created` if absent: the newest first. */
  readonly sort?: TicketOrder;
  /** Whether the order is reversed. */
  readonly isReversed?: boolean;
}

/** The words of new repositories, the most urgent first; other words follow. */
const RANKS: Readonly<Record<"priority" | "severity", readonly string[]>> = {
  priority: ["Immediate", "High", "Medium", "Low", "Zero"],
  severity: ["Critical", "Severe", "Important", "Minor", "Cosmetic"],
};

const WORD_FIELDS: readonly WordField[] = ["type", "priority", "severity", "subsystem"];

/** A ticket as lists are filtered and sorted by it. */
interface OrderedTicket extends Readonly<Record<WordField, string>> {
  readonly uuid: string;
  readonly id: number;
  /** Julian days. */
  readonly created: number;
  readonly modified: number;
  readonly status: string;
  /** The value of the field that says whether it is closed. */
  readonly closing: string;
  readonly title: string;
  readonly assignee: string;
  readonly labels: string;
  readonly blocked_by: string;
}

/** The texts of a ticket for work that is given. */
const WORK_TEXTS = ["assignee", "labels", "blocked_by"] as const;

/** What an entry of the order of tickets takes in memory without its texts, roughly. */
const ORDERED_TICKET_BYTES = 300;

/** Most statuses that are counted: pushed tickets may have any text as theirs. */
const MAX_STATUSES = 100;

/** A page of tickets, with the number of tickets of each status. */
export function listTickets(reader: Reader, options: TicketListOptions = {}): TicketList {
  return reader.read(() => {
    const { limit, offset } = pageOf(options);
    const { status, sort, isReversed = false } = options;
    const matching = ticketOrder(reader).filter(filterOf(reader, options));
    const found = matching.filter((entry) => status === undefined || entry.status === status);
    const sorted = sort === undefined || sort === "created"
      ? found
      : found.sort(comparisonOf(sort));
    const ordered = isReversed ? sorted.reverse() : sorted;
    const tickets = ordered.slice(offset, offset + limit).flatMap(({ uuid }) => {
      const ref = readTicketRef(reader, uuid);
      return ref === null ? [] : [ref];
    });
    return { tickets, total: found.length, statuses: countStatuses(reader, matching) };
  });
}

/** Most tickets in an answer of {@linkcode ticketsFreedBy}. */
const MAX_FREED = 100;

/**
 * The open tickets that have waited for a ticket, and now wait for none; the newest first, at most
 * 100.
 *
 * @param uuid the whole id of a closed ticket
 */
export function ticketsFreedBy(reader: Reader, uuid: string): readonly TicketRef[] {
  return reader.read(() => {
    const { db } = reader.repository;
    const freed: TicketRef[] = [];
    for (const entry of ticketOrder(reader)) {
      if (entry.blocked_by === "" || isClosed(reader, entry)) continue;
      if (!blockersIn(db, entry.blocked_by).includes(uuid)) continue;
      const ref = readTicketRef(reader, entry.uuid);
      if (ref !== null && !ref.is_blocked) freed.push(ref);
      if (freed.length === MAX_FREED) break;
    }
    return freed;
  });
}

/** Whether a ticket is listed, whatever its status. Needs `read`. */
function filterOf(
  reader: Reader,
  { state, search = "", field, without = [], only, assignee, label, isBlocked, ...options }:
    TicketListOptions,
): (entry: OrderedTicket) => boolean {
  const { for: whom, ...words } = options;
  const [left, kept] = [new Set(without), only === undefined ? null : new Set(only)];
  const having = field === undefined ? null : ticketsWith(reader, field);
  const wanted = WORD_FIELDS.filter((name) => words[name] !== undefined);
  const waits = isBlocked === undefined ? null : blockedTickets(reader);
  const isOf = (entry: OrderedTicket, name: string) =>
    entry.assignee.toLowerCase() === name.toLowerCase();
  const isLabeled = ({ labels }: OrderedTicket, name: string) =>
    labels !== "" && labelsIn(labels).some((one) => one.toLowerCase() === name.toLowerCase());
  const sought = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
  return (entry) =>
    !left.has(entry.uuid) && (kept === null || kept.has(entry.uuid)) &&
    (having === null || having.has(entry.uuid)) &&
    (state === undefined || isClosed(reader, entry) === (state === "closed")) &&
    (assignee === undefined || isOf(entry, assignee)) &&
    (whom === undefined || entry.assignee === "" || isOf(entry, whom)) &&
    (label === undefined || isLabeled(entry, label)) &&
    (waits === null || waits.has(entry.uuid) === isBlocked) &&
    wanted.every((name) => entry[name] === words[name]) &&
    (sought.length === 0 || isFound(entry, sought));
}

function isFound({ uuid, title }: OrderedTicket, sought: readonly string[]): boolean {
  const text = title.toLowerCase();
  return sought.every((word) => {
    const id = word.replace(/^#/, "");
    return text.includes(word) || (id.length >= MIN_TICKET_PREFIX && uuid.startsWith(id));
  });
}

function comparisonOf(order: Exclude<TicketOrder, "created">) {
  if (order === "modified") return (a: OrderedTicket, b: OrderedTicket) => b.modified - a.modified;
  if (order === "title") {
    return (a: OrderedTicket, b: OrderedTicket) => compare(a.title, b.title);
  }
  const ranks = RANKS[order];
  const rankOf = (word: string) => (ranks.indexOf(word) + ranks.length + 1) % (ranks.length + 1);
  return (a: OrderedTicket, b: OrderedTicket) =>
    rankOf(a[order]) - rankOf(b[order]) || compare(a[order], b[order]);
}

function compare(one: string, other: string): number {
  return one === other ? 0 : one < other ? -1 : 1;
}

/** The number of tickets of each of the most frequent statuses, the most frequent one first. */
function countStatuses(reader: Reader, tickets: readonly OrderedTicket[]): TicketStatusCount[] {
  const { column, statuses } = ticketClosing(reader);
  const closed = new Set(column === "status" ? statuses : []);
  const counts = new TextMap<number>();
  for (const { status } of tickets) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([name, count]) => ({ name, count, is_closed: closed.has(name) }))
    .sort((a, b) => b.count - a.count || compare(a.name, b.name)).slice(0, MAX_STATUSES)
    .map((status) => ({ ...status, name: shownText(status.name, "name") }));
}

/** Whether a ticket is closed. Needs `read`. */
function isClosed(reader: Reader, { closing }: OrderedTicket): boolean {
  return ticketClosing(reader).statuses.includes(closing);
}

/** The ids of the open tickets that wait for an open one. Needs `read`. */
function blockedTickets(reader: Reader): ReadonlySet<string> {
  return reader.cached("blocked tickets", () => {
    const open = ticketOrder(reader).filter((entry) => !isClosed(reader, entry));
    const ids = new Set(open.map(({ uuid }) => uuid));
    const isBlocked = ({ blocked_by }: OrderedTicket) =>
      blocked_by !== "" &&
      blockersIn(reader.repository.db, blocked_by).some((blocker) => ids.has(blocker));
    const value = new Set(open.filter(isBlocked).map(({ uuid }) => uuid));
    return { value, bytes: value.size * ORDERED_TICKET_BYTES };
  });
}

/** Every ticket, the newest first. Needs `read`. */
function ticketOrder(reader: Reader): readonly OrderedTicket[] {
  return reader.lasting(
    `tickets by ${ticketClosing(reader).column}`,
    () => sizedTickets(readOrdered(reader)),
    ({ value }, touched) => {
      const changed = new Set(
        reader.repository.db.rows<{ uuid: string }>(
          `SELECT DISTINCT substr(tagname,5) AS uuid FROM json_each(?) AS touched
             CROSS JOIN tagxref ON rid=touched.value CROSS JOIN tag USING(tagid)
            WHERE tagname GLOB 'tkt-*'`,
          JSON.stringify(touched),
        ).map(({ uuid }) => uuid),
      );
      if (changed.size === 0) return sizedTickets(value);
      const fresh = readOrdered(
        reader,
        "WHERE tkt_uuid IN (SELECT value FROM json_each(?))",
        JSON.stringify([...changed]),
      );
      const kept = value.filter(({ uuid }) => !changed.has(uuid));
      for (const ticket of fresh) {
        const place = firstIndex(kept.length, (index) => !isNewer(kept[index]!, ticket));
        kept.splice(place, 0, ticket);
      }
      return sizedTickets(kept);
    },
  );
}

function isNewer(one: OrderedTicket, other: OrderedTicket): boolean {
  return one.created === other.created ? one.id > other.id : one.created > other.created;
}

function sizedTickets(value: readonly OrderedTicket[]) {
  const characters = value.reduce(
    (sum, { title, assignee, labels, blocked_by }) =>
      sum + title.length + assignee.length + labels.length + blocked_by.length,
    0,
  );
  return { value, bytes: value.length * ORDERED_TICKET_BYTES + 2 * characters };
}

/** Tickets under a condition, the newest first; none without a table of tickets. */
function readOrdered(
  reader: Reader,
  condition = "",
  ...values: readonly string[]
): OrderedTicket[] {
  const { db } = reader.repository;
  const columns = new Set(db.columns("ticket"));
  if (columns.size === 0) return [];
  const textOf = (name: string) =>
    columns.has(name) ? `COALESCE(CAST("${name}" AS TEXT), '')` : "''";
  const texts = ["status", "title", ...WORD_FIELDS].map((name) => `${textOf(name)} AS "${name}"`);
  for (const name of WORK_TEXTS) {
    texts.push(`substr(${textOf(name)},1,${MAX_WORK_TEXT}) AS ${name}`);
  }
  const { column } = ticketClosing(reader);
  texts.push(`${column === null ? "''" : textOf(column)} AS closing`);
  const created = columns.has("tkt_ctime") ? "tkt_ctime" : "tkt_mtime";
  return db.rows<OrderedTicket>(
    `SELECT tkt_uuid AS uuid, CAST(tkt_id AS REAL) AS id, CAST(${created} AS REAL) AS created,
         CAST(tkt_mtime AS REAL) AS modified, ${texts.join(", ")} FROM ticket ${condition}
        ORDER BY 3 DESC, tkt_id DESC`,
    ...values,
  );
}

/** The ids of the tickets with a value of a field. Needs `read`. */
function ticketsWith(
  { repository: { db } }: Reader,
  { name, value }: { readonly name: string; readonly value: string },
): ReadonlySet<string> {
  if (name.startsWith("tkt_") || !db.columns("ticket").includes(name)) {
    throw new FossilError("invalid", `Tickets of this repository have no field "${name}"`);
  }
  const column = `"${name.replaceAll('"', '""')}"`;
  const orNone = value === "" ? `OR ${column} IS NULL` : "";
  const rows = db.rows<{ uuid: string }>(
    `SELECT tkt_uuid AS uuid FROM ticket WHERE ${column}=? ${orNone}`,
    value,
  );
  return new Set(rows.map(({ uuid }) => uuid));
}
