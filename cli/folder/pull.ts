/** `muster pull`: the files of a project in a folder that is no checkout of Git or Fossil. */
import { dirname, join, resolve } from "node:path";
import { hexOf, MODE } from "../../services/engines/git/mod.ts";
import { amount } from "../../services/kernel/words.ts";
import { ApiClient } from "../client.ts";
import type { Leaf } from "../command_line/mod.ts";
import { TerminalProgress } from "../fossil/progress.ts";
import { type CommandOptions, URL_OPTION } from "../options.ts";
import { CommandFailed, print, printError, visible } from "../output.ts";
import { type FileEntry, FileTree } from "./file_tree.ts";
import {
  bytesOf,
  contentAt,
  type LocalFiles,
  RealFolders,
  scanFolder,
  textOf,
} from "./local_files.ts";
import { hasMarkers, mergeFile, planPull, type PullPlan } from "./merging.ts";
import { ProjectGit } from "./project_git.ts";
import {
  findFolder,
  type FolderRecord,
  type ProjectFolder,
  readRecord,
  RECORD_FOLDER,
  writeRecord,
} from "./record.ts";

interface PullOptions extends CommandOptions {
  readonly branch?: string;
  readonly base?: string;
}

const HEADS = "refs/heads/";
const TAGS = "refs/tags/";
/** Paths that a message names. */
const MAX_NAMED = 10;
/** Digits of a commit that people see. */
export const SHORT = 10;

/** `muster pull`. */
async function pull(
  slug: string | undefined,
  path: string | undefined,
  options: PullOptions,
): Promise<void> {
  const client = await ApiClient.connect(options);
  const place = placeOf(slug, path);
  const git = new ProjectGit(client, place.project);
  const { head, refs } = await git.refs();
  const tips = new Map(refs.map(({ ref, object }) => [ref, object]));
  const record = place.folder?.record ?? {
    project: place.project,
    branch: options.branch ?? head?.slice(HEADS.length) ?? "main",
    upstream: null,
    parents: [],
    topic: null,
    pending: null,
  };
  if (options.branch !== undefined && options.branch !== record.branch) {
    throw new CommandFailed(`This folder is of the branch ${record.branch}: pull into another one`);
  }
  const start = options.base === undefined ? record : based(record, tips, options.base);
  const target = targetOf(start, tips);
  Deno.mkdirSync(place.path, { recursive: true });
  requireNoCheckout(place.path);
  if (target === null) {
    writeRecord(place.path, start);
    return print(`"${record.project}" is empty: muster push begins its branch ${record.branch}`);
  }
  if (start.parents.includes(target.commit)) {
    if (place.folder === null) writeRecord(place.path, start);
    return print(`Nothing new: ${target.name} is at ${target.commit.slice(0, SHORT)}`);
  }
  using progress = new TerminalProgress();
  await new Pull({ git, folder: place.path, record: start, target, progress }).run();
}

/** Where the project's files go. */
function placeOf(slug: string | undefined, path: string | undefined): {
  readonly project: string;
  readonly path: string;
  readonly folder: ProjectFolder | null;
} {
  if (slug === undefined) {
    const folder = findFolder(Deno.cwd());
    if (folder !== null) return { project: folder.record.project, path: folder.path, folder };
    throw new CommandFailed("This folder is of no project: name one, as in muster pull website", 2);
  }
  const place = resolve(path ?? slug);
  const record = readRecord(place);
  if (record !== null && record.project !== slug) {
    throw new CommandFailed(`${place} is of the project "${record.project}"`);
  }
  return { project: slug, path: place, folder: record === null ? null : { path: place, record } };
}

function based(
  record: FolderRecord,
  tips: ReadonlyMap<string, string>,
  name: string,
): FolderRecord {
  if (record.parents.length > 0) throw new CommandFailed("This folder has its base already", 2);
  const commit = tips.get(HEADS + name) ?? tips.get(TAGS + name) ?? name;
  if (!/^[0-9a-f]{40}$/.test(commit)) {
    throw new CommandFailed(`"${name}" is no branch, no tag and no whole name of a commit`, 2);
  }
  return { ...record, upstream: commit, parents: [commit] };
}

/** A folder with a checkout has its own way to push. */
function requireNoCheckout(folder: string): void {
  for (const [mark, way] of [[".git", "git pull"], [".fslckout", "fossil update"]] as const) {
    try {
      Deno.lstatSync(join(folder, mark));
    } catch {
      continue;
    }
    throw new CommandFailed(`${folder} is a checkout: use ${way} there`);
  }
}

interface Target {
  /** As people call it. */
  readonly name: string;
  readonly commit: string;
  readonly isWorkspace: boolean;
}

/** What to pull: the workspace if others have added to it; otherwise the branch. */
function targetOf(
  { branch, topic, parents }: FolderRecord,
  tips: ReadonlyMap<string, string>,
): Target | null {
  const name = `workspace/${topic}`;
  const own = topic === null ? undefined : tips.get(HEADS + name);
  if (own !== undefined && !parents.includes(own)) return { name, commit: own, isWorkspace: true };
  const commit = tips.get(HEADS + branch);
  if (commit !== undefined) return { name: branch, commit, isWorkspace: false };
  if (tips.size === 0) return null;
  throw new CommandFailed(`The project has no branch ${branch}`);
}

/** One pull into one folder. */
class Pull {
  readonly #git: ProjectGit;
  readonly #folder: string;
  readonly #record: FolderRecord;
  readonly #target: Target;
  readonly #progress: TerminalProgress;

  constructor(options: {
    readonly git: ProjectGit;
    readonly folder: string;
    readonly record: FolderRecord;
    readonly target: Target;
    readonly progress: TerminalProgress;
  }) {
    this.#git = options.git;
    this.#folder = options.folder;
    this.#record = options.record;
    this.#target = options.target;
    this.#progress = options.progress;
  }

  async run(): Promise<void> {
    const [tip] = this.#record.parents;
    const { upstream } = this.#record;
    const isTaken = tip !== undefined && tip !== upstream &&
      await this.#git.isAncestor(tip, this.#target.commit);
    const start = isTaken ? tip : upstream ?? tip;
    const base = start === undefined ? FileTree.EMPTY : await this.#git.tree(start);
    const remote = await this.#git.tree(this.#target.commit);
    const last = this.#record.parents.at(-1);
    const known = last === undefined ? FileTree.EMPTY : await this.#git.tree(last);
    const tracked = [...base.entries.keys(), ...remote.entries.keys()];
    const local = scanFolder(this.#folder, { known: known.entries, tracked });
    const plan = planPull(base.entries, local.entries, remote.entries);
    this.#requireRoom(plan, local);
    const merged = await this.#merge(plan);
    this.#remove(plan.deletes);
    await this.#write(plan);
    for (const [path, { content, isExecutable }] of merged) {
      this.#put(path, content, isExecutable ? MODE.executable : MODE.file);
    }
    writeRecord(this.#folder, this.#next(isTaken));
    this.#report(plan, merged);
  }

  /** @param isTaken whether the target has what the folder has pushed */
  #next(isTaken: boolean): FolderRecord {
    const record = this.#record;
    const { commit, isWorkspace } = this.#target;
    const [tip, ...others] = record.parents;
    if (isWorkspace) return { ...record, parents: [commit, ...others], pending: null };
    const isOwn = tip !== undefined && tip !== record.upstream && !isTaken;
    const parents = isOwn ? [tip, commit] : [commit];
    return { ...record, upstream: commit, parents, pending: null };
  }

  /** Checks that nothing is in the way of what is to be written. */
  #requireRoom({ writes, deletes, clashes, merges }: PullPlan, { entries }: LocalFiles): void {
    const folders = new RealFolders(this.#folder);
    const gone = new Set(deletes);
    const isBlocked = (path: string) => {
      const text = textOf(path)!;
      const place = join(this.#folder, text);
      if (folders.has(text)) return this.#keepsFiles(text, gone);
      if (!entries.has(path) && isThere(place)) return true;
      for (let above = dirname(text); above !== "."; above = dirname(above)) {
        if (gone.has(bytesOf(above))) return false;
        if (isThere(join(this.#folder, above)) && !folders.has(above)) return true;
      }
      return false;
    };
    const all = [...clashes, ...[...writes.keys()].filter(isBlocked)];
    if (all.length > 0) {
      throw new CommandFailed(
        `Nothing was pulled. Both you and the project have changed ${
          named(all)
        }: move yours away, ` +
          "pull, and bring your changes back in",
      );
    }
    const marked = merges.filter(({ path }) => hasMarkers(this.#read(path)));
    if (marked.length > 0) {
      throw new CommandFailed(
        `Resolve the conflicts in ${named(marked.map(({ path }) => path))} first`,
      );
    }
  }

  /** Whether a folder has more than what is to be deleted. */
  #keepsFiles(folder: string, gone: ReadonlySet<string>): boolean {
    return [...Deno.readDirSync(join(this.#folder, folder))].some(({ name, isDirectory }) => {
      const path = `${folder}/${name}`;
      return isDirectory ? this.#keepsFiles(path, gone) : !gone.has(bytesOf(path));
    });
  }

  async #merge({ merges }: PullPlan) {
    const names = new Set(
      merges.flatMap(({ base, remote }) =>
        [base, remote].flatMap((entry) => entry === undefined ? [] : hexOf(entry.object))
      ),
    );
    const contents = new Map<string, Uint8Array>();
    for await (const [name, content] of this.#git.contents([...names])) contents.set(name, content);
    const contentOf = (entry: FileEntry | undefined) =>
      entry === undefined ? new Uint8Array(0) : contents.get(hexOf(entry.object))!;
    const clashes: string[] = [];
    const merged = merges.flatMap((merge) => {
      const { path, base, remote } = merge;
      const texts = { base: contentOf(base), local: this.#read(path), remote: contentOf(remote) };
      const result = mergeFile(merge, texts, this.#target.name);
      if (result === null) clashes.push(path);
      return result === null ? [] : [[path, result] as const];
    });
    if (clashes.length === 0) return merged;
    throw new CommandFailed(
      `Nothing was pulled. Both you and the project have changed ${
        named(clashes)
      }, which cannot be ` +
        "merged: move yours away, pull, and bring your changes back in",
    );
  }

  async #write({ writes }: PullPlan): Promise<void> {
    const places = new Map<string, [path: string, mode: number][]>();
    for (const [path, { object, mode }] of writes) {
      const name = hexOf(object);
      const others = places.get(name);
      if (others === undefined) places.set(name, [[path, mode]]);
      else others.push([path, mode]);
    }
    let written = 0;
    for await (const [name, content] of this.#git.contents([...places.keys()])) {
      for (const [path, mode] of places.get(name) ?? []) this.#put(path, content, mode);
      this.#progress.show("Files written:", ++written, places.size);
    }
  }

  /** Writes a file whole, or leaves the earlier one. */
  #put(path: string, content: Uint8Array, mode: number): void {
    const target = join(this.#folder, textOf(path)!);
    const part = join(this.#folder, RECORD_FOLDER, "file");
    try {
      Deno.mkdirSync(dirname(part), { recursive: true });
      Deno.mkdirSync(dirname(target), { recursive: true });
      removeIfThere(part);
      if (mode === MODE.link) Deno.symlinkSync(new TextDecoder().decode(content), part);
      else writeNew(part, content, (mode & 0o100) === 0 ? 0o666 : 0o777);
      removeFolder(target);
      Deno.renameSync(part, target);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new CommandFailed(`${target} cannot be written: ${reason}. Run muster pull again`);
    }
  }

  #remove(paths: readonly string[]): void {
    for (const path of paths) {
      const text = textOf(path)!;
      try {
        Deno.removeSync(join(this.#folder, text));
        for (let above = dirname(text); above !== "."; above = dirname(above)) {
          Deno.removeSync(join(this.#folder, above));
        }
      } catch {
        // It is gone, a folder is in its place, or the folder around it has other files.
      }
    }
  }

  #read(path: string): Uint8Array {
    return contentAt(join(this.#folder, textOf(path)!), MODE.file);
  }

  #report(
    plan: PullPlan,
    merged: readonly (readonly [string, { readonly conflicts: number }])[],
  ): void {
    const { name, commit } = this.#target;
    const { writes, deletes, returned, kept } = plan;
    const counts = [
      amount(writes.size, "file written", "files written"),
      ...deletes.length === 0 ? [] : [`${deletes.length} deleted`],
      ...merged.length === 0 ? [] : [`${merged.length} merged`],
    ];
    print(
      visible(`${this.#folder} is at ${commit.slice(0, SHORT)} of ${name}: ${counts.join(", ")}`),
    );
    if (returned.length > 0) print(`You deleted and others changed: ${named(returned)} is back`);
    if (kept.length > 0) print(`Others deleted and you changed: ${named(kept)} stays`);
    const conflicts = merged.filter(([, { conflicts }]) => conflicts > 0).map(([path]) => path);
    if (conflicts.length === 0) return;
    printError(`Both changed the same lines: resolve the conflicts between the markers in`);
    throw new CommandFailed(named(conflicts));
  }
}

/** @param mode what the system's mask leaves of it */
function writeNew(path: string, content: Uint8Array, mode: number): void {
  using file = Deno.openSync(path, { write: true, createNew: true, mode });
  for (let written = 0; written < content.length;) {
    written += file.writeSync(content.subarray(written));
  }
}

function isThere(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function removeIfThere(path: string): void {
  if (isThere(path)) Deno.removeSync(path);
}

/** Removes an empty folder where a file goes. */
function removeFolder(path: string): void {
  try {
    if (Deno.lstatSync(path).isDirectory) Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Some of the paths, for a sentence. */
export function named(paths: readonly string[]): string {
  const shown = paths.slice(0, MAX_NAMED).map((path) => visible(textOf(path) ?? path));
  const left = paths.length - shown.length;
  return left === 0 ? shown.join(", ") : `${shown.join(", ")} and ${left} more`;
}

/** `muster pull`. */
export const PULL: Leaf = {
  parameters: [{ usage: "[project]" }, { usage: "[folder]", completes: "folder" }],
  options: [
    { flags: "--branch <branch>", summary: "the branch, in a new folder (default: the main one)" },
    {
      flags: "--base <name>",
      summary: "what the folder's files were made of: a branch, a tag or a commit of Git",
    },
    URL_OPTION,
  ],
  examples: [
    { line: "pull website", purpose: "Put the files of a project into the folder website" },
    { line: "pull", purpose: "Take along what others have landed" },
    {
      line: "pull website . --base v1.2",
      purpose: "Make a folder one of a project: its files came from an archive of v1.2",
    },
  ],
  notes: [
    "For folders without Git and Fossil: muster push sends what you change. What you have changed " +
    "stays, and is merged with what is new. The same command goes on after an interruption.",
  ],
  run: pull,
};
