/** A text of YAML, read within bounds, that knows where each of its keys stands. */
import {
  type Document,
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  parseDocument,
  visit,
} from "yaml";

/** Where a repository defines its checks. */
export const DEFINITION_PATH = ".muster/checks.yaml";

/** Longest definition, in characters. */
export const MAX_DEFINITION = 65_536;
/** Most values in a definition. */
const MAX_NODES = 5000;
/** Most words, signs, spaces and line ends. */
const MAX_TOKENS = 20_000;
const MAX_DEPTH = 20;

/** One thing that is wrong with a definition. Lines and columns begin at 1. */
export interface DefinitionFault {
  readonly line: number;
  readonly column: number;
  /** The key, as `checks.tests.timeout`; "" for the whole file. */
  readonly key: string;
  /** Follows the key: "must be a time such as 15m or 2h". */
  readonly message: string;
}

/** Most faults that are told at once. */
const MAX_FAULTS = 20;

/** A definition that means nothing, with everything that is wrong with it, in the file's order. */
export class DefinitionInvalid extends Error {
  override readonly name = "DefinitionInvalid";
  readonly file: string;
  readonly faults: readonly DefinitionFault[];

  /** The message has a line per fault: `.muster/checks.yaml:4:5: checks.tests.timeout: must be …`. */
  constructor(file: string, found: readonly DefinitionFault[]) {
    const faults = found.toSorted((a, b) => a.line - b.line || a.column - b.column)
      .slice(0, MAX_FAULTS);
    super(faults.map((fault) => sentence(file, fault)).join("\n"));
    this.file = file;
    this.faults = faults;
  }
}

function sentence(file: string, { line, column, key, message }: DefinitionFault): string {
  return `${file}:${line}:${column}: ${key === "" ? "" : `${key}: `}${message}`;
}

/** Where a path of keys stands. */
export type Locate = (path: readonly PropertyKey[]) => { line: number; column: number };

/** What a text holds, or why it cannot be read; never both. */
export type Read =
  | { readonly value: unknown; readonly locate: Locate }
  | { readonly faults: readonly DefinitionFault[] };

/**
 * Reads a text as YAML 1.2, in time linear in its length.
 *
 * @param options `keepsNumbers`: a number whose text says more than its value, such as 3.10, is a text
 */
export function readDocument(text: string, options: { keepsNumbers?: boolean } = {}): Read {
  if (text.length > MAX_DEFINITION) {
    return wholly(`must have at most ${MAX_DEFINITION} characters`);
  }
  const tokens = tokenFault(text);
  if (tokens !== null) return wholly(tokens);
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    resolveKnownTags: false,
    uniqueKeys: false, // It compares each with each; below is another way.
  });
  const at = (offset: number) => {
    const { line, col: column } = lines.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(column, 1) };
  };
  if (document.errors.length > 0) {
    const faults = document.errors.map(({ pos: [start], message }) => ({
      ...at(start),
      key: "",
      message: message.split("\n", 1)[0] ?? "",
    }));
    return { faults };
  }
  const faults = structuralFaults(document).map(({ offset, message }) => ({
    ...at(offset),
    key: "",
    message,
  }));
  if (faults.length > 0) return { faults };
  const locate: Locate = (path) => at(offsetOf(document, path));
  if (options.keepsNumbers === true) keepNumbers(document);
  return { value: document.toJS(), locate };
}

/** What a text has too much of to be parsed, which costs far more than to cut it into tokens. */
function tokenFault(text: string): string | null {
  let count = 0;
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (++count > MAX_TOKENS) {
      return `holds too much: at most ${MAX_TOKENS} words, signs and line ends`;
    }
    if (token === "[" || token === "{") depth++;
    if (token === "]" || token === "}") depth--;
    if (depth > MAX_DEPTH) return "is nested too deeply";
  }
  return null;
}

function wholly(message: string): Read {
  return { faults: [{ line: 1, column: 1, key: "", message }] };
}

interface Structural {
  readonly offset: number;
  readonly message: string;
}

/** What the values cannot show: keys that stand twice or are no texts, aliases, and depth. */
function structuralFaults(document: Document.Parsed): Structural[] {
  const faults: Structural[] = [];
  const tell = (node: unknown, message: string) => {
    faults.push({ offset: startOf(node) ?? 0, message });
    return visit.BREAK;
  };
  let nodes = 0;
  visit(document, {
    Node(_, node, path) {
      if (++nodes > MAX_NODES) return tell(node, `must have at most ${MAX_NODES} values`);
      if (path.filter((one) => !isPair(one)).length > MAX_DEPTH) {
        return tell(node, "is nested too deeply");
      }
      // An alias may make more of a file than anybody reads, and hides where a value stands.
      if (isAlias(node)) return tell(node, "must not use aliases (*NAME): write the value again");
      if (isMap(node)) return mapFault(node.items.map(({ key }) => key), tell);
      return undefined;
    },
  });
  return faults;
}

function mapFault(
  keys: readonly unknown[],
  tell: (node: unknown, message: string) => symbol,
): symbol | undefined {
  const seen = new Set<string>();
  for (const key of keys) {
    if (!isScalar(key)) return tell(key, "has a key that is no text");
    const name = String(key.value);
    if (name === "__proto__") return tell(key, "has the key __proto__, which no check needs");
    if (seen.has(name)) return tell(key, `"${name.slice(0, 100)}" stands twice`);
    seen.add(name);
  }
  return undefined;
}

function keepNumbers(document: Document.Parsed): void {
  visit(document, {
    Scalar(_, node) {
      const { value, source } = node;
      if (typeof value === "number" && source !== String(value)) node.value = source ?? value;
    },
  });
}

/** Where the deepest part of a path stands: the key of an entry, or an element of a list. */
function offsetOf(document: Document.Parsed, path: readonly PropertyKey[]): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const step of path) {
    const next = stepInto(node as Node | null, step);
    if (next === null) break;
    offset = startOf(next.shown) ?? offset;
    node = next.value;
  }
  return offset;
}

function stepInto(node: Node | null, step: PropertyKey): { shown: unknown; value: unknown } | null {
  if (isSeq(node)) {
    const item = node.items[Number(step)];
    return item === undefined ? null : { shown: item, value: item };
  }
  if (!isMap(node)) return null;
  const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === step);
  return pair === undefined ? null : { shown: pair.key, value: pair.value };
}

function startOf(node: unknown): number | null {
  if (typeof node !== "object" || node === null || !("range" in node)) return null;
  return Array.isArray(node.range) ? Number(node.range[0]) : null;
}
