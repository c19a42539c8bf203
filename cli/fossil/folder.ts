import { join } from "node:path";
import {
  encodeUtf8,
  type FileMode,
  isReservedFileName,
  searchIndexPath,
} from "../../services/fossil/mod.ts";
import { CommandFailed } from "../output.ts";

/** One file of a folder on disk. */
export class FolderFile {
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
export function* filesOf(folder: string, repository: string): Generator<FolderFile> {
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
