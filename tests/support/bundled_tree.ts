/**
 * The tree as a bundle, which starts with a third of the work. Tests run muster hundreds of times.
 * In the bundle, a password costs next to nothing; the executable has the real costs.
 *
 * Deno keeps V8's code of the bundle's modules between runs, which saves a fifth of a start. The start
 * script of the executable would save another fifth, and cost each command a quarter more.
 */
import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import config from "../../deno.json" with { type: "json" };
import { bundleProgram, ROOT } from "../../scripts/bundle.ts";
import { CHEAP_PASSWORDS } from "./cheap_passwords.ts";

/** Where the bundles are; Git, lint and format leave it out. */
const FOLDER = join(ROOT, "dist", "tests");

/** What the bundler does not read, at the root of the tree. Hidden files are left out too. */
const UNREAD = ["bench", "coverage", "data", "dist", "docs", "node_modules", "tests"];

/** How long an unused bundle stays, in milliseconds: another run of the tests may still use it. */
const KEPT_MS = 24 * 3600 * 1000;

/** An import of a part of the bundle, as the bundler writes it. */
const LATER_IMPORT = /\bimport\("(\.[^"]+)"\)/g;

/** What passwords cost, as the bundler writes it. */
const PASSWORD_COSTS = /^var PASSWORD_COSTS = \{[^;]*\};$/m;

/**
 * A folder with the `main.ts` and `deno.json` of a bundle of this tree. The first caller makes it;
 * others wait, in this process and in others. A change of any source makes another bundle.
 *
 * @throws {Error} Deno could not bundle the tree; it has printed the reason to standard error.
 */
export function bundledTree(): string {
  Deno.mkdirSync(FOLDER, { recursive: true });
  using lock = Deno.openSync(join(FOLDER, "lock"), { write: true, create: true });
  lock.lockSync(true);
  let folder = folderOf(hashTree(ROOT));
  while (!exists(folder)) {
    const unfinished = join(FOLDER, "unfinished");
    if (exists(unfinished)) Deno.removeSync(unfinished, { recursive: true });
    makeBundle(unfinished);
    // A source may have changed in the meantime.
    const before = folder;
    folder = folderOf(hashTree(ROOT));
    if (folder === before) Deno.renameSync(unfinished, folder);
    removeUnused();
  }
  Deno.utimeSync(folder, new Date(), new Date());
  return folder;
}

/** The folder of the bundled program in that of a {@linkcode bundledTree}. */
export function programIn(tree: string): string {
  return join(tree, "services", "work", "bundle");
}

function folderOf(hash: string): string {
  return join(FOLDER, hash);
}

/** A hash of what makes the bundle, and of each file in a tree that the bundler may read. */
export function hashTree(root: string): string {
  const hash = createHash("sha256").update(Deno.version.deno)
    .update(JSON.stringify(CHEAP_PASSWORDS));
  addFile(hash, new URL(import.meta.url).pathname);
  for (const { name, isDirectory } of listFolder(root)) {
    if (UNREAD.includes(name)) continue;
    if (isDirectory) addFolder(hash, join(root, name));
    else addFile(hash, join(root, name));
  }
  return hash.digest("hex").slice(0, 32);
}

function addFolder(hash: ReturnType<typeof createHash>, folder: string): void {
  for (const { name, isDirectory } of listFolder(folder)) {
    if (isDirectory) addFolder(hash, join(folder, name));
    else addFile(hash, join(folder, name));
  }
}

function addFile(hash: ReturnType<typeof createHash>, path: string): void {
  const content = Deno.readFileSync(path);
  hash.update(`${path}\0${content.length}\0`).update(content);
}

/** The files and folders in a folder, sorted, without hidden ones. */
function listFolder(folder: string): readonly Deno.DirEntry[] {
  return [...Deno.readDirSync(folder)]
    .filter(({ name }) => !name.startsWith("."))
    .sort((one, other) => one.name < other.name ? -1 : 1);
}

/**
 * Makes the bundle, in a layout where the program finds its `main.ts` by the relative path that it has
 * in the tree.
 */
function makeBundle(folder: string): void {
  const { unstable, permissions } = config;
  write(join(folder, "deno.json"), JSON.stringify({ unstable, permissions }));
  bundleProgram(programIn(folder));
  write(join(folder, "main.ts"), 'import "./services/work/bundle/main.js";\n');

  rewriteScripts(folder, hideImports);
  let count = 0;
  const costs = `var PASSWORD_COSTS = ${JSON.stringify(CHEAP_PASSWORDS)};`;
  rewriteScripts(folder, (text) => text.replace(PASSWORD_COSTS, () => (count += 1, costs)));
  if (count !== 1) throw new Error(`The bundle has ${count} scripts with PASSWORD_COSTS`);
}

/**
 * Hides from Deno what modules import when they need it. Otherwise, it reads all of that at each
 * start, which takes longer than most commands.
 */
function hideImports(text: string): string {
  return text.replace(LATER_IMPORT, 'import(("$1"))');
}

/** Changes the texts of the scripts in a folder and below it. */
function rewriteScripts(folder: string, change: (text: string) => string): void {
  for (const { name, isDirectory } of Deno.readDirSync(folder)) {
    const path = join(folder, name);
    if (isDirectory) rewriteScripts(path, change);
    if (!name.endsWith(".js")) continue;
    Deno.writeTextFileSync(path, change(Deno.readTextFileSync(path)));
  }
}

function write(path: string, text: string): void {
  Deno.mkdirSync(dirname(path), { recursive: true });
  Deno.writeTextFileSync(path, text);
}

/** Removes what no run of the tests has used for a day. */
function removeUnused(): void {
  for (const { name, isDirectory } of Deno.readDirSync(FOLDER)) {
    const path = join(FOLDER, name);
    const usedAt = Deno.statSync(path).mtime?.getTime() ?? 0;
    if (isDirectory && usedAt < Date.now() - KEPT_MS) Deno.removeSync(path, { recursive: true });
  }
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
