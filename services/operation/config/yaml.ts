import { LineCounter, parseDocument } from "yaml";

/** A YAML document that knows its lines, which are counted from 1. */
export interface YamlDocument {
  readonly value: unknown;
  readonly problems: readonly { readonly line: number; readonly message: string }[];
  /** The line of the deepest part of a path in the document. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** Reads a text as YAML 1.2. */
export function readYaml(text: string): YamlDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  return {
    value: document.errors.length === 0 ? document.toJS() : undefined,
    problems: document.errors.map(({ code, pos: [start], message }) => ({
      line: lineAt(start),
      message: code === "DUPLICATE_KEY" ? `${keyAt(text, start)}: stands twice` : message,
    })),
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const offset = startOf(document.getIn(path.slice(0, length), true));
        if (offset !== null) return lineAt(offset);
      }
      return 1;
    },
  };
}

/** The key that stands at a place of a text. */
function keyAt(text: string, offset: number): string {
  return /[^\s:]*/.exec(text.slice(offset))?.[0] ?? "";
}

function startOf(node: unknown): number | null {
  if (typeof node !== "object" || node === null || !("range" in node)) return null;
  return Array.isArray(node.range) ? Number(node.range[0]) : null;
}
