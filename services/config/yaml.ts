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
  const document = parseDocument(text, { lineCounter: lines });
  const lineAt = (offset: number) => lines.linePos(offset).line;
  return {
    value: document.errors.length === 0 ? document.toJS() : undefined,
    problems: document.errors.map(({ pos, message }) => ({
      line: lineAt(pos[0]),
      message: message.split("\n", 1)[0] ?? "",
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

function startOf(node: unknown): number | null {
  if (typeof node !== "object" || node === null || !("range" in node)) return null;
  return Array.isArray(node.range) ? Number(node.range[0]) : null;
}
