/** The files in which scribe keeps what was said. */
import { join } from "node:path";
import { foldCase } from "../../engines/irc/mod.ts";
import type { BotSettings } from "../policies/mod.ts";

export type ScribeSettings = BotSettings<"scribe">;

/** A message, as scribe writes it. */
export interface ScribeRecord {
  /** ISO 8601, UTC, microseconds. */
  readonly at: string;
  readonly channel: string;
  readonly nick: string;
  readonly account: string | null;
  readonly kind: "envelope" | "message";
  /** The type of an envelope; null for others. */
  readonly message_type: string | null;
  readonly message_id: string;
  readonly text: string;
}

const DAY_MS = 86_400_000;
const MEGABYTE = 1_048_576;

/** The largest file with the rotation `size`, if the settings give none, in megabytes. */
const USUAL_SIZE_MB = 100;

const EXTENSIONS = { jsonl: "jsonl", csv: "csv", text: "log" } as const;

/** The names of files that scribe makes, and may remove again. */
const OWN_NAME = /^scribe[-.][^/]*(?:jsonl|csv|log)$/;

const CSV_HEAD = "at,channel,nick,account,kind,message_type,message_id,text\n";

/** A record as the line of a format, with its line feed. */
export function lineOf(record: ScribeRecord, format: ScribeSettings["format"]): string {
  switch (format) {
    case "jsonl":
      return `${JSON.stringify(record)}\n`;
    case "csv": {
      const { at, channel, nick, account, kind, message_type, message_id, text } = record;
      const cells = [at, channel, nick, account, kind, message_type, message_id, text];
      return `${cells.map((cell) => quoted(cell ?? "")).join(",")}\n`;
    }
    case "text":
      return `${record.at} ${record.channel} <${record.nick}> ${record.text}\n`;
  }
}

/**
 * A cell of a CSV file (RFC 4180). Spreadsheets run what begins like a formula, so that gets an
 * apostrophe in front.
 */
function quoted(cell: string): string {
  const safe = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n']/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The name of the file for a message at a time in Unix milliseconds. */
export function fileName(settings: ScribeSettings, channel: string, time: number): string {
  const { format, per_channel: perChannel, rotation } = settings;
  const name = perChannel ? `scribe-${encodedName(channel)}` : "scribe";
  const period = periodOf(rotation, new Date(time));
  return `${name}${period === "" ? "" : `.${period}`}.${EXTENSIONS[format]}`;
}

/** A channel's name without what a file system treats specially. */
function encodedName(channel: string): string {
  const name = foldCase(channel).slice(1);
  const encoded = encodeURIComponent(name).replaceAll(".", "%2E").replaceAll("*", "%2A");
  return encoded.slice(0, 180);
}

function periodOf(rotation: ScribeSettings["rotation"], date: Date): string {
  const day = date.toISOString().slice(0, 10);
  switch (rotation) {
    case "daily":
      return day;
    case "weekly":
      return weekOf(date);
    case "monthly":
      return day.slice(0, 7);
    case "yearly":
      return day.slice(0, 4);
    case "none":
    case "size":
      return "";
  }
}

/** The week of a date, such as `2026-W47` (ISO 8601). */
function weekOf(date: Date): string {
  const thursday = new Date(date.getTime() + (4 - (date.getUTCDay() || 7)) * DAY_MS);
  const year = thursday.getUTCFullYear();
  const days = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / DAY_MS);
  return `${year}-W${String(Math.floor(days / 7) + 1).padStart(2, "0")}`;
}

/**
 * Appends lines to a file of the folder. If the file is full, it is renamed first, to
 * `….part1.…` and so on.
 */
export async function append(
  folder: string,
  name: string,
  lines: string,
  settings: ScribeSettings,
): Promise<void> {
  await Deno.mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  const size = await sizeOf(path);
  const most = mostBytes(settings);
  const isFull = size > 0 && most > 0 && size + lines.length > most;
  if (isFull) await Deno.rename(path, await freePath(folder, name));
  const isNew = size === 0 || isFull;
  const head = isNew && settings.format === "csv" ? CSV_HEAD : "";
  await Deno.writeTextFile(path, head + lines, { append: true, mode: 0o600 });
}

/** The largest file, in bytes; 0 for no limit. */
function mostBytes({ rotation, max_size_mb: megabytes }: ScribeSettings): number {
  if (rotation === "none") return 0;
  const usual = rotation === "size" ? USUAL_SIZE_MB : 0;
  return (megabytes === 0 ? usual : megabytes) * MEGABYTE;
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await Deno.stat(path)).size;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return 0;
    throw error;
  }
}

/** The path of the next part of a file that is full. */
async function freePath(folder: string, name: string): Promise<string> {
  const dot = name.lastIndexOf(".");
  const [beginning, extension] = [`${name.slice(0, dot)}.part`, name.slice(dot)];
  const parts = (await ownFiles(folder)).filter((file) =>
    file.name.startsWith(beginning) && file.name.endsWith(extension)
  ).map((file) => Number(file.name.slice(beginning.length, -extension.length)) || 0);
  return join(folder, `${beginning}${Math.max(0, ...parts) + 1}${extension}`);
}

/** A file of scribe. */
export interface ScribeFile {
  readonly name: string;
  readonly bytes: number;
  /** When it was last written, in Unix milliseconds. */
  readonly changedAt: number;
}

/** The files of scribe in a folder; none if there is no such folder. */
export async function ownFiles(folder: string): Promise<ScribeFile[]> {
  const files: ScribeFile[] = [];
  try {
    for await (const { name, isFile } of Deno.readDir(folder)) {
      if (!isFile || !OWN_NAME.test(name)) continue;
      const { size, mtime } = await Deno.stat(join(folder, name));
      files.push({ name, bytes: size, changedAt: mtime?.getTime() ?? 0 });
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return files;
}

/**
 * Removes what was said before a time: files that were last written before it, and the old lines at
 * the beginning of the others.
 *
 * @param before ISO 8601
 * @returns the number of removed files and of shortened ones
 */
export async function prune(
  folder: string,
  before: string,
): Promise<{ readonly removed: number; readonly shortened: number }> {
  let [removed, shortened] = [0, 0];
  for (const { name } of await ownFiles(folder)) {
    const path = join(folder, name);
    const kept = await firstKept(path, before);
    if (kept.offset === 0) continue;
    if (kept.offset === null) {
      await Deno.remove(path);
      removed++;
    } else {
      await cutBeginning(path, kept.head, kept.offset);
      shortened++;
    }
  }
  return { removed, shortened };
}

const AT = /\d{4}-\d\d-\d\dT[\d:.]+Z/;

/** The byte at which the first line begins that is kept; null if no line is, 0 if every line is. */
async function firstKept(
  path: string,
  before: string,
): Promise<{ readonly offset: number | null; readonly head: string }> {
  using file = await Deno.open(path);
  let [offset, rest, head] = [0, "", ""];
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  for await (const chunk of file.readable) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const isHead = offset === 0 && `${line}\n` === CSV_HEAD;
      if (isHead) head = CSV_HEAD;
      const at = AT.exec(line)?.[0] ?? "";
      const isFirst = offset === head.length && !isHead;
      if (!isHead && at >= before) return { offset: isFirst ? 0 : offset, head };
      offset += encoder.encode(line).length + 1;
    }
  }
  return { offset: offset === 0 ? 0 : null, head };
}

/** Replaces a file with its end. */
async function cutBeginning(path: string, head: string, offset: number): Promise<void> {
  const temporary = `${path}.new`;
  using from = await Deno.open(path);
  await from.seek(offset, Deno.SeekMode.Start);
  using to = await Deno.open(temporary, { write: true, create: true, truncate: true, mode: 0o600 });
  await to.write(new TextEncoder().encode(head));
  await from.readable.pipeTo(to.writable);
  await Deno.rename(temporary, path);
}
