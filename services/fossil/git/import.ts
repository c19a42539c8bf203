import type { TagCard } from "../artifact/mod.ts";
import { md5 } from "../codec/mod.ts";
import { addUser } from "../content/mod.ts";
import { filesOf } from "../crosslink/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import { type BranchPlan, mainRefOf, planBranches, UNNAMED } from "./branches.ts";
import { checkCompleteness } from "./completeness.ts";
import { GarbageCollector } from "./garbage.ts";
import {
  COMMIT_PROPERTY,
  formatHeaders,
  REFS_PROPERTY,
  splitMessage,
  TAG_PROPERTY,
} from "./headers.ts";
import { Intake, type SpooledTag } from "./intake.ts";
import { NoticeLog } from "./notices.ts";
import {
  dateOf,
  parseSignature,
  personOf,
  type Signature,
  signatureLine,
  userOf,
} from "./person.ts";
import { leaveOutRemotes, type LeftOut } from "./remotes.ts";
import { CommitSpool, type SpooledCommit } from "./spool.ts";
import { CommandReader, type GitCommand, StreamReader } from "./stream/mod.ts";
import { cardsOf, type GitTree, settled, TreeEditor, TreeError, treeFromCards } from "./trees.ts";
import type { GitImportOptions, GitImportReport } from "./types.ts";

/** Largest file by default, in bytes. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** Bytes of content, and commands, that fill one transaction. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_COMMANDS = 2000;
/** Check-ins and tags of one transaction. */
const BATCH_WRITES = 100;
/** Most files in the trees that are kept for the children of their commits. */
const MAX_KEPT_FILES = 20_000;
/** The import has no user and no address. */
const NOBODY = { user: null, ip: null };

/**
 * Reads a `git fast-export` stream into an empty repository. `exportGit` can restore the tree of
 * each commit, its message, parents, author, committer and dates, and the branches and tags. The
 * report lists everything that cannot be imported. The import uses many transactions: remove the
 * file if it fails.
 *
 * The main branch becomes "trunk". Branches of remotes, and commits that only these reach, are left
 * out. The user of a check-in is the author, as `Name <address>`; its
 * date is the committer's.
 *
 * @param stream pieces of the stream. Each is in use until the next one is requested.
 * @see {@link https://git-scm.com/docs/git-fast-import}
 * @throws {FossilError} `conflict` if the repository is not empty; `invalid` with the number of the
 * line if the stream is malformed, is empty, or may have been cut short; `limit` if it has too much
 * of something.
 * @throws the reason of `signal`.
 */
export async function importGit(
  repository: Repository,
  stream: AsyncIterable<Uint8Array>,
  options: GitImportOptions = {},
): Promise<GitImportReport> {
  requireEmpty(repository);
  using spool = new CommitSpool(repository);
  const notices = new NoticeLog();
  const intake = new Intake(repository, spool, notices);
  const isDone = await readStream(repository, stream, { intake, spool, options });
  if (spool.size === 0 && options.isPartial !== true) {
    throw new FossilError("invalid", "The stream is empty: it holds no commit");
  }
  if (!isDone) {
    checkCompleteness({ intake, parents: spool.parents, notices }, options.isPartial);
  }
  const leftOut = leaveOutRemotes({ intake, parents: spool.parents, notices });
  const writer = new HistoryWriter(repository, { intake, spool, leftOut, notices, options });
  repository.writeHistory(() => {
    writer.writeCommits();
    writer.writeNames();
  });
  addAuthors(repository);
  repository.checkpoint();
  return {
    checkins: spool.size - leftOut.size,
    files: intake.files,
    branches: writer.branches,
    tags: writer.tags,
    notices: notices.report(),
  };
}

/**
 * Makes users of the imported authors, who cannot log in: without them the program's own export
 * cannot tell which part of `Name <address>` is the address.
 */
function addAuthors(repository: Repository): void {
  repository.write(NOBODY, () => {
    const select = "SELECT DISTINCT user FROM event WHERE user GLOB '*<*>'";
    for (const { user: login } of repository.db.rows<{ user: string }>(select)) {
      addUser(repository.db, { login, capabilities: "", password: "", info: login });
    }
  });
}

/** @throws {FossilError} `conflict` if the repository has an artifact. */
export function requireEmpty(repository: Repository): void {
  if (!repository.db.exists("SELECT 1 FROM blob")) return;
  throw new FossilError("conflict", "The repository is not empty");
}

interface Reading {
  readonly intake: Intake;
  readonly spool: CommitSpool;
  readonly options: GitImportOptions;
}

/** @returns whether the stream ended with `done`. */
async function readStream(
  repository: Repository,
  stream: AsyncIterable<Uint8Array>,
  { intake, spool, options }: Reading,
): Promise<boolean> {
  const { signal, progress, maxFileBytes = MAX_FILE_BYTES } = options;
  const reader = new StreamReader(stream);
  const commands = new CommandReader(reader, maxFileBytes);
  let batch: GitCommand[] = [];
  let bytes = 0;
  const garbage = new GarbageCollector();
  const flush = () => {
    signal?.throwIfAborted();
    repository.write(NOBODY, () => batch.forEach((command) => intake.take(command)));
    batch = [];
    bytes = 0;
    garbage.collect();
    progress?.({ phase: "read", bytes: reader.bytes, commits: spool.size, total: null });
  };
  try {
    for await (const command of commands.commands()) {
      batch.push(command);
      bytes += sizeOf(command);
      if (bytes >= BATCH_BYTES || batch.length >= BATCH_COMMANDS) flush();
    }
    flush();
    return commands.isDone;
  } finally {
    await reader.cancel();
  }
}

/** Approximate memory of a command, in bytes. */
function sizeOf(command: GitCommand): number {
  if (command.kind === "blob") return command.content.length;
  if (command.kind !== "commit") return 1000;
  return command.message.length + command.changes.reduce(
    (sum, change) => sum + 200 + ("path" in change ? change.path.length : 0),
    0,
  );
}

interface Source {
  readonly intake: Intake;
  readonly spool: CommitSpool;
  readonly leftOut: LeftOut;
  readonly notices: NoticeLog;
  readonly options: GitImportOptions;
}

/** Writes the spooled commits as check-ins, and the tags. */
class HistoryWriter {
  readonly #repository: Repository;
  readonly #source: Source;
  readonly #plan: BranchPlan;
  /** Row of each check-in by number of the commit. */
  readonly #rids: Int32Array;
  /** Trees of commits whose children are still to be written. */
  readonly #trees = new Map<number, GitTree>();
  /** Children that are still to be written, by number of their first parent. */
  readonly #children: Int32Array;
  #keptFiles = 0;
  tags = 0;

  constructor(repository: Repository, source: Source) {
    this.#repository = repository;
    this.#source = source;
    const { spool, leftOut, intake, options } = source;
    this.#rids = new Int32Array(spool.size);
    this.#children = new Int32Array(spool.size);
    for (const [commit, [parent]] of spool.parents.entries()) {
      if (parent !== undefined && !leftOut.has(commit)) this.#children[parent]!++;
    }
    const graph = {
      parents: spool.parents,
      isLeftOut: (commit: number) => leftOut.has(commit),
      label: (commit: number) => spool.label(commit),
      refs: intake.refs,
      isHeld: (ref: string, commit: number) =>
        intake.refs.get(ref) === commit ||
        intake.tags.get(ref.replace(/^refs\/tags\//, ""))?.commit === commit,
    };
    this.#plan = planBranches(graph, mainRefOf(intake.refs, options.mainBranch));
    for (const { name, ref } of this.#plan.branches) {
      if (!ref.startsWith(UNNAMED)) continue;
      source.notices.add("ref", ref, `Commits that no reference holds are on the branch "${name}"`);
    }
  }

  /** Imported branches of Git, including those without their own check-in. */
  get branches(): number {
    const own = this.#plan.branches.filter(({ ref }) => ref.startsWith("refs/heads/"));
    return own.length + this.#plan.aliases.size;
  }

  writeCommits(): void {
    const { spool, leftOut, options } = this.#source;
    const garbage = new GarbageCollector();
    for (let start = 0; start < spool.size; start += BATCH_WRITES) {
      options.signal?.throwIfAborted();
      const end = Math.min(start + BATCH_WRITES, spool.size);
      this.#repository.write(NOBODY, () => {
        for (let id = start; id < end; id++) {
          if (!leftOut.has(id)) this.#writeCommit(id);
        }
      });
      garbage.collect();
      options.progress?.({ phase: "write", bytes: 0, commits: end, total: spool.size });
    }
  }

  #writeCommit(id: number): void {
    const { spool } = this.#source;
    const commit = spool.get(id);
    const parents = spool.parents[id]!;
    const before: GitTree = parents[0] === undefined ? new Map() : this.#tree(parents[0]);
    const tree = this.#changed(before, commit);
    const { comment, user, date, value } = describe(commit);
    const tags: TagCard[] = this.#branchTags(id);
    const own = { target: null, sign: "+" } as const;
    if (value !== "") tags.push({ ...own, name: COMMIT_PROPERTY, value });
    if (this.#plan.closed.has(id)) tags.push({ ...own, name: "closed", value: null });
    const hash = this.#repository.add({
      kind: "manifest",
      baseline: null,
      comment,
      date,
      files: cardsOf(tree, before),
      mimetype: null,
      parents: parents.map((parent) => this.#hash(parent)),
      cherrypicks: [],
      checksum: parents.length === 0 && tree.size === 0 ? md5("") : null,
      tags,
      user,
    });
    this.#rids[id] = this.#repository.ridOf(hash);
    if (parents[0] !== undefined && --this.#children[parents[0]]! === 0) this.#drop(parents[0]);
    if (this.#children[id]! > 0) this.#keep(id, settled(tree));
  }

  #hash(id: number): string {
    return this.#repository.store.hashOf(this.#rids[id]!) ?? "";
  }

  #changed(before: GitTree, commit: SpooledCommit): GitTree {
    const { intake, notices } = this.#source;
    const editor = new TreeEditor(before, (content) => intake.hashOf(content), notices);
    try {
      for (const change of commit.changes) editor.apply(change);
    } catch (cause) {
      if (!(cause instanceof TreeError)) throw cause;
      const message = `Line ${commit.line} of the stream: ${cause.message}`;
      throw new FossilError("invalid", message, { cause });
    }
    return editor.finish();
  }

  #keep(id: number, tree: GitTree): void {
    this.#trees.set(id, tree);
    this.#keptFiles += tree.size;
    for (const oldest of this.#trees.keys()) {
      if (this.#keptFiles <= MAX_KEPT_FILES || oldest === id) break;
      this.#drop(oldest);
    }
  }

  #drop(id: number): void {
    this.#keptFiles -= this.#trees.get(id)?.size ?? 0;
    this.#trees.delete(id);
  }

  #tree(id: number): GitTree {
    const known = this.#trees.get(id);
    if (known !== undefined) return known;
    const manifest = this.#repository.artifact(this.#rids[id]!);
    if (manifest?.kind !== "manifest") throw new Error("A check-in that was written is not there");
    return treeFromCards(filesOf(this.#repository, manifest));
  }

  /**
   * Tags that put a commit on another branch than its first parent; none if the branch is the same.
   */
  #branchTags(id: number): TagCard[] {
    const { branchOf, branches } = this.#plan;
    const parent = this.#source.spool.parents[id]![0];
    const { name, ref } = branches[branchOf[id]!]!;
    const before = parent === undefined ? undefined : branches[branchOf[parent]!]!.name;
    if (before === name) return [];
    const isPlain = ref === `refs/heads/${name}` && name !== "trunk";
    const value = isPlain ? null : ref;
    const tags: TagCard[] = [
      { sign: "*", name: "branch", target: null, value: name },
      { sign: "*", name: `sym-${name}`, target: null, value },
    ];
    if (before === undefined) return tags;
    return [...tags, { sign: "-", name: `sym-${before}`, target: null, value: null }];
  }

  /** Writes tags, and branches without their own check-in. */
  writeNames(): void {
    const { intake, notices } = this.#source;
    const writes: (() => void)[] = [];
    for (const tag of intake.tags.values()) writes.push(() => this.#writeTag(tag));
    const held = new Set(this.#plan.branches.map(({ ref }) => ref));
    const others = new Map<number, string[]>();
    for (const [ref, commit] of intake.refs) {
      if (ref.startsWith("refs/tags/")) {
        const tag = { name: ref.slice(10), commit, tagger: null, message: "" };
        writes.push(() => this.#writeTag(tag));
        this.tags++;
      } else if (!held.has(ref)) others.set(commit, [...others.get(commit) ?? [], ref]);
    }
    this.tags += intake.tags.size;
    for (const [commit, refs] of others) {
      for (const ref of refs) {
        if (!ref.startsWith("refs/heads/")) continue;
        notices.add("ref", ref, "A branch without a commit of its own was kept as a tag");
      }
      writes.push(() => this.#writeRefs(commit, refs));
    }
    for (let start = 0; start < writes.length; start += BATCH_WRITES) {
      const batch = writes.slice(start, start + BATCH_WRITES);
      this.#repository.write(NOBODY, () => batch.forEach((write) => write()));
    }
  }

  #writeTag({ name, commit, tagger, message }: SpooledTag): void {
    const target = this.#hash(commit);
    const signature = parseSignature(tagger || this.#source.spool.get(commit).committer)!;
    const [user, date] = [userOf(signature.person), dateOf(signature)];
    const text = message.replace(/(?<!\n)\n+$/, "");
    const value = text.trim() === "" ? null : text;
    const tags: TagCard[] = [{ sign: "+", name: `sym-${name}`, target, value }];
    const derived = signatureLine(personOf(user), date);
    const kept = formatHeaders({
      ...(tagger === null || tagger === derived ? {} : { tagger }),
      ...(value === null || message === `${value}\n` ? {} : { message }),
    });
    if (kept !== "" || (tagger !== null && value === null)) {
      tags.push({ sign: "+", name: TAG_PROPERTY + name, target, value: kept === "" ? null : kept });
    }
    this.#repository.add({ kind: "control", date, tags, user });
  }

  #writeRefs(commit: number, refs: readonly string[]): void {
    const target = this.#hash(commit);
    const names = refs.filter((ref) => ref.startsWith("refs/heads/")).map((ref) => ref.slice(11));
    const signature = parseSignature(this.#source.spool.get(commit).committer)!;
    this.#repository.add({
      kind: "control",
      date: dateOf(signature),
      tags: [
        { sign: "+", name: REFS_PROPERTY, target, value: refs.join(" ") },
        ...names.map((name): TagCard => ({ sign: "+", name: `sym-${name}`, target, value: null })),
      ],
      user: userOf(signature.person),
    });
  }
}

/** The check-in for a commit, and the value of the property that holds the rest. */
function describe({ author, committer, message }: SpooledCommit) {
  const line = author ?? committer;
  const [writer, recorder] = [line, committer].map((text) => parseSignature(text)) as [
    Signature,
    Signature,
  ];
  const [user, date] = [userOf(writer.person), dateOf(recorder)];
  const split = splitMessage(message);
  const value = formatHeaders({
    ...(line === signatureLine(personOf(user), date) ? {} : { author: line }),
    ...(committer === line ? {} : { committer }),
    ...(split.message === undefined ? {} : { message: split.message }),
  });
  return { comment: split.comment, user, date, value };
}
