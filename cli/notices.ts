import { printError, visible } from "./output.ts";

/** Data that an import or export lost or changed. */
export interface Notices {
  readonly counts: Readonly<Record<string, number>>;
  readonly first: readonly {
    readonly kind: string;
    readonly subject: string;
    readonly message: string;
  }[];
}

/** Prints what could not be imported or exported unchanged, on standard error. */
export function printNotices({ counts, first }: Notices): void {
  for (const { kind, subject, message } of first) {
    printError(visible(`${kind}: ${subject}: ${message}`));
  }
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  if (total > first.length) {
    const all = Object.entries(counts).map(([kind, count]) => `${count} ${kind}`);
    printError(`Only the first ${first.length} are shown; in all: ${all.join(", ")}`);
  }
}
