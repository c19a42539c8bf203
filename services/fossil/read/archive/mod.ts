/** A check-in's files as one zip or tar.gz archive. */
import type { FileCard } from "../../artifact/mod.ts";
import { FossilError } from "../../error.ts";
import { manifestOf, treeOf } from "../manifests.ts";
import type { Reader } from "../reader.ts";
import { resolveCheckin } from "../resolve.ts";
import type { ArchiveFile } from "./entry.ts";
import { gzip } from "./gzip.ts";
import { tarArchive } from "./tar.ts";
import { zipArchive } from "./zip.ts";

export type ArchiveFormat = "zip" | "tar.gz";

/** Digits of the check-in's hash in the name of the folder. */
const FOLDER_DIGITS = 10;

/** What is packed, and how. */
export interface ArchiveOptions {
  /** Any name; absent for the tip of trunk. */
  readonly checkin?: string;
  readonly format: ArchiveFormat;
  /** Folder that everything is in; absent for the project's name and digits of the check-in. */
  readonly folder?: string;
}

/**
 * Packs a check-in's files, in pieces; one file is in memory at a time. Every file has the time of the check-in, so that the same check-in
 * always gives the same bytes. Each file is read in a transaction of its own, when it is its turn.
 *
 * @throws {FossilError} `missing` or `ambiguous` where the name fits none or several; `invalid`
 * where the folder is no path. The chunks: `missing` where content is not here, `limit`.
 */
export function readArchive(reader: Reader, options: ArchiveOptions): Generator<Uint8Array> {
  return reader.read(() => {
    const { rid, uuid } = resolveCheckin(reader, options.checkin);
    const { date } = manifestOf(reader, rid);
    const folder = options.folder ?? defaultFolder(reader, uuid);
    if (folder.startsWith("/") || folder.split("/").includes("..")) {
      throw new FossilError("invalid", `"${folder}" is no folder of an archive`);
    }
    const files = filesOf(reader, treeOf(reader, rid), folder);
    return options.format === "zip" ? zipArchive(files, date) : gzip(tarArchive(files, date));
  });
}

function defaultFolder(reader: Reader, uuid: string): string {
  const project = (reader.repository.config.get("project-name") ?? "")
    .replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|[-.]+$/g, "");
  return `${project || "checkin"}-${uuid.slice(0, FOLDER_DIGITS)}`;
}

function* filesOf(
  reader: Reader,
  cards: readonly FileCard[],
  folder: string,
): Generator<ArchiveFile> {
  const { repository } = reader;
  for (const { name, hash, mode } of cards) {
    const content = reader.read(() => repository.store.require(repository.ridOf(hash ?? "")));
    yield { path: folder === "" ? name : `${folder}/${name}`, mode, content };
  }
}
