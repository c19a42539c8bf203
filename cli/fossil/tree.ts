import {
  readArchive,
  readFile,
  readTree,
  type TreeEntry,
} from "../../services/engines/fossil/mod.ts";
import {
  CommandFailed,
  print,
  printBytes,
  printError,
  printText,
  table,
  visible,
} from "../output.ts";
import { printJson, reading, shortTime } from "./session.ts";

interface CheckinOption {
  readonly checkin?: string;
}

interface ListOptions extends CheckinOption {
  readonly json?: boolean;
  readonly long?: boolean;
}

/** `muster fossil ls`: every file of a check-in, or of a folder in it, by its full path. */
export async function listFiles(
  file: string,
  path: string | undefined,
  { json = false, long = false, ...query }: ListOptions,
): Promise<void> {
  await reading(file, ({ reader }) => {
    const { checkin, entries } = readTree(reader, {
      ...query,
      ...path === undefined ? {} : { path },
      recursive: true,
      withoutLastCheckin: !json && !long,
    });
    if (json) return printJson({ checkin, entries });
    if (!long) return printText(entries.map(({ name }) => `${visible(name)}\n`).join(""));
    print(table(["MODE", "SIZE", "CHANGED", "FILE"], entries.map(rowOf)));
  });
}

function rowOf({ name, type, size, executable, last_checkin }: TreeEntry): string[] {
  const mode = type === "link" ? "link" : executable ? "exec" : "file";
  return [mode, String(size ?? "?"), shortTime(last_checkin?.timestamp ?? ""), name];
}

/** `muster fossil cat`: the bytes of a file. */
export async function printFile(
  file: string,
  path: string,
  options: CheckinOption,
): Promise<void> {
  await reading(file, ({ reader }) => {
    const { content, is_binary } = readFile(reader, { ...options, path });
    printContent(path, content, is_binary);
  });
}

/** Prints bytes unchanged; refuses binary ones on a terminal. */
export function printContent(name: string, content: Uint8Array, isBinary: boolean): void {
  if (!Deno.stdout.isTerminal()) return printBytes(content);
  if (isBinary) throw new CommandFailed(`"${name}" is binary: write it to a file or a pipe`);
  printText(new TextDecoder().decode(content));
}

/** `muster fossil archive`: all files of a check-in in one file. */
export async function archive(
  file: string,
  options: CheckinOption & {
    readonly format: "zip" | "tar.gz";
    readonly folder?: string;
    readonly output?: string;
  },
): Promise<void> {
  const { output, ...what } = options;
  if (output === undefined && Deno.stdout.isTerminal()) {
    throw new CommandFailed("An archive cannot go to a terminal: name a file with --output", 2);
  }
  await reading(file, ({ reader }) => {
    const chunks = readArchive(reader, what);
    const { left_out, first_left_out } = output === undefined
      ? printAll(chunks)
      : writeFile(output, chunks);
    if (left_out === 0) return;
    for (const { path, reason } of first_left_out) {
      printError(visible(`${path}: left out: ${reason}`));
    }
    throw new CommandFailed(`Files left out of the archive: ${left_out}`);
  });
}

/** `muster fossil zip` and `tarball`, like those of the `fossil` program. */
export function archiveAs(format: "zip" | "tar.gz") {
  return async (
    file: string,
    checkin: string | undefined,
    output: string | undefined,
    { name }: { readonly name?: string },
  ): Promise<void> =>
    await archive(file, {
      format,
      ...checkin === undefined ? {} : { checkin },
      ...output === undefined ? {} : { output },
      ...name === undefined ? {} : { folder: name },
    });
}

function printAll<T>(chunks: Generator<Uint8Array, T>): T {
  for (let next = chunks.next();; next = chunks.next()) {
    if (next.done === true) return next.value;
    printBytes(next.value);
  }
}

/**
 * Writes a file in pieces. An existing file is replaced only when the new one is complete. Anything
 * but a file, such as a pipe, is written directly.
 */
function writeFile<T>(path: string, chunks: Generator<Uint8Array, T>): T {
  if (isSpecial(path)) return writePieces(path, chunks);
  const part = `${path}.part`;
  try {
    const result = writePieces(part, chunks);
    Deno.renameSync(part, path);
    return result;
  } catch (error) {
    removeIfThere(part);
    throw error;
  }
}

function isSpecial(path: string): boolean {
  try {
    return !Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}

function removeIfThere(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function writePieces<T>(path: string, chunks: Generator<Uint8Array, T>): T {
  using file = Deno.openSync(path, { write: true, create: true, truncate: true });
  for (let next = chunks.next();; next = chunks.next()) {
    if (next.done === true) return next.value;
    for (let written = 0; written < next.value.length;) {
      written += file.writeSync(next.value.subarray(written));
    }
  }
}
