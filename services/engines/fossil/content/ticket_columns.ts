import { FossilError } from "../error.ts";
import { DEFAULT_TICKET_SCHEMA } from "./schema.ts";
import { WORK_FIELDS } from "./ticket_work.ts";

/** Types of custom ticket fields. Fossil stores whatever a change says: a type binds only editors. */
export const TICKET_FIELD_TYPES = ["text", "number"] as const;

export type TicketFieldType = (typeof TICKET_FIELD_TYPES)[number];

/** A field that a repository adds to those that are built in. */
export interface CustomTicketField {
  readonly name: string;
  readonly type: TicketFieldType;
}

/** Longest name of a custom field, in characters. */
export const MAX_TICKET_FIELD_NAME = 64;

/**
 * The setting with the date of our last change of the fields, in Unix milliseconds. It tells after
 * a crash whether the change was made.
 */
export const TICKET_FIELDS_DATE = "muster-ticket-fields-date";

/** Declared column types, by the field's type. */
const COLUMN_TYPES: Readonly<Record<TicketFieldType, string>> = { text: "TEXT", number: "NUMBER" };

/** Declared types whose values SQLite keeps as numbers. */
const IS_NUMERIC = /int|numeric|number|decimal|real|floa|doub/i;

const BUILT_IN = new Set<string>([
  ...[...DEFAULT_TICKET_SCHEMA.matchAll(/^ {2}(\w+) /gm)].map(([, name = ""]) => name),
  ...WORK_FIELDS,
]);

/** Whether this ticket field is Fossil's or muster's own, without regard to case. */
export function isBuiltInTicketField(name: string): boolean {
  return BUILT_IN.has(name.toLowerCase());
}

/** Whether a custom field may have this name, as far as the name alone tells. */
export function isCustomTicketFieldName(name: string): boolean {
  return name.length <= MAX_TICKET_FIELD_NAME && /^[a-z]\w*$/i.test(name) &&
    !/^tkt_/i.test(name) && !isBuiltInTicketField(name);
}

/** The field's type by the declared type of its column. */
export function ticketFieldType(declared: string): TicketFieldType {
  return IS_NUMERIC.test(declared) ? "number" : "text";
}

/**
 * The text of a ticket schema with one more column in the table `ticket`, after its other columns.
 *
 * @throws {FossilError} `unsupported` if the schema does not define the table in plain columns.
 */
export function withTicketColumn(schema: string, { name, type }: CustomTicketField): string {
  const last = columnsOf(schema).findLast(isColumn);
  if (last === undefined) throw unreadable();
  return `${schema.slice(0, last.end)},\n  ${name} ${COLUMN_TYPES[type]}${schema.slice(last.end)}`;
}

/**
 * The text of a ticket schema without a column of the table `ticket`.
 *
 * @throws {FossilError} `unsupported` if the schema does not define the column by itself.
 */
export function withoutTicketColumn(schema: string, name: string): string {
  const items = columnsOf(schema);
  const index = items.findIndex((item) => isColumn(item) && item.name === name.toLowerCase());
  const [before, item] = [items[index - 1], items[index]];
  if (index < 0 || item === undefined) throw unreadable();
  if (before?.comma !== undefined) {
    const { comma } = before;
    return schema.slice(0, comma) + schema.slice(comma + 1, item.start) + schema.slice(item.end);
  }
  if (item.comma === undefined) throw unreadable();
  const { comma } = item;
  return schema.slice(0, item.start) + schema.slice(item.end, comma) + schema.slice(comma + 1);
}

function unreadable(): FossilError {
  return new FossilError("unsupported", "The ticket schema has a form that cannot be changed");
}

/** A column or a constraint of a table, as a part of the schema's text. */
interface Item {
  /** Its first word, in lower case and without quotes. */
  readonly name: string;
  readonly isQuoted: boolean;
  readonly start: number;
  readonly end: number;
  /** Where the comma behind it is; undefined for the last one. */
  readonly comma: number | undefined;
}

/** First words of constraints. */
const CONSTRAINTS = new Set(["constraint", "primary", "unique", "check", "foreign"]);

function isColumn({ name, isQuoted }: Item): boolean {
  return isQuoted || !CONSTRAINTS.has(name);
}

interface Token {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

const TOKEN =
  /--[^\n]*|\/\*(?:[^*]|\*(?!\/))*\*?\/?|'(?:[^']|'')*'?|"(?:[^"]|"")*"?|`[^`]*`?|\[[^\]]*\]?|\s+|\w+|[\s\S]/g;
const IS_EMPTY = /^(?:\s|--|\/\*)/;

/** What the table `ticket` consists of. */
function columnsOf(schema: string): Item[] {
  const tokens = Array.from(schema.matchAll(TOKEN), ({ 0: text, index: start }) => (
    { text, start, end: start + text.length }
  )).filter(({ text }) => !IS_EMPTY.test(text));
  const items: Item[] = [];
  let depth = 1;
  let item: Token[] = [];
  for (const token of tokens.slice(bodyOfTicket(tokens))) {
    if (token.text === "(") depth++;
    if (token.text === ")") depth--;
    const isEnd = depth === 0 || (depth === 1 && token.text === ",");
    if (!isEnd) {
      item.push(token);
      continue;
    }
    items.push(itemOf(item, depth === 0 ? undefined : token.start));
    if (depth === 0) return items;
    item = [];
  }
  throw unreadable();
}

/** The index of the first token behind `CREATE TABLE ticket(`. */
function bodyOfTicket(tokens: readonly Token[]): number {
  for (const [index, { text }] of tokens.entries()) {
    if (index > 0 && tokens[index - 1]?.text !== ";") continue;
    if (text.toLowerCase() !== "create") continue;
    const words = tokens.slice(index, index + 7).map((token) => bare(token.text));
    for (const head of ["create table ticket (", "create table if not exists ticket ("]) {
      const { length } = head.split(" ");
      if (words.slice(0, length).join(" ") === head) return index + length;
    }
  }
  throw unreadable();
}

function itemOf(tokens: readonly Token[], comma: number | undefined): Item {
  const [first, last] = [tokens[0], tokens.at(-1)];
  if (first === undefined || last === undefined) throw unreadable();
  const name = bare(first.text);
  const isQuoted = name.length !== first.text.length;
  return { name, isQuoted, start: first.start, end: last.end, comma };
}

/** A word in lower case, without quotes. */
function bare(text: string): string {
  const isQuoted = /^["`[]/.test(text);
  return (isQuoted ? text.slice(1, -1) : text).toLowerCase();
}
