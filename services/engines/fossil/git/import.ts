import { nameFault, type TagCard } from "../artifact/mod.ts";
import { md5 } from "../codec/mod.ts";
import { addUser, createDatabase, type CreateOptions, type StoreOptions } from "../content/mod.ts";
import { filesOf } from "../crosslink/mod.ts";
import { FossilError } from "../error.ts";
import { Repository } from "../repository.ts";
import { type BranchPlan, mainRefOf, planBranches, UNNAMED } from "./branches.ts";
import {
  COMMIT_PROPERTY,
  formatHeaders,
  formatRefs,
  REFS_PROPERTY,
  TAG_PROPERTY,
  withoutLastEnds,
} from "./headers.ts";
import { Intake, type SpooledTag } from "./intake.ts";
import { checkinOf } from "./commit.ts";
import { NoticeLog } from "./notices.ts";
import { dateOf, parseSignature, personOf, signatureLine, userOf } from "./person.ts";
import { leaveOutRemotes, type LeftOut } from "./remotes.ts";
import { CommitSpool, type SpooledCommit } from "./spool.ts";
import { CommandReader, type GitCommand, readable, StreamReader } from "./stream/mod.ts";
import { formatOverlay, TREE_PROPERTY } from "./overlay.ts";
import {
  beyondOf,
  cardsOf,
  type GitTree,
  overlayOf,
  settled,
  TreeEditor,
  TreeError,
  treeFromCards,
} from "./trees.ts";
import type { GitImportOptions, GitImportReport } from "./types.ts";

/**
 * Makes a repository without any check-in, not even the usual empty first one. The imports need
 * such a repository.
 *
 * @throws {FossilError} `invalid` if the file exists or an option is malformed.
 */
export function createEmptyRepository(
  path: string,
  options: CreateOptions,
  storeOptions: StoreOptions = {},
): Repository {
  return new Repository(createDatabase(path, options), "current", storeOptions);
}

/** Largest file by default, in bytes. */
const MAX_FILE_BYTES = 256 * 1024 * 1024;
/** Bytes of content, and commands, that fill one transaction. */
const BATCH_BYTES = 1024 * 1024;
const BATCH_COMMANDS = 2000;
/** Check-ins and tags of one transaction. */
const BATCH_WRITES = 100;
/** Most files in the trees that are kept for the children of their commits. */
const MAX_KEPT_FILES = 20_000;
/** The last millisecond of a second. */
const LAST_PART = 999;
const TRUNK = "trunk";
const HEADS = "refs/heads/";
const TAGS = "refs/tags/";
/** The import has no user and no address. */
const NOBODY = { user: null, ip: null };

/**
 * Reads a `git fast-export` stream into an empty repository. `exportGit` can restore the tree of
 * each commit, its message, parents, author, committer and dates, and the branches and tags. The
 * report lists everything that cannot be imported. The import uses many transactions: remove the
 * file if it fails.
 *
 * Branches keep their names, and so do tags, unless a branch has the name; the main branch becomes
 * the setting `main-branch`. Branches of remotes, and commits that only these reach, are left out.
 * The user of a check-in is the author, as `Name <address>`; its date is the committer's.
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
  /** What Fossil cannot hold of the trees of commits; most of them share one. */
  readonly #beyond = new Map<number, GitTree>();
  /** Dates by number of the commit, and the newest one on each branch, in Unix milliseconds. */
  readonly #dates: Float64Array;
  readonly #latest = new Map<number, number>();
  /** The branch that is also called "trunk". */
  readonly #alias: string | null;
  tags = 0;

  constructor(repository: Repository, source: Source) {
    this.#repository = repository;
    this.#source = source;
    const { spool, leftOut, intake, options } = source;
    this.#rids = new Int32Array(spool.size);
    this.#children = new Int32Array(spool.size);
    this.#dates = new Float64Array(spool.size);
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
    this.#alias = this.#aliased();
    for (const { name, ref } of this.#plan.branches) {
      if (!ref.startsWith(UNNAMED)) this.#tellName("branch", name, ref);
      else {
        const message = `Commits that no reference holds are on the branch "${name}"`;
        source.notices.add("ref", ref, message);
      }
    }
    for (const { name, ref } of this.#plan.aliases) this.#tellName("branch", name, ref);
  }

  /** Reports a name that differs from Git's, and one that means something else where it is used. */
  #tellName(kind: "branch" | "tag", name: string, ref: string): void {
    const fault = nameFault(name);
    if (kind === "tag" ? ref !== TAGS + name : ref.startsWith(HEADS) && ref !== HEADS + name) {
      this.#source.notices.add("ref", readable(ref), `The ${kind} is called "${name}" in Fossil`);
    } else if (fault !== null) {
      const message = `The name ${fault}: "tag:${name}" always means this ${kind}`;
      this.#source.notices.add("ref", readable(ref), message);
    }
  }

  /** Imported branches of Git, including those without their own check-in. */
  get branches(): number {
    const own = this.#plan.branches.filter(({ ref }) => ref.startsWith("refs/heads/"));
    return own.length + this.#plan.aliases.length;
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
    const { comment, user, date, value } = checkinOf(commit);
    const tags: TagCard[] = this.#branchTags(id);
    const own = { target: null, sign: "+" } as const;
    if (value !== "") tags.push({ ...own, name: COMMIT_PROPERTY, value });
    const overlay = formatOverlay(overlayOf(tree, before));
    if (overlay !== "") tags.push({ ...own, name: TREE_PROPERTY, value: overlay });
    if (this.#plan.closed.has(id)) tags.push({ ...own, name: "closed", value: null });
    const hash = this.#repository.add({
      kind: "manifest",
      baseline: null,
      comment,
      date: this.#dateAfter(id, date),
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
    this.#beyond.set(id, this.#beyondOf(parents[0], tree, overlay !== ""));
    if (this.#children[id]! > 0) this.#keep(id, settled(tree));
  }

  /**
   * The date of a check-in: within its second a little later than its parents and what came before
   * on its branch, because the newest date tells which check-in the name of a branch means. Git has
   * no parts of a second, so its date is the same.
   */
  #dateAfter(id: number, date: number): number {
    const branch = this.#plan.branchOf[id]!;
    const known = this.#latest.get(branch) ?? -Infinity;
    let result = date;
    for (const earlier of [known, ...this.#source.spool.parents[id]!.map((i) => this.#dates[i]!)]) {
      if (earlier >= result && earlier < date + LAST_PART) result = earlier + 1;
    }
    this.#dates[id] = result;
    this.#latest.set(branch, Math.max(known, result));
    return result;
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
    const tree = treeFromCards(filesOf(this.#repository, manifest));
    for (const [path, file] of this.#beyond.get(id) ?? []) tree.set(path, file);
    return tree;
  }

  #beyondOf(parent: number | undefined, tree: GitTree, isChanged: boolean): GitTree {
    if (isChanged || parent === undefined) return settled(beyondOf(tree));
    return this.#beyond.get(parent) ?? new Map();
  }

  /**
   * Tags that put a commit on another branch than its first parent; none if the branch is the same.
   */
  #branchTags(id: number): TagCard[] {
    const { branchOf, branches } = this.#plan;
    const parent = this.#source.spool.parents[id]![0];
    const { name, ref } = branches[branchOf[id]!]!;
    const before = parent === undefined ? null : branches[branchOf[parent]!]!.name;
    if (before === name) return [];
    const isPlain = ref === HEADS + name && name !== TRUNK;
    const value = isPlain ? null : formatRefs([ref]);
    const tags: TagCard[] = [
      { sign: "*", name: "branch", target: null, value: name },
      { sign: "*", name: `sym-${name}`, target: null, value },
    ];
    if (name === this.#alias) {
      tags.push({ sign: "*", name: `sym-${TRUNK}`, target: null, value: null });
    }
    if (before === null) return tags;
    tags.push({ sign: "-", name: `sym-${before}`, target: null, value: null });
    if (before !== this.#alias) return tags;
    return [...tags, { sign: "-", name: `sym-${TRUNK}`, target: null, value: null }];
  }

  /**
   * The main branch if it also gets the name "trunk", because nothing else has it: clones of Fossil
   * do not know the setting `main-branch`, and open "trunk".
   */
  #aliased(): string | null {
    const { refs, tags } = this.#source.intake;
    const { main, names } = this.#plan;
    const isPresent = names.has(TRUNK) || tags.has(TRUNK) || refs.has(TAGS + TRUNK);
    return isPresent ? null : main;
  }

  /** Writes tags, branches without their own check-in, and the name of the main branch. */
  writeNames(): void {
    const { intake } = this.#source;
    const { main } = this.#plan;
    const writes: (() => void)[] = [];
    if (main !== null && main !== TRUNK) {
      writes.push(() => this.#repository.config.set("main-branch", main));
    }
    for (const tag of intake.tags.values()) writes.push(() => this.#writeTag(tag));
    const held = new Set(this.#plan.branches.map(({ ref }) => ref));
    const others = new Map<number, string[]>();
    for (const [ref, commit] of intake.refs) {
      if (ref.startsWith(TAGS)) {
        const tag = { name: ref.slice(TAGS.length), commit, tagger: null, message: "" };
        writes.push(() => this.#writeTag(tag));
        this.tags++;
      } else if (!held.has(ref)) {
        const known = others.get(commit);
        if (known === undefined) others.set(commit, [ref]);
        else known.push(ref);
      }
    }
    this.tags += intake.tags.size;
    const names = new Map(this.#plan.aliases.map(({ ref, name }) => [ref, name]));
    for (const [commit, refs] of others) writes.push(() => this.#writeRefs(commit, refs, names));
    for (let start = 0; start < writes.length; start += BATCH_WRITES) {
      const batch = writes.slice(start, start + BATCH_WRITES);
      this.#repository.write(NOBODY, () => batch.forEach((write) => write()));
    }
  }

  /** The name of a tag in Fossil: its own, unless a branch has it. */
  #nameOfTag(gitName: string): string {
    const { names } = this.#plan;
    const name = names.take(names.has(gitName) ? `tags/${gitName}` : gitName);
    this.#tellName("tag", name, TAGS + gitName);
    return name;
  }

  /** An annotated tag, and one with another name than in Git, has a property beside it. */
  #writeTag({ name: gitName, commit, tagger, message }: SpooledTag): void {
    const target = this.#hash(commit);
    const name = this.#nameOfTag(gitName);
    const recorder = parseSignature(this.#source.spool.get(commit).committer);
    const signature = tagger === null || tagger === "" ? recorder : parseSignature(tagger);
    const user = userOf(signature.person);
    const date = dateOf(signature.isDated ? signature : recorder);
    const stored = message.replaceAll("\0", "");
    const text = withoutLastEnds(stored);
    const value = text.trim() === "" ? null : text;
    const tags: TagCard[] = [{ sign: "+", name: `sym-${name}`, target, value }];
    const isRenamed = name !== gitName;
    const derived = signatureLine(personOf(user), date);
    const kept = formatHeaders({
      ...(isRenamed ? { ref: formatRefs([TAGS + gitName]) } : {}),
      ...(tagger === null || (tagger === derived && !isRenamed) ? {} : { tagger }),
      ...(value === null || stored === `${value}\n` ? {} : { message: stored }),
    });
    if (kept !== "" || (tagger !== null && value === null)) {
      tags.push({ sign: "+", name: TAG_PROPERTY + name, target, value: kept === "" ? null : kept });
    }
    this.#repository.add({ kind: "control", date, tags, user });
  }

  /** @param names of the branches without their own check-in */
  #writeRefs(commit: number, refs: readonly string[], names: ReadonlyMap<string, string>): void {
    const target = this.#hash(commit);
    const { committer } = this.#source.spool.get(commit);
    const signature = parseSignature(committer);
    const tags: TagCard[] = [{ sign: "+", name: REFS_PROPERTY, target, value: formatRefs(refs) }];
    for (const ref of refs) {
      const name = names.get(ref);
      if (name === undefined) continue;
      const value = ref === HEADS + name ? null : formatRefs([ref]);
      tags.push({ sign: "+", name: `sym-${name}`, target, value });
      const message = "A branch without a commit of its own was kept as a tag";
      this.#source.notices.add("ref", readable(ref), message);
    }
    const [date, user] = [dateOf(signature), userOf(signature.person)];
    this.#repository.add({ kind: "control", date, tags, user });
  }
}

/** Defined if the runtime was started with `--expose-gc`. */
const { gc: collect } = globalThis as { gc?: (options?: { type: "minor" }) => void };

/** Bytes of growth since the last collection that start the next one. */
const MIN_GROWTH_BYTES = 8 * 1024 * 1024;
/** The same as a share of the remaining bytes, which bounds the time of all collections. */
const GROWTH = 0.25;

/**
 * Collects garbage more often than V8, which lets buffers take 64 MB, and the heap grow to several
 * times its live size. Work that makes much garbage calls it between two batches.
 */
export class GarbageCollector {
  #kept = 0;

  /** Frees young objects, and all garbage when memory has grown. Takes 2 ms, at times 50. */
  collect(): void {
    if (collect === undefined) return;
    collect({ type: "minor" });
    const used = usedBytes();
    // V8 sweeps in other threads, which may lag, so the remaining size is known only later.
    this.#kept = Math.min(this.#kept, used);
    if (used < this.#kept + Math.max(MIN_GROWTH_BYTES, this.#kept * GROWTH)) return;
    collect();
    this.#kept = usedBytes();
  }
}

/** Frees everything that this thread no longer uses, after work with very large buffers. */
export function collectAll(): void {
  collect?.();
}

/** Bytes that this thread's objects and buffers take. */
function usedBytes(): number {
  const { heapUsed, external } = Deno.memoryUsage();
  return heapUsed + external;
}

/** A completely read stream. */
interface ReadStream {
  readonly intake: Intake;
  /** Parents by commit, parents before children. */
  readonly parents: readonly (readonly number[])[];
  readonly notices: NoticeLog;
}

const ADVICE = "make it anew with git for-each-ref --format='%(refname)' refs/heads refs/tags | " +
  "git fast-export --stdin --mark-tags --use-done-feature --signed-tags=verbatim --reencode=no";
const PARTIAL_ADVICE = "or import it as it is with --partial";

/**
 * Looks for signs that a stream without `done` ended too early. `git fast-export` writes the
 * commits first, often under the name of a tag, and then where the branches and tags point.
 *
 * @param isAccepted true imports such a stream anyway, with a notice; false refuses it and names
 * the option that would import it; undefined only refuses it.
 * @throws {FossilError} `invalid` if it is not.
 */
function checkCompleteness(stream: ReadStream, isAccepted: boolean | undefined): void {
  const sign = signOfLoss(stream);
  if (sign === null) return;
  const message = `The stream ends without "done" and ${sign}`;
  if (isAccepted !== true) {
    const advice = isAccepted === undefined ? ADVICE : `${ADVICE}, ${PARTIAL_ADVICE}`;
    throw new FossilError("invalid", `${message}: ${advice}`);
  }
  stream.notices.add("partial", "end of the stream", message);
}

function signOfLoss({ intake, parents }: ReadStream): string | null {
  const branches = [...intake.refs].filter(([ref]) => ref.startsWith("refs/heads/"));
  if (branches.length === 0) return "has no branch";
  const reached = new Uint8Array(parents.length);
  for (const [, tip] of branches) reached[tip] = 1;
  for (const tip of intake.namedTips()) reached[tip] = 1;
  let lost = 0;
  for (let commit = parents.length - 1; commit >= 0; commit--) {
    if (reached[commit] === 0) lost++;
    else for (const parent of parents[commit]!) reached[parent] = 1;
  }
  return lost === 0 ? null : `no branch reaches ${lost} of its ${parents.length} commits`;
}
