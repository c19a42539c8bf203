import { fromJulianDay } from "../codec/mod.ts";
import { walkArtifacts } from "../content/mod.ts";
import { filesOf, hiddenDeletions } from "../crosslink/mod.ts";
import type { Repository } from "../repository.ts";
import { MODE } from "../../git/mod.ts";
import { FossilError } from "../error.ts";
import { commitTextOf, ownProperty } from "./commit.ts";
import { type CheckinHead, headOf } from "./door/heads.ts";
import { COMMIT_PROPERTY, parseHeaders, TAG_PROPERTY } from "./headers.ts";
import { parseOverlay, TREE_PROPERTY } from "./overlay.ts";
import { NoticeLog } from "./notices.ts";
import { needsPermission, personOf, signatureLine, takenLine } from "./person.ts";
import { type GitTagOut, NamePlan } from "./refs.ts";
import { encodeText, formatPath } from "./stream/mod.ts";
import type { GitExportOptions, GitExportReport } from "./types.ts";
import { unwrapped } from "./wrapped.ts";

/** Characters of text to collect for one piece. */
const PIECE_LENGTH = 64 * 1024;
/** Steps between two calls of the progress function. */
const PROGRESS_STEP = 200;
/** Modes of Git by `mlink.mperm`, and by ours. */
const MODES = ["100644", "100755", "120000"] as const;
const MODE_OF = { file: MODES[0], executable: MODES[1], link: MODES[2] } as const;

/**
 * Writes a stream for `git fast-import`: all check-ins with their trees, messages, authors, dates
 * and parents; branches and tags. Its commits are those that `git clone` gets, except for signatures
 * and what `git fast-import` does not take. Amendments of comments, users and dates are not in it: they
 * would change the names of commits. It shows the state of the repository when the first piece is
 * requested.
 *
 * @see {@link https://git-scm.com/docs/git-fast-import}
 */
export function* exportGit(
  repository: Repository,
  options: GitExportOptions = {},
): Generator<Uint8Array, GitExportReport> {
  const exporter = new Exporter(repository, options);
  return yield* exporter.run();
}

interface FileRow {
  readonly fid: number;
  readonly name: string;
  readonly mperm: number;
}

class Exporter {
  readonly #repository: Repository;
  readonly #options: GitExportOptions;
  readonly #notices = new NoticeLog();
  readonly #names: NamePlan;
  /** Check-ins, parents before children. */
  readonly #order: readonly number[];
  /** Rows of contents already in the stream. */
  readonly #contents = new Set<number>();
  #text: string[] = [];
  #length = 0;
  #bytes = 0;

  constructor(repository: Repository, options: GitExportOptions) {
    this.#repository = repository;
    this.#options = options;
    const isPublic = options.withoutBranches !== undefined;
    const { names, order } = repository.read(() => ({
      names: new NamePlan(repository, options, this.#notices),
      order: this.#checkinsInOrder(),
    }));
    this.#names = names;
    this.#order = isPublic ? this.#reached(order) : order;
  }

  *run(): Generator<Uint8Array, GitExportReport> {
    yield* this.#writeContents();
    const order = this.#order;
    const written = new Set<number>();
    for (const rid of order) {
      this.#writeCheckin(rid, written);
      written.add(rid);
      if (this.#length >= PIECE_LENGTH) yield this.#flush();
      if (written.size % PROGRESS_STEP === 0) this.#tell(written.size, order.length);
    }
    for (const { ref, rid } of this.#names.refs()) {
      this.#write(`reset ${ref}\nfrom :${rid}\n\n`);
    }
    const tags = this.#names.tags();
    for (const tag of tags) this.#writeTag(tag);
    this.#write("done\n");
    yield this.#flush();
    this.#tell(order.length, order.length);
    this.#noteOtherKinds();
    return {
      commits: order.length,
      files: this.#contents.size,
      branches: this.#names.heads,
      tags: tags.length,
      notices: this.#notices.report(),
    };
  }

  #tell(commits: number, total: number): void {
    this.#options.progress?.({ phase: "write", bytes: this.#bytes, commits, total });
  }

  #write(text: string): void {
    this.#text.push(text);
    this.#length += text.length;
  }

  #flush(): Uint8Array {
    const piece = encodeText(this.#text.join(""));
    this.#text = [];
    this.#length = 0;
    this.#bytes += piece.length;
    return piece;
  }

  /** Every content that any check-in has, along the delta chains. The mark is the row. */
  *#writeContents(): Generator<Uint8Array> {
    const { db, store } = this.#repository;
    this.#write("feature done\n");
    if (this.#needsPermission()) this.#write("feature date-format=raw-permissive\n");
    const wanted = this.#wantedContents();
    for (const { rid, content: stored } of walkArtifacts(db, store)) {
      if (stored === null || !wanted.has(rid)) continue;
      const content = unwrapped(stored);
      this.#contents.add(rid);
      this.#write(`blob\nmark :${rid}\ndata ${content.length}\n`);
      yield this.#flush();
      this.#bytes += content.length;
      yield content;
      this.#write("\n");
    }
  }

  /** Rows of the contents that the check-ins have. */
  #wantedContents(): Set<number> {
    const { db } = this.#repository;
    if (this.#options.withoutBranches === undefined) {
      const all = db.rows<{ fid: number }>("SELECT DISTINCT fid FROM mlink WHERE fid>0");
      return new Set(all.map(({ fid }) => fid));
    }
    const select = "SELECT fid FROM mlink WHERE mid=? AND fid>0";
    const wanted = new Set<number>();
    for (const rid of this.#order) {
      for (const { fid } of db.rows<{ fid: number }>(select, rid)) wanted.add(fid);
    }
    return wanted;
  }

  /** Whether a date is one that `git fast-import` takes only with `raw-permissive`. */
  #needsPermission(): boolean {
    const rows = this.#repository.db.rows<{ value: string }>(
      `SELECT value FROM tagxref JOIN tag USING(tagid)
        WHERE (tagname=? OR tagname GLOB ?) AND tagtype>0 AND value GLOB '*[-+][0-9][0-9][0-9][0-9]*'`,
      COMMIT_PROPERTY,
      `${TAG_PROPERTY}*`,
    );
    return rows.some(({ value }) => {
      const { author, committer, tagger } = parseHeaders(value);
      return [author, committer, tagger].some((line) =>
        line !== undefined && needsPermission(line)
      );
    });
  }

  /** Of check-ins in their order, those that the references reach and that are to be written. */
  #reached(order: readonly number[]): number[] {
    const tips = [...this.#names.refs(), ...this.#names.tags()];
    const reached = new Set(tips.map(({ rid }) => rid));
    for (const rid of order.toReversed()) {
      if (!reached.has(rid)) continue;
      for (const parent of this.#parents(rid)) reached.add(parent);
    }
    return order.filter((rid) => reached.has(rid));
  }

  /**
   * Available check-ins, parents before children, otherwise older ones first. A loop of parents,
   * which no honest repository has, is cut at an arbitrary point.
   */
  #checkinsInOrder(): number[] {
    const { db } = this.#repository;
    const rids = db.rows<{ objid: number }>(
      "SELECT objid FROM event WHERE type='ci' ORDER BY mtime, objid",
    ).map(({ objid }) => objid);
    const known = new Set(rids);
    const seen = new Set<number>();
    const done = new Set<number>();
    for (const start of rids) {
      const stack = [start];
      for (let rid = stack.at(-1); rid !== undefined; rid = stack.at(-1)) {
        seen.add(rid);
        const missing = done.has(rid)
          ? undefined
          : this.#parents(rid).find((parent) => known.has(parent) && !seen.has(parent));
        if (missing === undefined) {
          stack.pop();
          done.add(rid);
        } else stack.push(missing);
      }
    }
    return [...done];
  }

  #parents(rid: number): number[] {
    const select = "SELECT pid FROM plink WHERE cid=? ORDER BY isprim DESC, rowid";
    return this.#repository.db.rows<{ pid: number }>(select, rid).map(({ pid }) => pid);
  }

  #writeCheckin(rid: number, written: ReadonlySet<number>): void {
    const head = this.#head(rid);
    const ref = this.#names.refOf(rid);
    const parents = this.#parents(rid).filter((parent) => written.has(parent));
    if (parents.length === 0) this.#write(`reset ${ref}\n`);
    this.#write(
      `commit ${ref}\nmark :${rid}\noriginal-oid ${this.#repository.store.hashOf(rid)}\n`,
    );
    const readRest = (hash: string) => this.#repository.store.require(this.#repository.ridOf(hash));
    const { author, committer, further, message } = commitTextOf(head, readRest);
    this.#writePerson("author", author);
    this.#writePerson("committer", committer);
    const encoding = /^encoding .*\n/m.exec(further)?.[0] ?? "";
    this.#write(encoding);
    if (further !== encoding) {
      const text = "git fast-import takes no signature: it was left out";
      this.#notices.add("signature", this.#repository.store.hashOf(rid) ?? "", text);
    }
    this.#writeData(message);
    parents.forEach((parent, i) => this.#write(`${i === 0 ? "from" : "merge"} :${parent}\n`));
    this.#writeChanges(rid, written);
    this.#writeOverlay(head);
    this.#write("\n");
  }

  /** A line as it was imported, or one that Git takes. */
  #writePerson(role: "author" | "committer" | "tagger", line: string): void {
    const taken = takenLine(line);
    if (taken !== line) {
      const message = `Git takes no such line: it was written as "${taken}"`;
      this.#notices.add("author", line, message);
    }
    this.#write(`${role} ${taken}\n`);
  }

  #writeData(text: string): void {
    this.#write(`data ${encodeText(text).length}\n${text}\n`);
  }

  #head(rid: number): CheckinHead {
    const head = headOf(this.#repository.store.require(rid));
    if (head === null) throw new FossilError("corrupt", `Artifact ${rid} is no check-in`);
    return head;
  }

  /** Deletions first: a path that was a folder may have become a file. */
  #writeChanges(rid: number, written: ReadonlySet<number>): void {
    const [primary] = this.#parents(rid);
    if (primary === undefined || !written.has(primary)) {
      return this.#writeTree(rid);
    }
    const hidden = hiddenDeletions(this.#repository, [rid]);
    if (hidden === null) return this.#writeTree(rid);
    for (const name of hidden) this.#write(`D ${formatPath(name)}\n`);
    const rows = this.#repository.db.rows<FileRow>(
      `SELECT fid, name, mperm FROM mlink JOIN filename USING(fnid)
        WHERE mid=? AND NOT isaux ORDER BY fid>0, name`,
      rid,
    );
    for (const { fid, name, mperm } of rows) {
      if (fid === 0) this.#write(`D ${formatPath(name)}\n`);
      else this.#writeFile(name, fid, MODES[mperm] ?? MODES[0]);
    }
  }

  /** Every file, if there is no primary parent to compare with. */
  #writeTree(rid: number): void {
    const manifest = this.#repository.artifact(rid);
    if (manifest?.kind !== "manifest") return;
    this.#write("deleteall\n");
    for (const { name, hash, mode } of filesOf(this.#repository, manifest)) {
      const fid = this.#repository.store.ridOf(hash ?? "");
      this.#writeFile(name, fid, MODE_OF[mode]);
    }
  }

  /** What Fossil cannot hold, as far as `git fast-import` takes it. */
  #writeOverlay(head: CheckinHead): void {
    for (const { path, mode, object } of parseOverlay(ownProperty(head, TREE_PROPERTY))) {
      if (mode === 0) this.#write(`D ${formatPath(path)}\n`);
      else if (mode === MODE.submodule) this.#write(`M 160000 ${object} ${formatPath(path)}\n`);
      else if (mode !== MODE.folder) {
        const isExecutable = (mode & 0o111) !== 0 && mode !== MODE.link;
        const taken = mode === MODE.link ? MODES[2] : isExecutable ? MODES[1] : MODES[0];
        this.#writeFile(path, this.#repository.store.ridOf(object), taken);
      }
    }
  }

  #writeFile(name: string, fid: number, mode: string): void {
    if (this.#contents.has(fid)) this.#write(`M ${mode} :${fid} ${formatPath(name)}\n`);
    else this.#notices.add("content", name, "The content of the file is not in the repository");
  }

  #writeTag({ name, rid, message, tagger, user, day }: GitTagOut): void {
    const derived = signatureLine(personOf(user ?? "anonymous"), fromJulianDay(day));
    this.#write(`tag ${name}\nfrom :${rid}\n`);
    if (tagger !== "") this.#writePerson("tagger", tagger ?? derived);
    this.#writeData(message);
  }

  #noteOtherKinds(): void {
    const kinds = this.#repository.db.rows<{ type: string; count: number }>(
      "SELECT type, count(*) AS count FROM event WHERE type IN ('w','t','e','f') GROUP BY type",
    );
    const names: Readonly<Record<string, string>> = {
      w: "wiki",
      t: "ticket",
      e: "technote",
      f: "forum",
    };
    for (const { type, count } of kinds) {
      this.#notices.add("kind", names[type] ?? type, `${count} artifacts were left out`);
    }
  }
}
