/** What matters of the log of a check that failed, within a budget. */
import type { JobLogs, LogKey, NumberedLine } from "./job_logs.ts";

/** Lines of the end of a log that are read. */
const READ = 2000;

/** Lines around one that looks like an error. */
const AROUND = 2;

/** Words of lines that tell what went wrong. */
const TELLING = [
  ...["error", "fail", "panic", "exception", "assert", "fatal", "traceback", "not ok"],
  ...["expected", "undefined", "cannot", "denied", "✗", "✖"],
];

export interface Excerpt {
  /** The last command that began; null if none did. */
  readonly command: string | null;
  readonly text: string;
  readonly total: number;
}

/**
 * The end of the last command of a log, after lines before it that look like errors. Each line has its
 * number before it.
 *
 * @param budget characters
 */
export async function excerptOf(
  logs: Pick<JobLogs, "read">,
  key: LogKey,
  budget: number,
): Promise<Excerpt> {
  const { lines, total } = await logs.read(key, 1 - READ, READ);
  const begin = lines.findLastIndex(({ stream }) => stream === "command");
  const command = lines[begin]?.text ?? null;
  const last = lines.slice(Math.max(begin, 0));
  const tail: string[] = [];
  let left = Math.floor(budget * 0.6);
  let first = last.length;
  while (first > 0) {
    const text = shown(last[first - 1]);
    if (text.length > left) break;
    left -= text.length;
    tail.unshift(text);
    first--;
  }
  const before = last.slice(0, first);
  const telling = tellingLines(before);
  const kept: string[] = [];
  let room = budget - tail.reduce((sum, text) => sum + text.length, 0);
  let previous = 0;
  for (const line of telling) {
    const text = `${previous !== 0 && line.number > previous + 1 ? "…\n" : ""}${shown(line)}`;
    if (text.length > room) break;
    room -= text.length;
    kept.push(text);
    previous = line.number;
  }
  const gap = first > 0 ? ["…\n"] : [];
  return { command, text: [...kept, ...gap, ...tail].join(""), total };
}

/**
 * The last lines of a log as one text, such as a message has room for.
 *
 * @param budget characters
 */
export function lastLinesOf(lines: readonly NumberedLine[], budget: number): string {
  const texts = lines.filter(({ stream }) => stream !== "command").map(({ text }) => plain(text))
    .filter((text) => text.trim() !== "");
  const kept: string[] = [];
  let left = budget;
  for (const text of texts.toReversed()) {
    if (text.length + 3 > left) break;
    left -= text.length + 3;
    kept.unshift(text);
  }
  return kept.join(" | ");
}

function tellingLines(lines: readonly NumberedLine[]): readonly NumberedLine[] {
  const wanted = new Set<number>();
  for (const [place, { text }] of lines.entries()) {
    const words = text.slice(0, 500).toLowerCase();
    if (!TELLING.some((word) => words.includes(word))) continue;
    for (let near = place - AROUND; near <= place + AROUND; near++) wanted.add(near);
  }
  return lines.filter((_, place) => wanted.has(place));
}

function shown(line: NumberedLine | undefined): string {
  if (line === undefined) return "";
  const { number, stream, text } = line;
  const mark = stream === "command" ? "$ " : stream === "note" ? "# " : "";
  return `${number}: ${mark}${plain(text)}\n`;
}

// deno-lint-ignore no-control-regex
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;

/** A line without what colours it. */
function plain(text: string): string {
  return text.replace(ESCAPES, "");
}
