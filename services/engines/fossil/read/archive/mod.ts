/** A check-in's files as one zip or tar.gz archive. */
import { type FileCard, foldPath, isHarmfulPath } from "../../artifact/mod.ts";
import { FossilError } from "../../error.ts";
import { contentOrReason, type UnreadableFile } from "../content.ts";
import { manifestOf, treeOf } from "../manifests.ts";
import type { Reader } from "../reader.ts";
import { resolveCheckin } from "../resolve.ts";
import { type ArchiveFile, zipArchive } from "./zip.ts";
import { gzip, tarArchive } from "./tar.ts";
import { TextSet } from "../../text/mod.ts";

export type ArchiveFormat = "zip" | "tar.gz";

/** Digits of the check-in's hash in the name of the folder. */
const FOLDER_DIGITS = 10;

/** Content and format of an archive. */
export interface ArchiveOptions {
  /** Any name; absent for the tip of the main branch. */
  readonly checkin?: string;
  readonly format: ArchiveFormat;
  /** Top folder; absent for the project's name and digits of the check-in. */
  readonly folder?: string;
}

/** Most files that a report names. */
const MAX_NAMED = 100;

/** The files missing from an archive. */
export interface ArchiveReport {
  /** Number of files without readable content, or whose path is harmful. */
  readonly left_out: number;
  /** The first of them. */
  readonly first_left_out: readonly UnreadableFile[];
}

/**
 * Packs a check-in's files, in pieces; one file is in memory at a time. Every file has the time of
 * the check-in, so the same check-in always gives the same bytes. Each file is read in its own
 * transaction. Skips files that cannot be read, and those that would be unpacked into a folder of Git,
 * outside of the archive's folder or through a link; the generator returns them.
 *
 * @throws {FossilError} `missing` or `ambiguous` if the name fits none or several; `invalid` if the
 * folder is not a valid path. While it generates: `limit`.
 */
export function readArchive(
  reader: Reader,
  options: ArchiveOptions,
): Generator<Uint8Array, ArchiveReport> {
  return reader.read(() => {
    const { rid, uuid } = resolveCheckin(reader, options.checkin);
    const { date } = manifestOf(reader, rid);
    const folder = options.folder ?? defaultFolder(reader, uuid);
    if (folder.startsWith("/") || folder.split("/").includes("..")) {
      throw new FossilError("invalid", `"${folder}" is not a folder for an archive`);
    }
    const leftOut = new LeftOut();
    const files = filesOf(reader, treeOf(reader, rid), folder, leftOut);
    const chunks = options.format === "zip"
      ? zipArchive(files, date)
      : gzip(tarArchive(files, date));
    return reporting(chunks, leftOut);
  });
}

/** Counts the skipped files. */
class LeftOut {
  #count = 0;
  readonly #first: UnreadableFile[] = [];

  add(file: UnreadableFile): void {
    this.#count++;
    if (this.#first.length < MAX_NAMED) this.#first.push(file);
  }

  report(): ArchiveReport {
    return { left_out: this.#count, first_left_out: this.#first };
  }
}

function* reporting(
  chunks: Iterable<Uint8Array>,
  leftOut: LeftOut,
): Generator<Uint8Array, ArchiveReport> {
  yield* chunks;
  return leftOut.report();
}

function defaultFolder(reader: Reader, uuid: string): string {
  const project = (reader.repository.config.get("project-name") ?? "")
    .replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|(?<![-.])[-.]+$/g, "");
  return `${project || "checkin"}-${uuid.slice(0, FOLDER_DIGITS)}`;
}

function* filesOf(
  reader: Reader,
  cards: readonly FileCard[],
  folder: string,
  leftOut: LeftOut,
): Generator<ArchiveFile> {
  const folders = foldersOf(cards);
  for (const { name, hash, mode } of cards) {
    const uuid = hash ?? "";
    // A system that ignores case would unpack the files of the folder through the link.
    if (isHarmfulPath(name) || (mode === "link" && folders.has(foldPath(name)))) {
      leftOut.add({ path: name, uuid, reason: "Its path is harmful" });
      continue;
    }
    const content = reader.read(() => contentOrReason(reader, uuid));
    if (typeof content === "string") leftOut.add({ path: name, uuid, reason: content });
    else yield { path: folder === "" ? name : `${folder}/${name}`, mode, content };
  }
}

/** The folders of the files, as a system that ignores case compares them; none without a link. */
function foldersOf(cards: readonly FileCard[]): Pick<TextSet, "has"> {
  const folders = new TextSet();
  if (!cards.some(({ mode }) => mode === "link")) return folders;
  for (const { name } of cards) {
    const folded = foldPath(name);
    for (let end = folded.lastIndexOf("/"); end > 0; end = folded.lastIndexOf("/", end - 1)) {
      folders.add(folded.slice(0, end));
    }
  }
  return folders;
}
