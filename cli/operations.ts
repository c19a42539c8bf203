/**
 * Commands that call one operation: `deno task reference` writes their table from what the operations
 * declare as `cli`. It is plain data, so that the command line loads no services.
 */
import { dollars } from "../services/kernel/words.ts";
import { type Command, type Group, InvalidValue, isGroup, type Leaf } from "./command_line/mod.ts";
import type { OperationCommand, Value } from "./operation_command.ts";
import { COMMANDS } from "./operation_table.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { CommandFailed, print, printFields, printJson, table, visible } from "./output.ts";

/** How long an answer may take beyond the wait that was asked for, in milliseconds. */
const CALL_TIMEOUT = 30_000;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The command of some words: what its own file declares, with those that operations declare.
 *
 * @param own absent if operations declare all of it
 */
export function withOperations(words: readonly string[], own?: Leaf | Group): Leaf | Group {
  const at = words.join(" ");
  const declared = COMMANDS.find((command) => command.at === at);
  if (declared !== undefined) return leafOf(declared);
  if (own !== undefined && !isGroup(own)) return own;
  const kept = (own?.commands ?? []).map((command): Command => ({
    ...command,
    ...withOperations([...words, command.name], command),
  }));
  const added = COMMANDS.filter((command) =>
    command.at.startsWith(`${at} `) && command.at.split(" ").length === words.length + 1
  ).map((command): Command => ({ ...namedOf(command), ...leafOf(command) }));
  if (added.length === 0) return { ...own, commands: kept };
  const commands = [...kept, ...added].toSorted((one, other) => one.name < other.name ? -1 : 1);
  return { ...own, commands };
}

/** The command that an operation declares at some words. */
export function operationCommand(at: string): Command {
  const command = COMMANDS.find((one) => one.at === at);
  if (command === undefined) throw new TypeError(`No operation declares the command "${at}"`);
  return { ...namedOf(command), ...leafOf(command) };
}

function namedOf({ at, about: summary, aliases = [] }: OperationCommand) {
  return { name: at.slice(at.lastIndexOf(" ") + 1), summary, aliases };
}

function leafOf(command: OperationCommand): Leaf {
  const { parameters, options, hasAnswer, notes = [], examples = [] } = command;
  return {
    parameters: parameters.map(({ usage, ...value }) => ({ usage, ...readingOf(value) })),
    options: [
      ...options.map(({ flags, about: summary, default: usual, ...value }) => ({
        flags,
        summary,
        ...readingOf(value),
        ...usual === undefined ? {} : { default: usual },
      })),
      ...hasAnswer === true ? [JSON_OPTION] : [],
      URL_OPTION,
    ],
    notes,
    examples,
    run: (...values: unknown[]) => run(command, values),
  };
}

function readingOf({ kind, choices }: Value) {
  return {
    ...kind === "number" ? { parse: readNumber } : kind === "list" ? { parse: readList } : {},
    ...choices === undefined ? {} : { choices },
  };
}

function readNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidValue("be a whole number");
}

function readList(text: string): readonly string[] {
  return text.split(",").map((part) => part.trim()).filter(Boolean);
}

/** Calls the operation with the values of the command line, and shows its answer. */
async function run(command: OperationCommand, values: readonly unknown[]): Promise<void> {
  const { parameters, options } = command;
  const flags = values.at(-1) as CommandOptions & Fields;
  const given = [
    ...parameters.map(({ field, kind }, index) => {
      const value = values[index];
      // The remaining words are one text, or each is an item of a list.
      const isText = kind === "text" && Array.isArray(value);
      return [field, isText ? value.join(" ") : Array.isArray(value) ? value.flat() : value];
    }),
    ...options.map(({ field, flags: names }) => [field, flags[keyOf(names)]]),
  ].filter(([, value]) => value !== undefined);
  const input: Fields = { ...command.sends, ...Object.fromEntries(given) };
  const { ApiClient } = await import("./client.ts");
  const client = await ApiClient.connect(flags);
  const { method, path, body } = requestOf(command, input);
  const timeout = CALL_TIMEOUT + 1000 * Number(input["wait_seconds"] ?? 0);
  const answer = await client.ask(method, path, body, timeout);
  if (flags.json === true) return printJson(answer);
  show(command, answer, input);
}

/** The name under which the parser returns an option. */
function keyOf(flags: string): string {
  const [, long = ""] = /--([a-z-]+)/.exec(flags) ?? [];
  return long.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function requestOf({ http, hasBody }: OperationCommand, input: Fields) {
  const rest = new Map(Object.entries(input));
  const [method = "", pattern = ""] = http.split(" ");
  const path = pattern.replace(/\{(\w+)\}/g, (_, field: string) => {
    const value = encodeURIComponent(String(rest.get(field) ?? ""));
    rest.delete(field);
    return value;
  });
  if (hasBody) return { method, path, body: Object.fromEntries(rest) };
  const query = new URLSearchParams();
  for (const [field, value] of rest) query.set(field, String(value));
  return { method, path: query.size === 0 ? path : `${path}?${query}` };
}

/** Prints what the command shows of an answer: a table, fields, a sentence, or nothing. */
function show(command: OperationCommand, answer: unknown, input: Fields): void {
  const { columns, fields, says, items } = command;
  const listed = items === undefined ? answer : (answer as Fields | undefined)?.[items];
  if (columns !== undefined) {
    if (!Array.isArray(listed)) throw new CommandFailed("The server gave an unexpected answer");
    const rows = listed.map((item) => columns.map(([, template]) => fill(template, item, input)));
    print(table(columns.map(([title]) => title), rows));
    const left = leftOf(answer, listed.length, input);
    if (left > 0) print(`… and ${left} more`);
  }
  if (fields !== undefined) {
    printFields(fields.map(([name, template]) => [name, fill(template, answer, input)]));
    if (says !== undefined) print();
  }
  if (says === undefined) return;
  for (const one of Array.isArray(listed) ? listed : [answer]) print(fill(says, one, input));
}

/** How many items stand after those of a page. */
function leftOf(answer: unknown, shown: number, input: Fields): number {
  const { total, page = 1, per_page: size = shown } = (answer ?? {}) as Readonly<
    Record<string, number>
  >;
  const before = Number(input["offset"] ?? 0) + (Number(page) - 1) * Number(size);
  return Number(total ?? 0) - before - shown;
}

/** Formats of a template's fields. */
const FORMATS: Readonly<Record<string, (value: unknown) => string>> = {
  /** Tickets, by their numbers if they have any. */
  tickets: (value) =>
    (Array.isArray(value) ? value : []).map(({ number, uuid }) =>
      number === null ? String(uuid).slice(0, 10) : `#${number}`
    ).join(", "),
  /** A number of items, if there are any. */
  count: (value) => Array.isArray(value) && value.length > 0 ? String(value.length) : "",
  commas: (value) => Array.isArray(value) ? value.join(", ") : String(value),
  csv: (value) => Array.isArray(value) ? value.join(",") : String(value),
  dollars: (value) => dollars(Number(value)),
  line: (value) => String(value).replaceAll(/\s+/g, " "),
  second: (value) => String(value).slice(0, 19).replace("T", " "),
  short: (value) => String(value).slice(0, 10),
  time: (value) => String(value).slice(0, 16).replace("T", " "),
};

/**
 * Fills in a template, such as `{last_seen|"never"}` (`CommandDeclaration` says what one may hold). What
 * comes from the answer is safe for a terminal.
 *
 * @param answer where its fields are, or else in the input
 */
export function fill(template: string, answer: unknown, input: Fields): string {
  return template.replaceAll(/\[([^[\]]*)\]|(\{[^{}]*\})/g, (_, optional?: string, part = "") => {
    if (optional === undefined) return valueOf(part, answer, input);
    const parts = optional.match(/\{[^{}]*\}/g) ?? [];
    const isWhole = parts.every((one) => valueOf(one, answer, input) !== "");
    return isWhole ? fill(optional, answer, input) : "";
  });
}

/** What stands for `{field:format|other|"text"}` or `{field?text|text}`. */
function valueOf(part: string, answer: unknown, input: Fields): string {
  const inside = part.slice(1, -1);
  const [, condition, text] = /^([\w.]+)\?(.*)$/s.exec(inside) ?? [];
  if (condition !== undefined) {
    const [yes = "", no = ""] = text?.split("|") ?? [];
    return find(condition, answer, input) === true ? yes : no;
  }
  for (const choice of inside.split("|")) {
    if (choice.startsWith('"')) return choice.slice(1, -1);
    const [path = "", format = ""] = choice.split(":");
    const value = find(path, answer, input);
    if (value === null || value === undefined) continue;
    const shown = visible((FORMATS[format] ?? plain)(value));
    if (shown !== "") return shown;
  }
  return "";
}

function plain(value: unknown): string {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join(" ") : String(value);
}

/** A field by its path, such as `rate_limit.burst`; of the answer, or else of the input. */
function find(path: string, answer: unknown, input: Fields): unknown {
  if (path === "") return answer;
  const within = (whole: unknown) =>
    path.split(".").reduce<unknown>(
      (value, key) =>
        typeof value === "object" && value !== null && Object.hasOwn(value, key)
          ? (value as Fields)[key]
          : undefined,
      whole,
    );
  return within(answer) ?? within(input);
}
