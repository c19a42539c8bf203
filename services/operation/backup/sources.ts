import { join } from "node:path";
import type { z } from "zod";
import { ArchiveReader, openArchive } from "./archive_reader.ts";
import { backupsIn, OBJECTS, readManifest } from "./folder_target.ts";
import {
  FORMAT,
  HEADER_NAME,
  headerSchema,
  type Manifest,
  MANIFEST_NAME,
  manifestSchema,
  type StoredFile,
} from "./manifest.ts";
import { BackupError } from "./names.ts";

/** Longest manifest, in bytes; a file takes about 200. */
const MAX_MANIFEST = 256 * 1024 * 1024;

/** Longest header, in bytes. */
const MAX_HEADER = 4096;

/** Takes the content of a file of a backup. */
export type TakeFile = (
  name: string,
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
) => Promise<void>;

/**
 * Reads a whole archive.
 *
 * @returns what it should hold
 * @throws BackupError if it is damaged, ends early or comes from a newer muster
 */
export async function readArchive(path: string, take: TakeFile): Promise<Manifest> {
  const reader = new ArchiveReader(await openArchive(path));
  try {
    const first = await reader.next();
    if (first?.name !== HEADER_NAME || first.bytes > MAX_HEADER) {
      throw new BackupError(`"${path}" is no archive of muster`);
    }
    requireKnown(await readJson(reader.content(first), headerSchema));
    for (let entry = await reader.next(); entry !== null; entry = await reader.next()) {
      if (entry.name !== MANIFEST_NAME) {
        await take(entry.name, reader.content(entry));
        continue;
      }
      if (entry.bytes > MAX_MANIFEST) throw new BackupError("The list of files is too long");
      return await readJson(reader.content(entry), manifestSchema);
    }
    throw new BackupError("The archive ends early: its list of files is missing");
  } finally {
    await reader.close();
  }
}

/**
 * Reads the newest backup of a folder, or another one.
 *
 * @param name of a backup; null for the newest
 * @throws BackupError if something is missing or comes from a newer muster
 */
export async function readFolder(
  folder: string,
  name: string | null,
  take: TakeFile,
): Promise<Manifest> {
  const names = await backupsIn(folder).catch(() => []);
  const chosen = name === null ? names.at(-1) : names.find((known) => known === `${name}.json`);
  if (chosen === undefined) {
    const known = names.map((known) => known.replace(/\.json$/, "")).join(", ");
    throw new BackupError(
      name === null
        ? `There is no backup in "${folder}"`
        : `There is no backup "${name}" in "${folder}", but: ${known}`,
    );
  }
  const manifest = await readManifest(folder, chosen);
  requireKnown(manifest);
  for (const file of manifest.files) {
    await take(file.name, (await openObject(join(folder, OBJECTS, file.sha256), file)).readable);
  }
  return manifest;
}

async function openObject(path: string, { name, bytes }: StoredFile): Promise<Deno.FsFile> {
  try {
    const { isFile, size } = await Deno.lstat(path);
    if (isFile && size === bytes) return await Deno.open(path);
  } catch {
    throw new BackupError(`The backup is incomplete: the content of "${name}" is missing`);
  }
  throw new BackupError(`The backup is damaged: the content of "${name}" does not have its length`);
}

function requireKnown({ format, muster }: Pick<Manifest, "format" | "muster">): void {
  if (format <= FORMAT) return;
  throw new BackupError(`The backup comes from a newer muster, ${muster}: restore it with that`);
}

async function readJson<T>(
  pieces: AsyncIterable<Uint8Array<ArrayBuffer>>,
  schema: z.ZodType<T>,
): Promise<T> {
  const all = await Array.fromAsync(pieces, (piece) => piece.slice());
  try {
    return schema.parse(JSON.parse(await new Blob(all).text()));
  } catch {
    throw new BackupError("The archive is damaged: its list of files cannot be read");
  }
}
