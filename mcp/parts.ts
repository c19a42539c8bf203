/** The arguments and answers of tools that show a part of a list or of a text. */
import { z } from "zod";
import { type Cut, type Data, linesOf } from "./budget.ts";

/** Most entries of one answer. */
const MAX_LIMIT = 1000;

/** A path as the repository names it: models also write `./src/main.c` and `/src/main.c`. */
export function plainPath(path: string): string {
  return path.replace(/^(?:\.?\/+)+/, "").replace(/^\.$/, "");
}

/** The arguments for a part of a list. */
export function partShape(limit: number) {
  return {
    limit: z.int().min(1).max(MAX_LIMIT).default(limit),
    offset: z.int().min(0).default(0),
  };
}

/** A cut of a list that continues with `offset`. */
export function listCut(
  field: string,
  noun: string,
  { first, total }: { readonly first: number; readonly total: number },
): Cut {
  return { field, noun, first, total, next: (position) => ({ offset: position }) };
}

/** The arguments for a part of a text. */
export const lineShape = {
  start_line: z.int().min(1).default(1),
  end_line: z.int().min(1).optional().describe("The end of the text if absent"),
};

/** The lines of a text that a call asks for. */
export interface LinePart {
  readonly text: string;
  readonly total: number;
  /** Shortens the text, and says how to read the lines behind it. */
  readonly cut: Cut;
}

/** Takes the lines of a text that a call asks for. */
export function linePart(
  whole: string,
  { field, start_line: start, end_line: end }: {
    readonly field: string;
    readonly start_line: number;
    readonly end_line?: number | undefined;
  },
): LinePart {
  const lines = linesOf(whole);
  const text = lines.slice(start - 1, end).join("");
  const next = (position: number): Data => ({ start_line: position + 1 });
  const last = Math.max(start - 1, Math.min(end ?? lines.length, lines.length));
  return {
    text,
    total: lines.length,
    cut: { field, noun: "lines", first: start - 1, total: last, next },
  };
}
