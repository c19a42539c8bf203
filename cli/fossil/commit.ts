import {
  type FileChange,
  hasHash,
  type Place,
  placeCheckin,
  readCheckin,
  readTree,
  resolveCheckin,
  type TreeEntry,
  writeCheckin,
} from "../../services/fossil/mod.ts";
import { CommandFailed, print } from "../output.ts";
import { filesOf, type FolderFile } from "./folder.ts";
import { printJson } from "./format.ts";
import { type Session, type WriteOptions, writingAs } from "./session.ts";

interface CommitOptions extends WriteOptions {
  readonly from: string;
  readonly message: string;
  readonly branch?: string;
  readonly parent?: string;
  readonly tag?: readonly string[];
  readonly close?: boolean;
  readonly allowEmpty?: boolean;
  readonly allowFork?: boolean;
}

/** `muster fossil commit`: makes a check-in whose tree is a folder on disk. */
export async function commit(file: string, options: CommitOptions): Promise<void> {
  const { from, message, tag = [], close = false, allowEmpty = false, allowFork = false } = options;
  if (!isFolder(from)) throw new CommandFailed(`"${from}" is no folder`);
  const checkin = await writingAs(file, options, (session, author) => {
    const { parent, newBranch } = placeOf(session, options);
    const uuid = writeCheckin(session.repository, {
      ...author,
      parent,
      comment: message,
      changes: changesTo(session, parent, from),
      tags: tag,
      close,
      allowEmpty,
      allowFork,
      ...newBranch === null ? {} : { branch: newBranch },
    });
    return options.json === true ? readCheckin(session.reader, uuid) : { uuid };
  });
  if (options.json === true) printJson(checkin);
  else print(checkin.uuid);
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}

/** The branch of the new check-in, and its parent by any name. */
function placeOf(
  { reader, repository }: Session,
  { branch, parent }: CommitOptions,
): Place {
  return placeCheckin(repository, {
    ...branch === undefined ? {} : { branch },
    ...parent === undefined ? {} : { parent: resolveCheckin(reader, parent).uuid },
  });
}

/** The changes that turn a check-in's tree into the folder's. */
function changesTo({ reader, path }: Session, parent: string, folder: string): FileChange[] {
  const tree = readTree(reader, { checkin: parent, recursive: true, withoutLastCheckin: true });
  const before = new Map(tree.entries.map((entry) => [entry.name, entry]));
  const changes: FileChange[] = [];
  for (const file of filesOf(folder, path)) {
    const known = before.get(file.path);
    before.delete(file.path);
    const change = changeTo(known, file);
    if (change !== null) changes.push(change);
  }
  for (const name of before.keys()) changes.push({ kind: "delete", path: name });
  return changes;
}

function changeTo(known: TreeEntry | undefined, file: FolderFile): FileChange | null {
  const { path, mode } = file;
  if (
    known === undefined || known.size !== sizeOf(file) || !hasHash(file.read(), known.uuid ?? "")
  ) {
    return new FileWrite(file);
  }
  return modeOf(known) === mode ? null : { kind: "mode", path, mode };
}

/** The size that the system reports for a link is not reliable. */
function sizeOf(file: FolderFile): number {
  return file.mode === "link" ? file.read().length : file.size;
}

function modeOf({ type, executable }: TreeEntry): FolderFile["mode"] {
  return type === "link" ? "link" : executable ? "executable" : "file";
}

/** Reads the content only when it is written, so that a large folder is never in memory at once. */
class FileWrite {
  readonly kind = "write";
  readonly path: string;
  readonly mode: FolderFile["mode"];
  readonly #file: FolderFile;

  constructor(file: FolderFile) {
    this.#file = file;
    this.path = file.path;
    this.mode = file.mode;
  }

  get content(): Uint8Array {
    return this.#file.read();
  }
}
