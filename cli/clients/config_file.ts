/** Changes of other programs' configuration files: shown first, then written safely. */
import { basename, dirname, join, resolve } from "node:path";
import { unifiedDiff } from "../../services/engines/fossil/mod.ts";
import { CommandFailed } from "../output.ts";
import { Unreadable } from "./config_text.ts";

/** The largest configuration file, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Most links that are followed, one after the other. */
const MAX_LINKS = 40;

/** Lines around each change that is shown. */
const CONTEXT = 3;

/** A change of a file that is not written yet. */
export interface FileChange {
  /** As the client names it; it may be a symbolic link. */
  readonly path: string;
  /** Null if the file does not exist. */
  readonly before: string | null;
  readonly after: string;
  /** The permissions of a file that does not exist yet. */
  readonly mode: number;
}

/** What to change in a file. */
export interface FileEdit {
  readonly path: string;
  /** The permissions of a new file. */
  readonly mode: number;
  /** Takes the file's text, or an empty one; throws {@linkcode Unreadable}. */
  readonly apply: (text: string) => string;
}

/**
 * Reads a file and works out its new text.
 *
 * @returns null if nothing would change
 * @throws CommandFailed if the file cannot be read or edited
 */
export async function planChange({ path, mode, apply }: FileEdit): Promise<FileChange | null> {
  const before = await readConfiguration(path);
  try {
    const after = applyBehindMark(before ?? "", apply);
    return after === (before ?? "") ? null : { path, before, after, mode };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    throw new CommandFailed(`${path} stays as it is: ${error.message}`);
  }
}

/** The byte order mark, with which programs on Windows begin files. */
const MARK = "\uFEFF";

/** Edits the text behind a byte order mark, which the parsers take for a fault. */
function applyBehindMark(text: string, apply: FileEdit["apply"]): string {
  if (!text.startsWith(MARK)) return apply(text);
  const rest = text.slice(MARK.length);
  const edited = apply(rest);
  return edited === rest ? text : `${MARK}${edited}`;
}

/** The change as a unified diff. */
export function diffOf({ path, before, after }: FileChange): string {
  const encoder = new TextEncoder();
  const [from, to] = [encoder.encode(before ?? ""), encoder.encode(after)];
  const { hunks } = unifiedDiff(from, to, CONTEXT);
  return `--- ${before === null ? "/dev/null" : path}\n+++ ${path}\n${hunks.trimEnd()}`;
}

/**
 * Writes a change: a copy of the old file beside it first, then the new one in its place. A symbolic
 * link stays one.
 *
 * @returns the path of the copy; null if there was no file
 * @throws CommandFailed if the file was changed since it was read
 */
export async function writeChange(change: FileChange, now: Date): Promise<string | null> {
  const target = await realPath(change.path);
  if (await readConfiguration(target) !== change.before) {
    throw new CommandFailed(`${change.path} has just been changed by another program; try again`);
  }
  await Deno.mkdir(dirname(target), { recursive: true, mode: change.mode | 0o100 });
  if (change.before === null) {
    await replaceFile(target, change.after, change.mode);
    return null;
  }
  const mode = (await Deno.stat(target)).mode ?? change.mode;
  const stamp = now.toISOString().replaceAll(/[-:]|\.\d+/g, "");
  const copy = `${target}.${stamp}.muster-backup`;
  await replaceFile(copy, change.before, mode & 0o777);
  await replaceFile(target, change.after, mode & 0o777);
  return copy;
}

/** Writes a file beside its place, syncs it, and moves it there. */
export async function replaceFile(path: string, text: string, mode: number): Promise<void> {
  const name = `.${basename(path)}.${crypto.randomUUID()}.new`;
  const temporary = join(dirname(path), name);
  try {
    using file = await Deno.open(temporary, { write: true, createNew: true, mode });
    const bytes = new TextEncoder().encode(text);
    for (let written = 0; written < bytes.length;) {
      written += await file.write(bytes.subarray(written));
    }
    await file.sync();
    if (Deno.build.os !== "windows") await Deno.chmod(temporary, mode);
    await Deno.rename(temporary, path);
  } catch (error) {
    await Deno.remove(temporary).catch(() => {});
    throw new CommandFailed(`${path} cannot be written: ${reasonOf(error)}`);
  }
}

async function readConfiguration(path: string): Promise<string | null> {
  try {
    const { size } = await Deno.stat(path);
    if (size > MAX_BYTES) throw new CommandFailed(`${path} is larger than 16 MiB`);
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(await Deno.readFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    if (error instanceof CommandFailed) throw error;
    if (error instanceof TypeError) throw new CommandFailed(`${path} is not UTF-8 text`);
    throw new CommandFailed(`${path} cannot be read: ${reasonOf(error)}`);
  }
}

/** Where a path leads, also by links to a file that does not exist yet. */
async function realPath(path: string): Promise<string> {
  let target = path;
  for (let links = 0; links < MAX_LINKS; links++) {
    try {
      return await Deno.realPath(target);
    } catch {
      const link = await Deno.readLink(target).catch(() => null);
      if (link === null) return target;
      target = resolve(dirname(target), link);
    }
  }
  return target;
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
