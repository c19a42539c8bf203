/** The options of a push (`git push -o NAME=VALUE`). */

/** What a push asks for beside its references. */
export interface PushOptions {
  readonly topic: string | null;
  readonly title: string | null;
  readonly description: string | null;
  /** The whole id of a ticket. */
  readonly ticket: string | null;
  readonly reviewers: readonly string[];
  /** Whether the commits go to the workspace alone, without a review. */
  readonly isDraft: boolean;
  /** Whether the review is to land once it may. */
  readonly land: boolean;
  /** Those that mean nothing here. */
  readonly unknown: readonly string[];
}

/**
 * Reads the options of a push; the last one of a name counts, but every reviewer, and every
 * description as a line of one: `git` sends no line ends.
 */
export function parsePushOptions(lines: readonly string[]): PushOptions {
  const values = new Map<string, string>();
  const reviewers: string[] = [];
  const description: string[] = [];
  const unknown: string[] = [];
  for (const line of lines) {
    const [, name = "", value = ""] = /^([^=]*)(?:=(.*))?$/s.exec(line) ?? [];
    if (name === "description") description.push(value);
    else if (name === "reviewer") reviewers.push(...value.split(",").map((one) => one.trim()));
    else if (NAMES.has(name)) values.set(name, value);
    else unknown.push(name);
  }
  const text = (name: string) => values.get(name)?.trim() || null;
  const isOn = (name: string) => values.has(name) && values.get(name) !== "false";
  return {
    topic: text("topic"),
    title: text("title"),
    description: description.join("\n").trim() || null,
    ticket: text("ticket"),
    reviewers: reviewers.filter((name) => name !== ""),
    isDraft: isOn("draft"),
    land: isOn("land"),
    unknown,
  };
}

const NAMES: ReadonlySet<string> = new Set([
  "topic",
  "title",
  "ticket",
  "draft",
  "land",
]);
