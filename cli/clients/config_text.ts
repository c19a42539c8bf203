/** Edits of JSON texts with comments, which keep every other byte. */
import {
  applyEdits,
  type FormattingOptions,
  modify,
  parse as readJsonc,
  type ParseError,
} from "jsonc-parser";
import { isDeepStrictEqual } from "node:util";
import { parse as readToml, stringify, TomlError, type TomlTable } from "smol-toml";

/** Keys from the root to a value. */
type JsonPath = readonly (string | number)[];

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Parses a configuration file: JSON with comments and trailing commas.
 *
 * @returns its object; an empty one for an empty text
 * @throws Unreadable if it is no object
 */
export function parseJson(text: string): JsonObject {
  if (text.trim() === "") return {};
  const errors: ParseError[] = [];
  const value = parseTree(text, errors);
  const [error] = errors;
  if (error !== undefined) {
    const line = text.slice(0, error.offset).split("\n").length;
    throw new Unreadable(`it is not valid JSON: see line ${line}`);
  }
  if (!isObject(value)) throw new Unreadable("it is not a JSON object");
  return value;
}

/** @throws Unreadable if the nesting is deeper than the parser can follow */
function parseTree(text: string, errors: ParseError[]): unknown {
  try {
    return readJsonc(text, errors, { allowTrailingComma: true });
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new Unreadable("its values are nested too deeply");
  }
}

/** The value at a path; undefined if there is none. */
export function valueAt(tree: unknown, path: JsonPath): unknown {
  let value = tree;
  for (const key of path) {
    if (Array.isArray(value)) value = value[Number(key)];
    else value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  }
  return value;
}

/**
 * Sets the value at a path, or removes it if the value is undefined. An index of -1 appends to a
 * list.
 *
 * @throws Unreadable if a parent of the value is of another type
 */
export function setJson(text: string, path: JsonPath, value: unknown): string {
  const tree = parseJson(text);
  checkParents(tree, path);
  if (isDeepStrictEqual(valueAt(tree, path), value)) return text;
  const source = text.trim() === "" ? "{}\n" : text;
  const formattingOptions = formatOf(source);
  const changed = applyEdits(source, modify(source, [...path], value, { formattingOptions }));
  if (!isChanged(tree, parseJson(changed), path, value)) {
    throw new Unreadable(`it names "${path.join(".")}" twice`);
  }
  return changed;
}

/** Whether a tree has the value at a path, or lacks it if it was removed. */
function isChanged(before: unknown, after: unknown, path: JsonPath, value: unknown): boolean {
  const key = path.at(-1);
  if (key === -1) return true;
  if (typeof key !== "number" || value !== undefined) {
    return isDeepStrictEqual(valueAt(after, path), value);
  }
  // The entries behind it have moved up.
  const list = valueAt(before, path.slice(0, -1));
  return Array.isArray(list) &&
    isDeepStrictEqual(valueAt(after, path.slice(0, -1)), list.toSpliced(key, 1));
}

function checkParents(tree: unknown, path: JsonPath): void {
  for (let depth = 1; depth < path.length; depth++) {
    const parent = valueAt(tree, path.slice(0, depth));
    const fits = typeof path[depth] === "number" ? Array.isArray(parent) : isObject(parent);
    if (parent !== undefined && !fits) {
      throw new Unreadable(`the type of "${path.slice(0, depth).join(".")}" is unexpected`);
    }
  }
}

/** The style of a text: its indentation and its line ends. */
function formatOf(text: string): FormattingOptions {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  return {
    insertSpaces: !indent.includes("\t"),
    tabSize: indent.includes("\t") ? 1 : indent.length,
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Edits of one table in a TOML text, which keep every other byte. */

/** A range of lines. */
interface Block {
  readonly start: number;
  readonly end: number;
}

/** The table at a path, such as `["mcp_servers", "muster"]`; undefined if there is none. */
export function readTable(text: string, path: readonly [string, string]): JsonObject | undefined {
  const value = valueAt(parseToml(text), path);
  if (value === undefined || isObject(value)) return value;
  throw new Unreadable(`"${path.join(".")}" is no table`);
}

/**
 * Replaces the table at a path with all its subtables, or removes it if the value is undefined.
 *
 * @throws Unreadable if the text is not TOML, or writes the table in a form without its own header
 */
export function setTable(
  text: string,
  path: readonly [string, string],
  value: TomlTable | undefined,
): string {
  const before = parseToml(text);
  if (isDeepStrictEqual(plain(valueAt(before, path)), plain(value))) return text;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const blocks = blocksOf(lines, path);
  const written = value === undefined ? [] : linesOf(path, value);
  const result = blocks.length === 0 ? appended(lines, written) : replaced(lines, blocks, written);
  const after = result.length === 0 ? "" : `${result.join(eol)}${eol}`;
  if (!isExpected(before, after, path, value)) {
    throw new Unreadable(
      valueAt(before, path) === undefined
        ? `a table [${path.join(".")}] cannot be added to it: write what --print shows by hand`
        : `"${path.join(".")}" has no table header of its own: remove it by hand`,
    );
  }
  return after;
}

/** The text of a key at the root of a TOML text; undefined if it has none. */
export function readTomlText(text: string, key: string): string | undefined {
  const value = parseToml(text)[key];
  return typeof value === "string" ? value : undefined;
}

/**
 * Sets a key at the root of a TOML text to a text, or removes it if the value is undefined.
 *
 * @param key letters, digits and underscores
 * @throws Unreadable if the text is not TOML, or the value has several lines
 */
export function setTomlText(text: string, key: string, value: string | undefined): string {
  const before = parseToml(text);
  if (before[key] === value) return text;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const header = lines.findIndex((line) => headerOf(line) !== null);
  const root = header < 0 ? lines : lines.slice(0, header);
  const old = root.findIndex((line) => line.split("=", 1)[0]?.trim() === key);
  const written = value === undefined ? [] : [stringify({ [key]: value }).trimEnd()];
  const result = old < 0 ? [...written, ...lines] : lines.toSpliced(old, 1, ...written);
  const after = result.length === 0 ? "" : `${result.join(eol)}${eol}`;
  const { [key]: _, ...others } = before;
  const expected = value === undefined ? others : { ...others, [key]: value };
  if (!isDeepStrictEqual(plain(parseToml(after)), plain(expected))) {
    throw new Unreadable(`"${key}" cannot be set in it: write it by hand`);
  }
  return after;
}

/** @throws Unreadable if the text is not TOML */
export function parseToml(text: string): TomlTable {
  try {
    return readToml(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    throw new Unreadable(`it is not valid TOML: see line ${error.line}`);
  }
}

function linesOf([parent, name]: readonly [string, string], value: TomlTable): string[] {
  return stringify({ [parent]: { [name]: value } }).trimEnd().split("\n");
}

/** The lines of the table and its subtables; comments above the next header stay with it. */
function blocksOf(lines: readonly string[], path: readonly string[]): Block[] {
  const headers = lines.flatMap((line, start) => {
    const name = headerOf(line);
    return name === null ? [] : [{ name, start }];
  });
  return headers.flatMap(({ name, start }, i): Block[] => {
    if (!path.every((key, depth) => name[depth] === key)) return [];
    let end = headers[i + 1]?.start ?? lines.length;
    while (end > start + 1 && /^\s*(#|$)/.test(lines[end - 1] ?? "")) end--;
    return [{ start, end }];
  });
}

/** The path of a table that a line opens; null if it opens none. */
function headerOf(line: string): string[] | null {
  if (!/^\s*\[/.test(line)) return null;
  try {
    const path: string[] = [];
    let value: unknown = readToml(line);
    for (;;) {
      if (Array.isArray(value)) value = value[0];
      if (!isObject(value)) return null;
      const [key] = Object.keys(value);
      if (key === undefined) return path;
      path.push(key);
      value = value[key];
    }
  } catch {
    return null;
  }
}

function appended(lines: readonly string[], written: readonly string[]): string[] {
  if (lines.length === 0) return [...written];
  return lines.at(-1)?.trim() === "" ? [...lines, ...written] : [...lines, "", ...written];
}

/** Puts the new lines in the place of the first block, and removes the others. */
function replaced(
  lines: readonly string[],
  blocks: readonly Block[],
  written: readonly string[],
): string[] {
  const result = [...lines];
  for (const { start, end } of blocks.slice(1).toReversed()) removeLines(result, start, end);
  const [{ start, end } = { start: 0, end: 0 }] = blocks;
  if (written.length === 0) removeLines(result, start, end);
  else result.splice(start, end - start, ...written);
  return result;
}

/** Removes lines, and the blank line in front of them. */
function removeLines(lines: string[], start: number, end: number): void {
  const hasBlank = start > 0 && lines[start - 1]?.trim() === "";
  lines.splice(hasBlank ? start - 1 : start, end - start + (hasBlank ? 1 : 0));
}

/** Whether an edit changed the table as it should, and nothing else. */
function isExpected(
  before: TomlTable,
  after: string,
  path: readonly [string, string],
  value: TomlTable | undefined,
): boolean {
  let tree: TomlTable;
  try {
    tree = readToml(after);
  } catch (error) {
    if (error instanceof TomlError) return false;
    throw error;
  }
  return isDeepStrictEqual(plain(valueAt(tree, path)), plain(value)) &&
    isDeepStrictEqual(without(before, path), without(tree, path));
}

/** A tree without the table; a parent that it leaves empty counts as absent. */
function without(tree: TomlTable, [parent, name]: readonly [string, string]): unknown {
  const { [parent]: siblings, ...rest } = tree;
  if (!isObject(siblings)) return plain(tree);
  const { [name]: _, ...others } = siblings;
  return plain(Object.keys(others).length === 0 ? rest : { ...rest, [parent]: others });
}

/** A copy whose objects have the usual prototype, so that it can be compared. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value) || value instanceof Date) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

/** A configuration file cannot be edited; the message says why, after the file's name. */
export class Unreadable extends Error {
  override readonly name = "Unreadable";
}
