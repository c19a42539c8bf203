/** Edits of JSON texts with comments, which keep every other byte. */
import { isDeepStrictEqual } from "node:util";
import { applyEdits, type FormattingOptions, modify, parse, type ParseError } from "jsonc-parser";
import { Unreadable } from "./unreadable.ts";

/** Keys from the root to a value. */
export type JsonPath = readonly (string | number)[];

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
    return parse(text, errors, { allowTrailingComma: true });
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
  const appended = path.at(-1) === -1;
  if (!appended && !isDeepStrictEqual(valueAt(parseJson(changed), path), value)) {
    throw new Unreadable(`it names "${path.join(".")}" twice`);
  }
  return changed;
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
