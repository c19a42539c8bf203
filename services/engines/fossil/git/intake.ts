/** Processes the commands of a stream: stores contents and spools commits. */
import { parseArtifact } from "../artifact/mod.ts";
import { decodeUtf8 } from "../codec/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import type { NoticeLog } from "./notices.ts";
import { isInRange, parseSignature } from "./person.ts";
import type { CommitSpool } from "./spool.ts";
import type { GitCommand, GitCommit, GitTag } from "./stream/mod.ts";
import { TextMap } from "../text/mod.ts";

/** An annotated tag and the commit that it is on. */
export interface SpooledTag {
  readonly name: string;
  readonly commit: number;
  /** "" for an annotated tag without a tagger, null for a lightweight tag. */
  readonly tagger: string | null;
  readonly message: string;
}

/** Most marks, and most commits, of one stream; each takes some memory. */
const MAX_MARKS = 10_000_000;
/** Most references and tags of one stream, and the longest name, in characters. */
const MAX_NAMES = 500_000;
const MAX_NAME_LENGTH = 1000;
const HEADS = "refs/heads/";
const TAGS = "refs/tags/";
const LFS_POINTER = "version https://git-lfs.github.com/spec/v1\n";
const MAX_LFS_POINTER_BYTES = 1024;
const NO_COMMIT = /^0{40}(?:0{24})?$/;
const PGP = /-----BEGIN (?:PGP|SSH) SIGNATURE-----/;

/** The marks and references of a stream so far. */
export class Intake {
  readonly #repository: Repository;
  readonly #spool: CommitSpool;
  readonly #notices: NoticeLog;
  /** Row of a content by mark, 0 for skipped content. */
  readonly #contents = new Map<number, number>();
  readonly #commits = new Map<number, number>();
  readonly #pointers = new Set<number>();
  /** Marks of annotated tags. */
  readonly #tagMarks = new Set<number>();
  readonly refs = new Map<string, number>();
  readonly tags = new TextMap<SpooledTag>();
  /** References set by `reset`; the label of a commit only says where it was found. */
  readonly #settled = new Set<string>();
  #files = 0;
  #names = 0;

  constructor(repository: Repository, spool: CommitSpool, notices: NoticeLog) {
    this.#repository = repository;
    this.#spool = spool;
    this.#notices = notices;
  }

  /** Number of different contents stored. */
  get files(): number {
    return this.#files;
  }

  /** Needs `write`. @throws {FossilError} `invalid` if a command contradicts earlier ones. */
  take(command: GitCommand): void {
    switch (command.kind) {
      case "blob":
        return this.#takeBlob(command.mark, command.content);
      case "commit":
        return this.#takeCommit(command);
      case "tag":
        return this.#takeTag(command);
      case "alias":
        return this.#takeAlias(command.mark, command.to, command.line);
      case "reset": {
        const { from, line } = command;
        const ref = this.#fullName(command.ref, line);
        if (from !== null && this.#isContent(from)) return this.#leaveOut(ref);
        const tip = from === null ? null : this.#commitOf(from, line);
        if (tip === null) this.refs.delete(ref);
        else {
          this.#point(ref, tip);
          this.#settled.add(ref);
        }
      }
    }
  }

  /** Lets a reference point at a commit; what the stream said of it before no longer counts. */
  #point(ref: string, commit: number): void {
    this.refs.set(ref, commit);
    if (ref.startsWith(TAGS)) this.tags.delete(ref.slice(TAGS.length));
  }

  /**
   * The whole name of a reference. `git fast-export` shortens the name of a branch if a tag has it
   * too, and then leaves out where each of them ends.
   */
  #fullName(name: string, line: number): string {
    const isShort = name !== "HEAD" && !name.startsWith("refs/");
    const ref = isShort ? HEADS + name : name;
    this.#checkName(ref, line);
    if (isShort) {
      this.#notices.add(
        "ref",
        name,
        "A short name, as of a branch and a tag that share it, was taken for the branch: where they " +
          "end may be missing, unless the stream is made from full names",
      );
    }
    return ref;
  }

  /**
   * Commits named by a separate command (tags and resets), and the newest notes, which are on no
   * branch.
   */
  *namedTips(): Generator<number> {
    for (const { commit } of this.tags.values()) yield commit;
    for (const [ref, commit] of this.refs) {
      if (this.#settled.has(ref) || ref.startsWith("refs/notes/")) yield commit;
    }
  }

  #takeAlias(mark: number, to: string, line: number): void {
    const content = this.#isContent(to) ? this.#contents.get(Number(to.slice(1))) : undefined;
    if (content !== undefined) {
      this.#contents.set(mark, content);
      return;
    }
    const commit = this.#commitOf(to, line);
    if (commit !== null) this.#commits.set(mark, commit);
  }

  /** Whether a mark belongs to the content of a file. */
  #isContent(text: string): boolean {
    return /^:\d+$/.test(text) && this.#contents.has(Number(text.slice(1)));
  }

  #leaveOut(ref: string): void {
    this.#notices.add("ref", ref, "A reference to something else than a commit was left out");
  }

  #takeBlob(mark: number | null, content: Uint8Array): void {
    if (mark === null) return;
    if (this.#contents.size + this.#commits.size >= MAX_MARKS) {
      throw new FossilError("limit", `The stream has more than ${MAX_MARKS} marks`);
    }
    if (parseArtifact(content) !== null) {
      this.#contents.set(mark, 0);
      return;
    }
    const { rid, isNew } = this.#repository.store.put(content);
    if (isNew) this.#files++;
    this.#contents.set(mark, rid);
    if (content.length > MAX_LFS_POINTER_BYTES) return;
    if (decodeUtf8(content.subarray(0, LFS_POINTER.length)) === LFS_POINTER) {
      this.#pointers.add(rid);
    }
  }

  /** Hash of the content of a change; null for skipped content. */
  hashOf(content: string | number): string | null {
    const rid = typeof content === "number" ? this.#contents.get(content) : undefined;
    return rid === undefined || rid === 0 ? null : this.#repository.store.hashOf(rid) ?? null;
  }

  #takeCommit(commit: GitCommit): void {
    const { mark, line, from, merges } = commit;
    const ref = this.#fullName(commit.ref, line);
    if (this.#spool.size >= MAX_MARKS) {
      throw new FossilError("limit", `The stream has more than ${MAX_MARKS} commits`);
    }
    this.#checkSignature(commit.committer);
    if (commit.author !== null) this.#checkSignature(commit.author);
    const parents = new Set<number>();
    const first = from === null ? this.refs.get(ref) ?? null : this.#commitOf(from, line);
    const subject = `commit ${mark === null ? `of line ${line}` : `:${mark}`}`;
    for (const parent of [first, ...merges.map((text) => this.#commitOf(text, line))]) {
      if (parent !== null && parents.has(parent)) {
        this.#notices.add("ref", subject, "A parent that it has twice was taken once");
      } else if (parent !== null) parents.add(parent);
    }
    for (const change of commit.changes) {
      if (change.kind === "write") {
        this.#checkContent(change.path, change.mode, change.content, line);
      } else if (change.kind === "note" && !NO_COMMIT.test(String(change.content))) {
        this.#checkContent(`note on ${change.commit}`, "100644", change.content, line);
      }
    }
    const rest = commit.rest === null ? null : this.#keep(commit.rest);
    const id = this.#spool.add({ ...commit, rest }, ref, [...parents]);
    if (mark !== null) this.#commits.set(mark, id);
    this.#point(ref, id);
    if (commit.message.includes("\0")) {
      this.#notices.add("encoding", subject, "Only Git sees the zero bytes of the message");
    }
    if (commit.encoding === null) return;
    const message = `The text was converted from "${commit.encoding}"; Git sees it as it was`;
    this.#notices.add("encoding", subject, message);
  }

  /** Stores bytes as an artifact; returns its name. */
  #keep(bytes: Uint8Array): string {
    const { store } = this.#repository;
    return store.hashOf(store.put(bytes).rid) ?? "";
  }

  /** Reports what a line with a person and a date cannot give to Fossil. */
  #checkSignature(line: string): void {
    const { isTaken, isDated, person, seconds } = parseSignature(line);
    if (!isTaken) {
      const undated = isDated ? "" : ", and no date";
      this.#notices.add(
        "author",
        line.slice(0, line.lastIndexOf(">") + 1) || line,
        `The line is malformed: it was taken for "${person}"${undated}`,
      );
    }
    if (isInRange(seconds)) return;
    this.#notices.add("date", line, "The date is kept beside the check-in");
  }

  #checkContent(path: string, mode: string, content: string | number, line: number): void {
    if (mode === "160000") return;
    const rid = typeof content === "number" ? this.#contents.get(content) : undefined;
    if (rid === undefined) {
      throw errorAt(line, `The content of "${path}" is not in the stream`);
    }
    if (rid === 0) {
      this.#notices.add("artifact", path, "Fossil would take the file for an artifact of its own");
    } else if (this.#pointers.has(rid)) {
      this.#notices.add(
        "lfs-pointer",
        path,
        "The content lies on an LFS server, the pointer was kept",
      );
    }
  }

  /** Counts names, including those that are deleted later. */
  #checkName(name: string, line: number): void {
    if (name.length > MAX_NAME_LENGTH) throw errorAt(line, "A name is too long");
    const isTag = name.startsWith(TAGS) && this.tags.has(name.slice(TAGS.length));
    if (!isTag && !this.refs.has(name)) this.#names++;
    if (this.#names > MAX_NAMES) {
      throw new FossilError("limit", `The stream has more than ${MAX_NAMES} names`);
    }
  }

  #takeTag({ name, mark, from, tagger, message, encoding, line }: GitTag): void {
    const ref = TAGS + name;
    this.#checkName(ref, line);
    if (this.#isContent(from)) {
      if (mark !== null) this.#takeAlias(mark, from, line);
      return this.#leaveOut(ref);
    }
    const commit = this.#commitOf(from, line);
    if (commit === null) throw errorAt(line, `Tag "${name}" is on nothing`);
    if (tagger !== null) this.#checkSignature(tagger);
    if (encoding !== null) {
      this.#notices.add("encoding", ref, `The text was converted from "${encoding}"`);
    }
    if (message.includes("\0")) {
      this.#notices.add("encoding", ref, "The zero bytes of the message were left out");
    }
    if (this.#tagMarks.has(markOf(from))) {
      this.#notices.add("ref", ref, "A tag of a tag was put on the commit of that tag");
    }
    if (PGP.test(message)) {
      this.#notices.add(
        "signature",
        ref,
        "The signature is text that proves nothing any more",
      );
    }
    if (mark !== null) {
      this.#commits.set(mark, commit);
      this.#tagMarks.add(mark);
    }
    this.tags.set(name, { name, commit, tagger: tagger ?? "", message });
    this.refs.delete(ref);
  }

  /** The commit of a mark or reference; null for the null name. */
  #commitOf(text: string, line: number): number | null {
    if (NO_COMMIT.test(text)) return null;
    const name = text.replace(/\^0$/, "");
    const commit = /^:\d+$/.test(name)
      ? this.#commits.get(Number(name.slice(1)))
      : this.refs.get(name) ?? this.refs.get(HEADS + name);
    if (commit !== undefined) return commit;
    throw errorAt(line, `"${text.slice(0, 100)}" is not a commit of the stream`);
  }
}

/** The mark that a text names; 0 if it names none. */
function markOf(text: string): number {
  return /^:\d+$/.test(text) ? Number(text.slice(1)) : 0;
}

function errorAt(line: number, message: string): FossilError {
  return new FossilError("invalid", `Line ${line} of the stream: ${message}`);
}
