import { encodeUtf8, fromJulianDay, parseDate } from "../codec/mod.ts";
import { TAG, walkArtifacts } from "../content/mod.ts";
import { filesOf } from "../crosslink/mod.ts";
import type { Repository } from "../repository.ts";
import { COMMIT_PROPERTY, parseHeaders } from "./headers.ts";
import { NoticeLog } from "./notices.ts";
import { personOf, signatureLine } from "./person.ts";
import { type GitTagOut, NamePlan } from "./refs.ts";
import { formatPath } from "./stream/mod.ts";
import type { GitExportOptions, GitExportReport } from "./types.ts";

/** Characters of text to collect for one piece. */
const PIECE_LENGTH = 64 * 1024;
/** Steps between two calls of the progress function. */
const PROGRESS_STEP = 200;
/** Modes of Git by `mlink.mperm`, and by ours. */
const MODES = ["100644", "100755", "120000"] as const;
const MODE_OF = { file: MODES[0], executable: MODES[1], link: MODES[2] } as const;

/**
 * Writes a stream for `git fast-import`: all check-ins with their trees, messages, authors, dates
 * and parents; branches and tags. Imports of `importGit` come out unchanged, except for signatures.
 * In check-ins made in Fossil, the user is both author and committer. The stream has the amended
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
  readonly #people = new Map<string, string>();
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
    const read = () => new NamePlan(repository, options.mainBranch, this.#notices);
    [this.#names, this.#order] = repository.read(() => [read(), this.#checkinsInOrder()]);
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
    const piece = encodeUtf8(this.#text.join(""));
    this.#text = [];
    this.#length = 0;
    this.#bytes += piece.length;
    return piece;
  }

  /** Every content that any check-in has, along the delta chains. The mark is the row. */
  *#writeContents(): Generator<Uint8Array> {
    const { db, store } = this.#repository;
    this.#write("feature done\n");
    const wanted = new Set(
      db.rows<{ fid: number }>("SELECT DISTINCT fid FROM mlink WHERE fid>0").map(({ fid }) => fid),
    );
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
    const parents = this.#parents(rid).filter((parent) => written.has(parent));
    if (parents.length === 0) this.#write(`reset ${ref}\n`);
    this.#write(`commit ${ref}\nmark :${rid}\noriginal-oid ${checkin.uuid}\n`);
    const { author, committer, message } = this.#describe(checkin);
    this.#write(`author ${author}\ncommitter ${committer}\n`);
    this.#writeData(message);
    parents.forEach((parent, i) => this.#write(`${i === 0 ? "from" : "merge"} :${parent}\n`));
    this.#writeChanges(rid, written);
    this.#write("\n");
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
    const primary = this.#parents(rid)[0];
    if (primary === undefined || !written.has(primary)) return this.#writeTree(rid);
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
    this.#write(`tag ${name}\nfrom :${rid}\n`);
    if (tagger !== "") this.#write(`tagger ${tagger ?? derived}\n`);
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
