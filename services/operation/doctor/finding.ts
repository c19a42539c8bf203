/** How bad a finding is. A note asks for nothing. */
export type Level = "error" | "warning" | "note";

/** Something that is not as it should be. */
export interface Finding {
  readonly level: Level;
  /** The check that found it, such as `permissions`. */
  readonly check: string;
  /** What is wrong, as one sentence without a period. */
  readonly message: string;
  /** How to fix it, as one sentence without a period. */
  readonly fix: string;
}

/** Makes findings of one check. */
export function findingsOf(
  check: string,
): Readonly<Record<Level, (message: string, fix: string) => Finding>> {
  const make = (level: Level) => (message: string, fix: string) => ({ level, check, message, fix });
  return { error: make("error"), warning: make("warning"), note: make("note") };
}

/** The text of an error. */
export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A path as a word of a shell. */
export function quoted(path: string): string {
  return /^[\w./@%+=:,-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
