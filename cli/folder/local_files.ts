/** The files of a folder on this machine, as a commit would have them. */
import { Buffer } from "node:buffer";
import { dirname, join } from "node:path";
import { isGitFolder, matchesGlob } from "../../services/engines/fossil/mod.ts";
import { MODE, nameOfObject } from "../../services/engines/git/mod.ts";
import { CommandFailed } from "../output.ts";
import type { FileEntry } from "./file_tree.ts";
import { IGNORE_FILE, IgnoreRules } from "./ignore.ts";
import { RECORD_FOLDER } from "./record.ts";

/** Most new files, and longest file, in bytes. */
const [MAX_NEW, MAX_BYTES] = [10_000, 1024 ** 3];
/** New files of these names are likely secrets. */
const SECRETS = [
  "*.pem",
  "*.key",
  "*.p12",
  "*.pfx",
  "*.jks",
  "*.keystore",
  "id_rsa*",
  "id_ed25519*",
];
/** Names that begin with a dot, and are of the project. */
const KNOWN_DOTS: ReadonlySet<string> = new Set([IGNORE_FILE, ".gitattributes", ".editorconfig"]);
/** Marks of other checkouts and folders, which are no part of this one. */
const CHECKOUTS = [".git", ".fslckout", "_FOSSIL_", RECORD_FOLDER];

/** What a folder has. */
export interface LocalFiles {
  /** By path: bytes as `latin1`. */
  readonly entries: ReadonlyMap<string, FileEntry>;
  /** New files and folders that are not taken along, though no rule of the folder leaves them out. */
  readonly leftOut: readonly string[];
}

export interface ScanOptions {
  /** What the folder's commit says, by path. */
  readonly known: ReadonlyMap<string, FileEntry>;
  /** Further paths that are part of the project, whatever their names. */
  readonly tracked: Iterable<string>;
  /** New files and folders to take along, whatever their names. */
  readonly added?: readonly string[];
}

/**
 * Looks at each file of a folder.
 *
 * @throws CommandFailed if a file cannot be read, or there are too many new ones
 */
export function scanFolder(
  folder: string,
  { known, tracked, added = [] }: ScanOptions,
): LocalFiles {
  const entries = new Map<string, FileEntry>();
  const folders = new RealFolders(folder);
  for (const path of new Set([...known.keys(), ...tracked])) {
    const before = known.get(path);
    if (before !== undefined && !isHeld(path, before.mode)) {
      entries.set(path, before);
      continue;
    }
    const text = textOf(path);
    if (text === null || !folders.has(dirname(text))) continue;
    const found = entryAt(join(folder, text), before);
    if (found !== null) entries.set(path, found);
  }
  const search = new NewFiles(folder, { entries, added: added.map(cleaned), known });
  search.look("", null);
  return { entries, leftOut: search.leftOut };
}

/** Whether this machine can hold what is at a path. Everything else stays as the commit has it. */
export function isHeld(path: string, mode: number): boolean {
  const text = textOf(path);
  if (text === null || text.includes("\0")) return false;
  const isWindows = Deno.build.os === "windows";
  const isKind = mode >> 9 === MODE.file >> 9 || (mode === MODE.link && !isWindows);
  return isKind &&
    text.split("/").every((part) =>
      part !== "" && part !== "." && part !== ".." && !isGitFolder(part) &&
      part.toLowerCase() !== RECORD_FOLDER &&
      !(isWindows && /[\\:*?"<>|]|[. ]$/.test(part))
    );
}

/** The path as text; null if its bytes are no UTF-8. */
export function textOf(path: string): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(Buffer.from(path, "latin1"));
  } catch {
    return null;
  }
}

/** The bytes of a path, as `latin1`. */
export function bytesOf(path: string): string {
  return Buffer.from(path).toString("latin1");
}

/** Whether two files are the same to a person. */
export function isSame(left: FileEntry | undefined, right: FileEntry | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  return kindOf(left.mode) === kindOf(right.mode) &&
    Buffer.compare(left.object, right.object) === 0;
}

/** What a mode says, whatever else old programs wrote. */
export function kindOf(mode: number): number {
  if (mode >> 9 !== MODE.file >> 9) return mode;
  return (mode & 0o100) === 0 ? MODE.file : MODE.executable;
}

/** What is in a file, or where a link points. */
export function contentAt(path: string, mode: number): Uint8Array {
  if (mode === MODE.link) return new TextEncoder().encode(Deno.readLinkSync(path));
  return Deno.readFileSync(path);
}

/** Which folders are there, and no links. */
export class RealFolders {
  readonly #root: string;
  readonly #known = new Map<string, boolean>([[".", true], ["", true]]);

  constructor(root: string) {
    this.#root = root;
  }

  has(path: string): boolean {
    const known = this.#known.get(path);
    if (known !== undefined) return known;
    const is = this.has(dirname(path)) &&
      statAt(join(this.#root, path))?.isDirectory === true;
    this.#known.set(path, is);
    return is;
  }
}

function statAt(path: string): Deno.FileInfo | null {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
      return null;
    }
    throw new CommandFailed(`${path} cannot be read`);
  }
}

/** @param before what the commit has there */
function entryAt(path: string, before: FileEntry | undefined): FileEntry | null {
  const stat = statAt(path);
  if (stat === null || !(stat.isFile || stat.isSymlink)) return null;
  if (stat.size > MAX_BYTES) throw new CommandFailed(`${path} has more than ${MAX_BYTES} bytes`);
  const mode = stat.isSymlink ? MODE.link : modeOf(stat, before);
  try {
    const object = nameOfObject("blob", contentAt(path, mode));
    const isAsBefore = before !== undefined && kindOf(before.mode) === kindOf(mode);
    return isAsBefore ? { ...before, object } : { mode, object };
  } catch {
    throw new CommandFailed(`${path} cannot be read`);
  }
}

function modeOf({ mode }: Deno.FileInfo, before: FileEntry | undefined): number {
  if (Deno.build.os !== "windows") {
    return mode !== null && (mode & 0o100) !== 0 ? MODE.executable : MODE.file;
  }
  return before !== undefined && kindOf(before.mode) === MODE.executable
    ? MODE.executable
    : MODE.file;
}

/** Finds files that the commit does not have. */
class NewFiles {
  readonly leftOut: string[] = [];
  readonly #root: string;
  readonly #entries: Map<string, FileEntry>;
  readonly #known: ReadonlyMap<string, FileEntry>;
  readonly #added: readonly string[];
  #count = 0;

  constructor(root: string, options: {
    readonly entries: Map<string, FileEntry>;
    readonly added: readonly string[];
    readonly known: ReadonlyMap<string, FileEntry>;
  }) {
    this.#root = root;
    this.#entries = options.entries;
    this.#added = options.added;
    this.#known = options.known;
  }

  /**
   * Looks into a folder.
   *
   * @param folder empty, or with a slash at the end
   * @param isForAdded whether it is only there for what is in it by name
   */
  look(folder: string, around: IgnoreRules | null, isForAdded = false): void {
    const found = filesIn(join(this.#root, folder));
    const ignoring = found.find(({ name, isFile }) => isFile && name === IGNORE_FILE);
    const rules = ignoring === undefined ? around : this.#rulesIn(folder, around);
    for (const { name, isDirectory } of found) {
      const path = folder + name;
      const isOfCheckout = isGitFolder(name) || CHECKOUTS.includes(name);
      if (isOfCheckout || this.#entries.has(bytesOf(path))) continue;
      const isAdded = this.#added.some((one) => path === one || path.startsWith(`${one}/`));
      const isLeftOut = !isAdded && (isForAdded || this.#isLeftOut(path, name, isDirectory, rules));
      const hasAdded = this.#added.some((one) => one.startsWith(`${path}/`));
      if (!isLeftOut) this.#requireName(path);
      if (!isDirectory) {
        if (!isLeftOut) this.#add(path);
      } else if ((!isLeftOut || hasAdded) && !this.#isOtherCheckout(path)) {
        this.look(`${path}/`, rules, isLeftOut);
      }
    }
  }

  #rulesIn(folder: string, around: IgnoreRules | null): IgnoreRules {
    const path = join(this.#root, folder, IGNORE_FILE);
    try {
      return new IgnoreRules(Deno.readTextFileSync(path), folder, around);
    } catch {
      throw new CommandFailed(`${path} cannot be read`);
    }
  }

  #isLeftOut(path: string, name: string, isFolder: boolean, rules: IgnoreRules | null): boolean {
    if (rules?.leavesOut(path, isFolder) === true) return true;
    const isSuspect = isFolder
      ? isHidden(name) && !this.#hasFilesIn(bytesOf(path))
      : isHidden(name) || isSecret(name);
    if (isSuspect) this.leftOut.push(isFolder ? `${path}/` : path);
    return isSuspect;
  }

  /** Bytes that are no UTF-8 come as another name, at which nothing is. */
  #requireName(path: string): void {
    if (!path.includes("\ufffd") || statAt(join(this.#root, path)) !== null) return;
    throw new CommandFailed(`${path} has a name that is no UTF-8: rename it`);
  }

  #add(path: string): void {
    const key = bytesOf(path);
    if (!isHeld(key, MODE.file)) {
      throw new CommandFailed(`${path} has a name that no commit can have`);
    }
    const entry = entryAt(join(this.#root, path), undefined);
    if (entry === null) return;
    if (++this.#count > MAX_NEW) {
      throw new CommandFailed(
        `There are more than ${MAX_NEW} new files: name those that are not to be pushed in ${IGNORE_FILE}`,
      );
    }
    this.#entries.set(key, entry);
  }

  #hasFilesIn(folder: string): boolean {
    return this.#known.keys().some((path) => path.startsWith(`${folder}/`));
  }

  #isOtherCheckout(path: string): boolean {
    return CHECKOUTS.some((name) => statAt(join(this.#root, path, name)) !== null);
  }
}

function filesIn(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)].toSorted((a, b) => a.name < b.name ? -1 : 1);
  } catch {
    throw new CommandFailed(`${folder} cannot be read`);
  }
}

function isHidden(name: string): boolean {
  return name.startsWith(".") && !KNOWN_DOTS.has(name);
}

function isSecret(name: string): boolean {
  return SECRETS.some((pattern) => matchesGlob(pattern, name.toLowerCase()));
}

function cleaned(path: string): string {
  return path.split(/[\\/]/).filter((part) => part !== "" && part !== ".").join("/");
}
