/** Edits of one value in a YAML text, which keep every other byte. */
import { isDeepStrictEqual } from "node:util";
import {
  type Document,
  isMap,
  isScalar,
  type Node,
  type Pair,
  parseDocument,
  stringify,
} from "yaml";
import { isObject, type JsonObject, Unreadable, valueAt } from "./config_text.ts";

/** A key with its value, as the parser gives them. */
type Entry = Pair<Node, Node | null>;

/**
 * Parses a configuration file.
 *
 * @returns its object; an empty one for an empty text
 * @throws Unreadable if it is no object
 */
export function parseYaml(text: string): JsonObject {
  const value: unknown = documentOf(text).toJS() ?? {};
  if (!isObject(value)) throw new Unreadable("it is not a YAML object");
  return value;
}

/**
 * Sets the value at a path, or removes it if the value is undefined.
 *
 * @throws Unreadable if the text is not YAML, or writes the parent in a form without lines
 */
export function setYaml(
  text: string,
  path: readonly [parent: string, name: string],
  value: unknown,
): string {
  const before = parseYaml(text);
  if (isDeepStrictEqual(valueAt(before, path), value)) return text;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text === "" ? [] : text.replace(/\r?\n$/, "").split(/\r?\n/);
  const after = `${edited(text, lines, path, value).join(eol)}${eol}`;
  if (isDeepStrictEqual(parseYaml(after), withValue(before, path, value))) return after;
  throw notEditable(path);
}

function notEditable(path: readonly string[]): Unreadable {
  return new Unreadable(`"${path.join(".")}" cannot be edited: write what --print shows by hand`);
}

function documentOf(text: string): Document.Parsed {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error === undefined) return document;
  throw new Unreadable(`it is not valid YAML: see line ${error.linePos?.[0].line ?? 1}`);
}

/** The lines with the new value. */
function edited(
  text: string,
  lines: readonly string[],
  path: readonly [string, string],
  value: unknown,
): readonly string[] {
  const [parent, name] = path;
  const entries = entriesOf(documentOf(text).contents);
  const at = entries.findIndex((entry) => nameOf(entry) === parent);
  if (at < 0) return [...lines, ...linesOf({ [parent]: { [name]: value } }, 0)];
  const block = blockOf(text, lines, entries, at, lines.length);
  const children = childrenOf(entries[at]);
  if (children === null) throw notEditable(path);
  const index = children.findIndex((entry) => nameOf(entry) === name);
  if (children.length === 0 || value === undefined && children.length === 1) {
    const only = { [parent]: value === undefined ? {} : { [name]: value } };
    return spliced(lines, block, linesOf(only, 0));
  }
  const written = value === undefined
    ? []
    : linesOf({ [name]: value }, columnOf(text, children[0]));
  if (index >= 0) return spliced(lines, blockOf(text, lines, children, index, block.end), written);
  return spliced(lines, { start: block.end, end: block.end }, written);
}

/** A range of lines. */
interface Block {
  readonly start: number;
  readonly end: number;
}

/** The lines of an entry; comments above the next one stay with it. */
function blockOf(
  text: string,
  lines: readonly string[],
  entries: readonly Entry[],
  index: number,
  last: number,
): Block {
  const start = lineOf(text, entries[index]);
  const next = entries[index + 1];
  let end = next === undefined ? last : lineOf(text, next);
  while (end > start + 1 && /^\s*(#|$)/.test(lines[end - 1] ?? "")) end--;
  return { start, end };
}

function spliced(lines: readonly string[], { start, end }: Block, written: readonly string[]) {
  return lines.toSpliced(start, end - start, ...written);
}

function linesOf(value: JsonObject, indent: number): string[] {
  return stringify(value, { lineWidth: 0 }).trimEnd().split("\n")
    .map((line) => `${" ".repeat(indent)}${line}`);
}

function entriesOf(node: Node | null | undefined): readonly Entry[] {
  return isMap<Node, Node | null>(node) ? node.items : [];
}

/** Null if the value has another form than lines of its own. */
function childrenOf(entry: Entry | undefined): readonly Entry[] | null {
  const value = entry?.value;
  if (isMap<Node, Node | null>(value)) {
    return value.flow && value.items.length > 0 ? null : value.items;
  }
  return value === null || value === undefined || isScalar(value) && value.value === null
    ? []
    : null;
}

function nameOf({ key }: Entry): unknown {
  return isScalar(key) ? key.value : undefined;
}

function lineOf(text: string, entry: Entry | undefined): number {
  return text.slice(0, offsetOf(entry)).split("\n").length - 1;
}

function columnOf(text: string, entry: Entry | undefined): number {
  const offset = offsetOf(entry);
  return offset - (text.lastIndexOf("\n", offset - 1) + 1);
}

function offsetOf(entry: Entry | undefined): number {
  return entry?.key.range?.[0] ?? 0;
}

/** A tree with the value, or without it; a parent that is left is an empty object. */
function withValue(
  tree: JsonObject,
  [parent, name]: readonly [string, string],
  value: unknown,
): JsonObject {
  const siblings = tree[parent];
  const { [name]: _, ...others } = isObject(siblings) ? siblings : {};
  return { ...tree, [parent]: value === undefined ? others : { ...others, [name]: value } };
}
