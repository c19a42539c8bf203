import { basename, dirname, join } from "node:path";
import { type Folders, PROJECTS } from "./contents.ts";
import { BackupError } from "./names.ts";
import { explainDisk } from "./target.ts";
import { renameSynced, syncFolder } from "../../kernel/files.ts";

/** Where restored files are written, and how they get their place. */
export interface Placing extends AsyncDisposable {
  /** The folder to fill. */
  readonly draft: string;
  /**
   * Puts the draft in the place of the data folder.
   *
   * @returns where the earlier data is now; null if there was none
   */
  finish(): Promise<string | null>;
}

/** The name of the lock, which may stay in an empty data folder. */
const LOCK = "lock";

/** What makes drafts and earlier data known. */
const DRAFT = ".restore-";
const ASIDE = "before-restore-";

/**
 * Makes a folder beside the data folder, to be renamed once it is whole. If the data folder is a
 * mount point, the draft is inside, and its files are renamed one by one. Disposing of it removes
 * what was not renamed.
 *
 * @throws BackupError if the disk refuses
 */
export async function placeFolders(folders: Folders): Promise<Placing> {
  const data = await realPath(folders.data);
  const isMount = await isMountPoint(data);
  const draft = await makeDraft(isMount ? data : dirname(data), basename(data));
  return {
    draft,
    finish: async () => {
      try {
        if (folders.projects !== join(folders.data, PROJECTS)) {
          await placeProjects(draft, folders.projects);
        }
        return await (isMount ? placeInside(draft, data) : place(draft, data));
      } catch (error) {
        throw explainDisk(error, data);
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Deno.remove(draft, { recursive: true }).catch((error) => {
        if (!(error instanceof Deno.errors.NotFound)) throw error;
      });
    },
  };
}

/** The path without symbolic links, such as that of a service's state. */
async function realPath(path: string): Promise<string> {
  try {
    return await Deno.realPath(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return path;
    throw explainDisk(error, path);
  }
}

async function isMountPoint(path: string): Promise<boolean> {
  const [here, above] = await Promise.all(
    [path, dirname(path)].map((folder) => Deno.stat(folder).catch(() => null)),
  );
  return here !== null && above?.dev !== here?.dev;
}

async function makeDraft(parent: string, name: string): Promise<string> {
  try {
    await Deno.mkdir(parent, { recursive: true });
    return await Deno.makeTempDir({ dir: parent, prefix: `${DRAFT}${name}-` });
  } catch (error) {
    throw explainDisk(error, parent);
  }
}

/** The repositories have a folder elsewhere, which gets its place first: nothing uses it alone. */
async function placeProjects(draft: string, projects: string): Promise<void> {
  const restored = join(draft, PROJECTS);
  await Deno.mkdir(restored, { recursive: true, mode: 0o700 });
  try {
    await place(restored, projects);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BackupError(
      `The repositories cannot be put at "${projects}" (projects.dir): ${reason}. ` +
        "Data folder and repositories must be on one file system during a restore",
    );
  }
}

/** Renames a folder; one with content in its place is moved aside. */
async function place(folder: string, target: string): Promise<string | null> {
  const names = await namesIn(target);
  const isUsed = names?.some((name) => name !== LOCK) ?? false;
  const previous = isUsed ? await freeName(`${target}.${ASIDE}`) : null;
  if (previous !== null) await Deno.rename(target, previous);
  else if (names !== null) await Deno.remove(target, { recursive: true });
  try {
    await renameSynced(folder, target);
    return previous;
  } catch (error) {
    if (previous !== null) await Deno.rename(previous, target);
    throw error;
  }
}

/** Moves the files of a folder into the one around it, and what is there into another. */
async function placeInside(draft: string, target: string): Promise<string | null> {
  const kept = (name: string) =>
    name === LOCK || name.startsWith(DRAFT) || name.startsWith(ASIDE) || name === "lost+found";
  const names = (await namesIn(target) ?? []).filter((name) => !kept(name));
  const previous = names.length === 0 ? null : await freeName(join(target, ASIDE));
  if (previous !== null) await Deno.mkdir(previous, { mode: 0o700 });
  for (const name of names) await Deno.rename(join(target, name), join(previous ?? "", name));
  const restored = (await namesIn(draft) ?? []).toSorted();
  for (const name of restored) await Deno.rename(join(draft, name), join(target, name));
  await syncFolder(target);
  return previous;
}

async function freeName(prefix: string): Promise<string> {
  for (let copy = 1;; copy++) {
    if (await namesIn(`${prefix}${copy}`) === null) return `${prefix}${copy}`;
  }
}

/** The names in a folder; null if there is no folder. */
async function namesIn(folder: string): Promise<string[] | null> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
