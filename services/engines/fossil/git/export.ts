import { encodeUtf8, fromJulianDay, parseDate } from "../codec/mod.ts";
import { TAG, walkArtifacts } from "../content/mod.ts";
import { filesOf, hiddenDeletions } from "../crosslink/mod.ts";
import type { Repository } from "../repository.ts";
import { COMMIT_PROPERTY, parseHeaders, TAG_PROPERTY } from "./headers.ts";
import { NoticeLog } from "./notices.ts";
import { needsPermission, personOf, signatureLine, takenLine } from "./person.ts";
import { type GitTagOut, NamePlan } from "./refs.ts";
import { encodeText, formatPath } from "./stream/mod.ts";
import type { GitExportOptions, GitExportReport } from "./types.ts";
import { TextMap } from "../text/mod.ts";

/** Characters of text to collect for one piece. */
const PIECE_LENGTH = 64 * 1024;
/** Steps between two calls of the progress function. */
const PROGRESS_STEP = 200;
/** Modes of Git by `mlink.mperm`, and by ours. */
const MODES = ["100644", "100755", "120000"] as const;
const MODE_OF = { file: MODES[0], executable: MODES[1], link: MODES[2] } as const;

/**
 * Writes a stream for `git fast-import`: all check-ins with their trees, messages, authors, dates
 * and parents; branches and tags. Imports of `importGit` come out unchanged, except for signatures
 * and lines that Git does not take. In check-ins made in Fossil, the user is both author and committer. The stream has the amended
 * comments, users and dates. It shows the state of the repository when the first piece is
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

interface CheckinRow {
  readonly rid: number;
  readonly uuid: string;
  readonly day: number;
  /** Values of the amendments. */
  readonly date: string | null;
  readonly euser: string | null;
  readonly ecomment: string | null;
  readonly user: string | null;
  readonly comment: string | null;
  readonly git: string | null;
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
  readonly #people = new TextMap<string>();
  readonly #names: NamePlan;
  /** Check-ins, parents before children. */
  readonly #order: readonly number[];
  /** Check-ins that are left out because they only begin a branch, and the one in their place. */
  readonly #beginnings: ReadonlyMap<number, number>;
  /** Rows of contents already in the stream. */
  readonly #contents = new Set<number>();
  #text: string[] = [];
  #length = 0;
  #bytes = 0;

  constructor(repository: Repository, options: GitExportOptions) {
    this.#repository = repository;
    this.#options = options;
    const isPublic = options.withoutBranches !== undefined;
    const { names, order, beginnings } = repository.read(() => ({
      names: new NamePlan(repository, options, this.#notices),
      order: this.#checkinsInOrder(),
      beginnings: isPublic ? this.#findBeginnings() : new Map<number, number>(),
    }));
    [this.#names, this.#beginnings] = [names, beginnings];
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
      this.#write(`reset ${ref}\nfrom :${this.#inPlaceOf(rid)}\n\n`);
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
      branches: this.#names.branches,
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
    for (const { rid, content } of walkArtifacts(db, store)) {
      if (content === null || !wanted.has(rid)) continue;
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

  /**
   * Check-ins that change nothing but begin a branch, as Fossil makes them, by the check-in from
   * which it begins. A commit of Git that changes nothing is none of them.
   */
  #findBeginnings(): Map<number, number> {
    const rows = this.#repository.db.rows<{ rid: number; pid: number }>(
      `SELECT branch.rid, pid FROM tagxref AS branch JOIN event ON objid=branch.rid AND type='ci'
          JOIN plink ON cid=branch.rid AND isprim
        WHERE branch.tagid=${TAG.branch} AND branch.tagtype=2 AND branch.srcid=branch.rid
          AND comment='Create new branch named "'||branch.value||'"'
          AND NOT EXISTS(SELECT 1 FROM plink AS other WHERE other.cid=branch.rid AND NOT other.isprim)
          AND NOT EXISTS(SELECT 1 FROM mlink WHERE mid=branch.rid)
          AND pid IN (SELECT objid FROM event WHERE type='ci')`,
    );
    return new Map(rows.map(({ rid, pid }) => [rid, pid]));
  }

  /** The check-in itself, or what is written in its place. */
  #inPlaceOf(checkin: number): number {
    let rid = checkin;
    const seen = new Set<number>();
    for (let next = this.#beginnings.get(rid); next !== undefined && !seen.has(next);) {
      seen.add(next);
      rid = next;
      next = this.#beginnings.get(rid);
    }
    return rid;
  }

  /** Of check-ins in their order, those that the references reach and that are to be written. */
  #reached(order: readonly number[]): number[] {
    const tips = [...this.#names.refs(), ...this.#names.tags()];
    const reached = new Set(tips.map(({ rid }) => this.#inPlaceOf(rid)));
    for (const rid of order.toReversed()) {
      if (!reached.has(rid)) continue;
      for (const parent of this.#parentsWritten(rid)) reached.add(parent);
    }
    return order.filter((rid) => reached.has(rid));
  }

  /** The parents of a check-in in the stream. */
  #parentsWritten(rid: number): number[] {
    return [...new Set(this.#parents(rid).map((parent) => this.#inPlaceOf(parent)))];
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
    const checkin = this.#row(rid);
    const ref = this.#names.refOf(rid);
    const parents = this.#parentsWritten(rid).filter((parent) => written.has(parent));
    if (parents.length === 0) this.#write(`reset ${ref}\n`);
    this.#write(`commit ${ref}\nmark :${rid}\noriginal-oid ${checkin.uuid}\n`);
    const { author, committer, message } = this.#describe(checkin);
    this.#writePerson("author", author);
    this.#writePerson("committer", committer);
    this.#writeData(message);
    parents.forEach((parent, i) => this.#write(`${i === 0 ? "from" : "merge"} :${parent}\n`));
    this.#writeChanges(rid, written);
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
    this.#write(`data ${encodeUtf8(text).length}\n${text}\n`);
  }

  #row(rid: number): CheckinRow {
    const tag = "SELECT value FROM tagxref JOIN tag USING(tagid) WHERE rid=objid AND tagtype>0";
    return this.#repository.db.row<CheckinRow>(
      `SELECT objid AS rid, uuid, coalesce(omtime,event.mtime) AS day,
          euser, user, ecomment, comment,
          (${tag} AND tag.tagid=${TAG.date}) AS date,
          (${tag} AND tagname='${COMMIT_PROPERTY}') AS git
        FROM event JOIN blob ON rid=objid WHERE objid=?`,
      rid,
    )!;
  }

  /** The Git data of a check-in. An amendment overrides imported data. */
  #describe({ day, date, euser, user, ecomment, comment, git }: CheckinRow) {
    const amended = date === null ? null : parseDate(date);
    const person = this.#person(euser ?? user ?? "anonymous");
    const derived = signatureLine(person, amended ?? fromJulianDay(day));
    const kept = parseHeaders(git ?? "");
    const isAmended = amended !== null || euser !== null;
    const author = isAmended ? derived : kept.author ?? derived;
    const committer = isAmended ? derived : kept.committer ?? author;
    if (ecomment !== null) return { author, committer, message: `${ecomment}\n` };
    return { author, committer, message: kept.message ?? `${comment ?? ""}\n` };
  }

  #person(user: string): string {
    const known = this.#people.get(user);
    if (known !== undefined) return known;
    const select = "SELECT info FROM user WHERE login=?";
    const info = this.#repository.db.value<string | null>(select, user) ?? undefined;
    const person = personOf(user, info);
    this.#people.set(user, person);
    return person;
  }

  /** Deletions first: a path that was a folder may have become a file. */
  #writeChanges(rid: number, written: ReadonlySet<number>): void {
    const [primary] = this.#parents(rid);
    if (primary === undefined || !written.has(this.#inPlaceOf(primary))) {
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

  #writeFile(name: string, fid: number, mode: string): void {
    if (this.#contents.has(fid)) this.#write(`M ${mode} :${fid} ${formatPath(name)}\n`);
    else this.#notices.add("content", name, "The content of the file is not in the repository");
  }

  #writeTag({ name, rid, message, tagger, user, day }: GitTagOut): void {
    const derived = signatureLine(this.#person(user ?? "anonymous"), fromJulianDay(day));
    this.#write(`tag ${name}\nfrom :${this.#inPlaceOf(rid)}\n`);
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
