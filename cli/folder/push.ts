/** `muster push`: what was changed in a folder without Git and Fossil, as a commit for a review. */
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { z } from "zod";
import {
  hexOf,
  isRefName,
  MODE,
  nameOfObject,
  type ObjectKind,
  PackWriter,
} from "../../services/engines/git/mod.ts";
import { ApiClient } from "../client.ts";
import type { Leaf } from "../command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "../options.ts";
import { CommandFailed, print, printError, printJson, visible } from "../output.ts";
import { type FileEntry, FileTree } from "./file_tree.ts";
import { bytesOf, contentAt, isHeld, isSame, scanFolder, textOf } from "./local_files.ts";
import { hasMarkers } from "./merging.ts";
import { ProjectGit } from "./project_git.ts";
import { named, SHORT } from "./pull.ts";
import { findFolder, type FolderRecord, type ProjectFolder, writeRecord } from "./record.ts";

interface PushCommandOptions extends CommandOptions {
  readonly title?: string;
  readonly description?: string;
  readonly ticket?: string;
  readonly topic?: string;
  readonly reviewer?: readonly string[];
  readonly draft?: boolean;
  readonly land?: boolean;
  readonly add?: readonly string[];
  readonly dryRun?: boolean;
}

const WORKSPACES = "refs/heads/workspace/";
const youSchema = z.object({ you: z.string().nullable() });

/** `muster push`. */
async function push(options: PushCommandOptions): Promise<void> {
  const folder = findFolder(Deno.cwd());
  if (folder === null) {
    throw new CommandFailed(
      "This folder is of no project: muster pull PROJECT makes one. In a checkout of Git, use " +
        "git push origin HEAD:refs/for/BRANCH",
      2,
    );
  }
  const client = await ApiClient.connect(options);
  await new Push(client, folder, options).run();
}

/** How the folder differs from the commit that it builds on. */
interface Changes {
  readonly changed: readonly string[];
  readonly added: readonly string[];
  readonly deleted: readonly string[];
}

/** One push of one folder. */
class Push {
  readonly #client: ApiClient;
  readonly #git: ProjectGit;
  readonly #folder: string;
  readonly #options: PushCommandOptions;
  #record: FolderRecord;

  constructor(client: ApiClient, folder: ProjectFolder, options: PushCommandOptions) {
    this.#client = client;
    this.#git = new ProjectGit(client, folder.record.project);
    this.#folder = folder.path;
    this.#record = folder.record;
    this.#options = options;
  }

  async run(): Promise<void> {
    const place = await this.#place();
    const trees = await Promise.all(this.#record.parents.map((commit) => this.#git.tree(commit)));
    const before = trees.at(-1) ?? FileTree.EMPTY;
    const tracked = trees.flatMap(({ entries }) => [...entries.keys()]);
    const { add: added = [] } = this.#options;
    const { entries, leftOut } = scanFolder(this.#folder, {
      known: before.entries,
      tracked,
      added,
    });
    const changes = changesOf(before.entries, entries);
    this.#requireResolved(entries, [...changes.changed, ...changes.added]);
    if (this.#options.dryRun === true) return this.#show(changes, leftOut);
    const written = before.write(entries);
    const tree = [...written.keys()].at(-1)!;
    const [tip] = this.#record.parents;
    const isSameTree = trees.length === 1 && before.root === tree;
    if (isSameTree && this.#record.topic === null) {
      return print(`Nothing has changed since ${tip?.slice(0, SHORT)}`);
    }
    const commit = isSameTree ? null : await this.#commit(tree);
    const to = commit?.name ?? tip!;
    const known = knownOf(trees);
    const objects = commit === null ? [] : [
      { kind: "commit" as const, content: commit.content },
      ...written.entries().filter(([name]) => !known.has(name))
        .map(([, content]) => ({ kind: "tree" as const, content })),
      ...this.#blobs(entries, known),
    ];
    const answer = await this.#git.push({ ...place, to }, this.#pushOptions(), packOf(objects));
    const { refusal } = answer;
    if (refusal !== null) {
      const others = answer.notices.filter((line) => !line.endsWith(refusal));
      for (const line of others) printError(line);
      throw new CommandFailed(`Nothing was pushed: ${refusal}`);
    }
    const topic = answer.instead?.startsWith(WORKSPACES) === true
      ? answer.instead.slice(WORKSPACES.length)
      : null;
    const upstream = topic === null ? to : this.#record.upstream;
    writeRecord(this.#folder, { ...this.#record, topic, upstream, parents: [to], pending: null });
    this.#report({ to, topic, changes, leftOut, notices: answer.notices });
  }

  /** Where to push, and what this folder knows to be there. */
  async #place(): Promise<{ readonly ref: string; readonly from: string | null }> {
    const { refs } = await this.#git.refs();
    const tips = new Map(refs.map(({ ref, object }) => [ref, object]));
    const { branch, parents } = this.#record;
    if (parents.length === 0) {
      if (tips.size === 0) return { ref: `refs/heads/${branch}`, from: null };
      throw new CommandFailed("The project is no longer empty: run muster pull first");
    }
    const topic = this.#options.topic ?? this.#record.topic;
    const from = topic === null ? undefined : tips.get(WORKSPACES + topic);
    if (from !== undefined && !parents.includes(from)) {
      const way = topic === this.#record.topic ? "run muster pull first" : "choose another --topic";
      throw new CommandFailed(
        `workspace/${topic} has commits that this folder does not have: ${way}`,
      );
    }
    if (from === undefined && this.#record.topic !== null) {
      // Its workspace was merged or abandoned: what follows is new work.
      this.#record = { ...this.#record, topic: null };
    }
    const chosen = from === undefined ? this.#options.topic : topic;
    const ref = ["refs/for", branch, ...chosen ? [chosen] : []].join("/");
    if (!isRefName(ref)) throw new CommandFailed(`No workspace can be called "${chosen}"`, 2);
    return { ref, from: from ?? null };
  }

  #requireResolved(entries: ReadonlyMap<string, FileEntry>, paths: readonly string[]): void {
    const marked = paths.filter((path) =>
      entries.get(path)!.mode !== MODE.link && hasMarkers(this.#read(path, entries.get(path)!))
    );
    if (marked.length === 0) return;
    throw new CommandFailed(`Resolve the conflicts in ${named(marked)} first`);
  }

  /** The commit; the same one if the answer to an earlier push of it did not come. */
  async #commit(tree: string): Promise<{ readonly name: string; readonly content: Uint8Array }> {
    const { title, description = "" } = this.#options;
    const { pending, parents } = this.#record;
    const text = [title, description.trim()].filter((part) => part).join("\n\n");
    const message = `${text || pending?.message || ""}`;
    if (message === "") {
      throw new CommandFailed(
        'Say what you have changed, as in --title "Log in without cookies"',
        2,
      );
    }
    const isRepeated = pending !== null && pending.tree === tree && pending.message === message;
    const seconds = isRepeated ? pending.seconds : Math.floor(Date.now() / 1000);
    this.#record = { ...this.#record, pending: { tree, message, seconds } };
    writeRecord(this.#folder, this.#record);
    const { you } = await this.#client.call(
      "GET",
      `/projects/${encodeURIComponent(this.#record.project)}/fossil/api/project`,
      youSchema,
    );
    const name = (you ?? "").replace(/[<>\p{Cc}]/gu, "").trim();
    const person = `${name} <${name}> ${seconds} +0000`;
    const content = new TextEncoder().encode(
      [
        `tree ${tree}`,
        ...parents.map((parent) => `parent ${parent}`),
        `author ${person}`,
        `committer ${person}`,
        "",
        `${message}\n`,
      ].join("\n"),
    );
    return { name: hexOf(nameOfObject("commit", content)), content };
  }

  #pushOptions(): string[] {
    const { title, description, ticket, reviewer = [], draft, land } = this.#options;
    return [
      ...title === undefined ? [] : [`title=${title}`],
      ...description === undefined
        ? []
        : description.split("\n").map((line) => `description=${line}`),
      ...ticket === undefined ? [] : [`ticket=${ticket}`],
      ...reviewer.map((name) => `reviewer=${name}`),
      ...draft === true ? ["draft"] : [],
      ...land === true ? ["land"] : [],
    ];
  }

  /** The contents that the project does not have, each once. */
  #blobs(entries: ReadonlyMap<string, FileEntry>, known: ReadonlySet<string>) {
    const blobs = new Map<string, [path: string, entry: FileEntry]>();
    for (const [path, entry] of entries) {
      const name = hexOf(entry.object);
      if (!known.has(name) && isHeld(path, entry.mode)) blobs.set(name, [path, entry]);
    }
    return [...blobs.values()].map(([path, entry]) => ({
      kind: "blob" as const,
      read: () => this.#read(path, entry),
    }));
  }

  /** @throws CommandFailed if it is no longer what it was */
  #read(path: string, { mode, object }: FileEntry): Uint8Array {
    const place = join(this.#folder, textOf(path)!);
    let content: Uint8Array;
    try {
      content = contentAt(place, mode);
    } catch {
      throw new CommandFailed(`${place} cannot be read: run muster push again`);
    }
    if (Buffer.compare(nameOfObject("blob", content), object) === 0) return content;
    throw new CommandFailed(`${place} has changed meanwhile: run muster push again`);
  }

  #show({ changed, added, deleted }: Changes, leftOut: readonly string[]): void {
    const lines = [
      ...changed.map((path) => ["changed", path] as const),
      ...added.map((path) => ["new", path] as const),
      ...deleted.map((path) => ["deleted", path] as const),
    ];
    if (this.#options.json === true) {
      const shown = (paths: readonly string[]) => paths.map((path) => textOf(path) ?? path);
      printJson({
        changed: shown(changed),
        added: shown(added),
        deleted: shown(deleted),
        left_out: leftOut,
      });
      return;
    }
    for (const [what, path] of lines) print(`${what.padEnd(7)}  ${visible(textOf(path) ?? path)}`);
    if (lines.length === 0) print("Nothing has changed");
    tellLeftOut(leftOut);
  }

  #report({ to, topic, changes, leftOut, notices }: {
    readonly to: string;
    readonly topic: string | null;
    readonly changes: Changes;
    readonly leftOut: readonly string[];
    readonly notices: readonly string[];
  }): void {
    if (this.#options.json === true) return printJson({ commit: to, topic, notices });
    const { changed, added, deleted } = changes;
    print(
      `${
        to.slice(0, SHORT)
      }: ${changed.length} changed, ${added.length} new, ${deleted.length} deleted`,
    );
    for (const line of notices) print(visible(line));
    tellLeftOut(leftOut);
  }
}

function tellLeftOut(leftOut: readonly string[]): void {
  if (leftOut.length === 0) return;
  printError(`Left out: ${named(leftOut.map(bytesOf))}; --add PATH takes one along`);
}

function changesOf(
  before: ReadonlyMap<string, FileEntry>,
  now: ReadonlyMap<string, FileEntry>,
): Changes {
  const changed: string[] = [];
  const added: string[] = [];
  for (const [path, entry] of now) {
    const was = before.get(path);
    if (was === undefined) added.push(path);
    else if (!isSame(was, entry)) changed.push(path);
  }
  return { changed, added, deleted: [...before.keys()].filter((path) => !now.has(path)) };
}

/** The names of what the project has. */
function knownOf(trees: readonly FileTree[]): Set<string> {
  return new Set(trees.flatMap((tree) => [
    ...tree.trees,
    ...tree.entries.values().map(({ object }) => hexOf(object)),
  ]));
}

/** An object of a pack; a long one is read when its turn comes. */
type PackedObject =
  | { readonly kind: ObjectKind; readonly content: Uint8Array }
  | { readonly kind: ObjectKind; readonly read: () => Uint8Array };

function* packOf(objects: readonly PackedObject[]): Generator<Uint8Array> {
  const pieces: Uint8Array[] = [];
  const writer = new PackWriter(objects.length, (piece) => pieces.push(new Uint8Array(piece)));
  for (const object of objects) {
    const content = "read" in object ? object.read() : object.content;
    writer.entry({ kind: object.kind }, content.length, deflateSync(content));
    yield* pieces.splice(0);
  }
  writer.finish();
  yield* pieces;
}

/** `muster push`. */
export const PUSH: Leaf = {
  options: [
    {
      flags: "--title <text>",
      summary: "what it changes: the first line of the commit, and of the review",
    },
    { flags: "--description <text>", summary: "what else there is to say" },
    { flags: "--ticket <id>", summary: "the ticket that it resolves, whose claim you hold" },
    {
      flags: "--topic <name>",
      summary: "the workspace (default: the one of the last push, or a new one)",
    },
    { flags: "--reviewer <name>", summary: "who is asked for a verdict", repeatable: true },
    { flags: "--draft", summary: "no review yet: the next push without it opens the review" },
    { flags: "--land", summary: "the review goes to the landing queue as soon as it may" },
    {
      flags: "--add <path>",
      summary: "take along a new file or folder that would be left out",
      repeatable: true,
      completes: "file",
    },
    { flags: "--dry-run", summary: "only show what has changed" },
    JSON_OPTION,
    URL_OPTION,
  ],
  examples: [
    {
      line: 'push --title "Log in without cookies" --ticket 3f2a91',
      purpose: "Send what you changed for a review",
    },
    { line: "push --dry-run", purpose: "Show what has changed" },
  ],
  notes: [
    "In a folder that muster pull has made. All changes are one commit on top of what was pulled or " +
    "pushed last; the next push is the next round of the review. It does what git push origin " +
    "HEAD:refs/for/BRANCH does in a checkout of Git.",
    "Left out are new files that a .gitignore names, those whose names look like keys, and those " +
    "that begin with a dot, in folders too, unless the project has files there.",
  ],
  run: push,
};
