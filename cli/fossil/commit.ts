import { join } from "node:path";
import {
  amendCheckin,
  encodeUtf8,
  type FileChange,
  type FileMode,
  hasHash,
  isReservedFileName,
  type Place,
  placeCheckin,
  readCheckin,
  readTree,
  resolveCheckin,
  searchIndexPath,
  type TreeEntry,
  writeCheckin,
} from "../../services/engines/fossil/mod.ts";
import { CommandFailed, print } from "../output.ts";
import { printJson, type Session, type WriteOptions, writingAs } from "./session.ts";

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

interface AmendOptions extends WriteOptions {
  readonly message?: string;
  readonly author?: string;
  readonly date?: number;
  readonly branch?: string;
  readonly color?: string;
  readonly close?: boolean;
  readonly reopen?: boolean;
  readonly hide?: boolean;
  readonly show?: boolean;
}

/**
 * `muster fossil amend`: changes the displayed properties of a check-in, not the check-in itself.
 */
export async function amend(file: string, name: string, options: AmendOptions): Promise<void> {
  const { message, author: newUser, date, branch, color, close, reopen, hide, show } = options;
  const uuid = await writingAs(
    file,
    options,
    ({ repository, reader }, author) =>
      amendCheckin(repository, {
        ...author,
        checkin: resolveCheckin(reader, name).uuid,
        ...message === undefined ? {} : { comment: message },
        ...newUser === undefined ? {} : { newUser },
        ...date === undefined ? {} : { newDate: date },
        ...branch === undefined ? {} : { branch },
        ...color === undefined ? {} : { color: color === "" ? null : color },
        ...close === undefined && reopen === undefined ? {} : { closed: close === true },
        ...hide === undefined && show === undefined ? {} : { hidden: hide === true },
      }),
  );
  if (options.json === true) printJson({ uuid });
  else print(uuid);
}

/** One file of a folder on disk. */
class FolderFile {
  /** Path in the folder, with "/". */
  readonly path: string;
  readonly mode: FileMode;
  /** Bytes. */
  readonly size: number;
  readonly #location: string;

  constructor(path: string, location: string, info: Deno.FileInfo) {
    this.path = path;
    this.#location = location;
    this.size = info.size;
    this.mode = info.isSymlink ? "link" : isExecutable(info.mode) ? "executable" : "file";
  }

  /** The content of the file, or the target of a symbolic link. Read at each call. */
  read(): Uint8Array {
    if (this.mode !== "link") return Deno.readFileSync(this.#location);
    return encodeUtf8(Deno.readLinkSync(this.#location));
  }
}

/** The owner may execute it. */
function isExecutable(mode: number | null): boolean {
  return mode !== null && (mode & 0o100) !== 0;
}

/** Folders in which version control keeps its own files. */
const SKIPPED_FOLDERS: readonly string[] = [".git", ".hg", ".svn"];

/**
 * Every file below a folder; symbolic links are not followed. Skips the repository itself, and the
 * files in which checkouts keep their state.
 *
 * @param repository path of the repository, which may be in the folder with its other files.
 * @throws {CommandFailed} if an entry is neither a file nor a folder nor a link.
 */
function* filesOf(folder: string, repository: string): Generator<FolderFile> {
  const skipped = filesOfRepository(Deno.realPathSync(repository));
  const pending = [""];
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    const here = Deno.realPathSync(join(folder, below));
    for (const { name } of Deno.readDirSync(here)) {
      const path = `${below}${name}`;
      const location = join(here, name);
      if (isReservedFileName(path) || skipped.includes(location)) continue;
      const info = Deno.lstatSync(location);
      if (info.isDirectory) {
        if (!SKIPPED_FOLDERS.includes(name)) pending.push(`${path}/`);
      } else if (info.isFile || info.isSymlink) yield new FolderFile(path, location, info);
      else throw new CommandFailed(`"${path}" is neither a file nor a folder nor a symbolic link`);
    }
  }
}

/** The repository, SQLite's files beside it and the search index. */
function filesOfRepository(path: string): string[] {
  const index = searchIndexPath(path);
  return [path, index].flatMap((file) => [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]);
}
