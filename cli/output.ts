import { basename, dirname, join } from "node:path";
import { cut, pad, widthOf } from "./command_line/mod.ts";
import { escapeControls } from "./log_format.ts";

/** A command failed; the message is for its caller. */
export class CommandFailed extends Error {
  override readonly name = "CommandFailed";
  readonly exitCode: number;

  constructor(message: string, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Standard output cannot be written; not thrown if its reader, such as `head`, has read enough. */
class OutputFailed extends CommandFailed {}

/** Writes a line to standard output. @throws OutputFailed; BrokenPipe if nobody reads it */
export function print(line = ""): void {
  writeOutput(encode(`${line}\n`));
}

/**
 * Writes lines to standard error, safe for a terminal: an error may quote untrusted text. If that is
 * not possible, there is no place to say so.
 */
export function printError(lines: string): void {
  try {
    write(Deno.stderr, encode(`${visibleLines(lines)}\n`));
  } catch {
    // What the command does is more than what it says.
  }
}

/**
 * Prints the report of work that is done, or has failed in its own way: what the command returns
 * does not depend on whether the report can be written. Standard error says if it cannot.
 */
export function reportDone(report: () => void): void {
  try {
    report();
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return;
    if (!(error instanceof OutputFailed)) throw error;
    printError(`The report is not shown: ${error.message}`);
  }
}

/** Writes bytes to standard output unchanged. @throws OutputFailed; BrokenPipe */
export function printBytes(bytes: Uint8Array): void {
  writeOutput(bytes);
}

/** Writes untrusted text: unchanged into a file or a pipe, made safe on a terminal. */
export function printText(text: string): void {
  const safe = Deno.stdout.isTerminal() ? visibleLines(text) : text;
  printBytes(encode(safe));
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function writeOutput(bytes: Uint8Array): void {
  try {
    write(Deno.stdout, bytes);
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe || !(error instanceof Error)) throw error;
    throw new OutputFailed(`Standard output cannot be written: ${error.message}`);
  }
}

function write(stream: typeof Deno.stdout, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) {
    written += stream.writeSync(bytes.subarray(written));
  }
}

/** The columns of a terminal; null if the stream is not a terminal. */
export function terminalWidth(stream: typeof Deno.stdout): number | null {
  if (!stream.isTerminal()) return null;
  try {
    return Deno.consoleSize().columns || null;
  } catch {
    return null;
  }
}

/** Marks a text as important on a terminal, unless `NO_COLOR` is set (https://no-color.org). */
export function bold(text: string, stream: typeof Deno.stdout): string {
  const isPlain = !stream.isTerminal() || (Deno.env.get("NO_COLOR") ?? "") !== "";
  return isPlain ? text : `\x1b[1m${text}\x1b[22m`;
}

/**
 * How to call this program from the folder in which the person stands: the tree by its task, the
 * executable by its name, or by its path if the shell would not find it.
 */
export function commandName(): string {
  if (!Deno.build.standalone) return `npx deno@2.9.6 task ${wayToTree()}start`;
  if (Deno.build.os === "windows") return "muster";
  return calledAs(Deno.execPath(), Deno.cwd(), Deno.env.get("PATH") ?? "");
}

/**
 * How a shell calls an executable from a folder.
 *
 * @param path the shell's `PATH`
 */
export function calledAs(executable: string, folder: string, path: string): string {
  const name = basename(executable);
  const found = path.split(":").map((place) => join(place, name)).find(exists);
  if (found !== undefined && Deno.realPathSync(found) === Deno.realPathSync(executable)) {
    return name;
  }
  return quoted(dirname(executable) === folder ? `./${name}` : executable);
}

/** A task runs in the folder of its tree, and knows from this variable where it was called. */
function wayToTree(): string {
  const [stands, tree] = [Deno.env.get("INIT_CWD") ?? "", Deno.cwd()];
  const isInside = stands === "" || `${stands}/`.startsWith(`${tree}/`);
  return isInside || !exists(`${tree}/deno.json`) ? "" : `--cwd ${quoted(tree)} `;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

/** A path as a word of the shell. */
function quoted(path: string): string {
  return /^[\w./@:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/**
 * Makes untrusted text safe for a terminal: what a terminal obeys becomes visible, control characters
 * and those that end a line or turn the direction of text.
 */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 0x20 ? String.fromCodePoint(0x2400 + code) : "\u{fffd}";
  });
}

/** As {@link visible}, for a text of several lines. */
function visibleLines(text: string): string {
  return text.replace(/[^\t\n]+/g, visible);
}

/** Prints a value as JSON, safe for a terminal. */
export function printJson(value: unknown): void {
  print(escapeControls(JSON.stringify(value, null, 2)));
}

/** As {@link printJson}, in one line. */
export function printJsonLine(value: unknown): void {
  print(escapeControls(JSON.stringify(value)));
}

/** Prints names with their values, one per line. */
export function printFields(fields: readonly (readonly [name: string, value: string])[]): void {
  const width = Math.max(...fields.map(([name]) => widthOf(name)));
  for (const [name, value] of fields) print(`${pad(name, width)}  ${visible(value)}`.trimEnd());
}

/** The narrowest width of a truncated column, in cells. */
const MIN_COLUMN = 8;

/**
 * Aligns rows in columns. In a file or a pipe, each column is as wide as its widest cell; on a
 * terminal, the widest columns are truncated until the rows fit.
 */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows.map((row) => row.map(visible))];
  const widest = header.map((_, column) =>
    Math.max(...all.map((row) => widthOf(row[column] ?? "")))
  );
  const widths = fit(widest, terminalWidth(Deno.stdout));
  const lines = all.map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return pad(cut(cell, width), width);
    }).join("  ").trimEnd()
  );
  return [bold(lines[0] ?? "", Deno.stdout), ...lines.slice(1)].join("\n");
}

/** Narrows the widest columns until all fit, with two cells between them. */
function fit(widths: readonly number[], available: number | null): readonly number[] {
  const result = [...widths];
  if (available === null) return result;
  const room = available - 2 * (widths.length - 1);
  let excess = result.reduce((sum, width) => sum + width, 0) - room;
  for (; excess > 0; excess--) {
    const widest = Math.max(...result);
    if (widest <= MIN_COLUMN) break;
    result[result.lastIndexOf(widest)] = widest - 1;
  }
  return result;
}

/** Data that an import or export lost or changed. */
interface Notices {
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
