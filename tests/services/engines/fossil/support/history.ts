/** Random histories with every kind of artifact, made with the engine's own writing functions. */
import {
  amendCheckin,
  type Amendment,
  cancelRelease,
  type FileCard,
  type FileChange,
  filesOf,
  type Repository,
  writeAttachment,
  writeBranch,
  writeCheckin,
  writeForumPost,
  writeRelease,
  writeTags,
  writeTechnote,
  writeTicketChange,
  writeWiki,
} from "../../../../../services/engines/fossil/mod.ts";
import { encode } from "./fossil.ts";
import { Random } from "./random.ts";

const START = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
const FOLDERS = ["", "src/", "dir with space/", "ünï/😀/", "\ue000/"];
const TITLES = ["Home", "Seite ü", "A & B <c>", "Page 4"];

/**
 * Makes one random history in a repository.
 *
 * Where a check-in inherits a tag and an older card speaks of the same tag, Fossil's own result
 * depends on which of the two it saw first; `rivals: false` makes no such cards.
 */
export class History {
  readonly #repository: Repository;
  readonly #rivals: boolean;
  readonly #random: Random;
  #now = START;
  #serial = 0;
  readonly #checkins: string[];
  readonly #tickets: string[] = [];
  readonly #notes: string[] = [];
  readonly #posts: string[] = [];

  constructor(repository: Repository, seed: number, options: { rivals?: boolean } = {}) {
    this.#repository = repository;
    this.#rivals = options.rivals ?? true;
    this.#random = new Random(seed);
    this.#checkins = [this.#newestCheckin()];
  }

  /** The moment of the first check-in. */
  static readonly start = START;

  /**
   * Does a number of random things, and each thing at least once.
   *
   * @param then is called after each
   */
  run(steps: number, then: () => void = () => {}): void {
    const deeds = [
      () => this.#commit(),
      () => this.#commit(),
      () => this.#commit(),
      () => this.#branch(),
      () => this.#merge(),
      () => this.#cherrypick(),
      () => this.#deltaManifest(),
      () => this.#tag(),
      () => this.#release(),
      () => this.#amend(),
      () => this.#wiki(),
      () => this.#ticket(),
      () => this.#technote(),
      () => this.#attach(),
      () => this.#forum(),
    ];
    for (let i = 0; i < Math.max(steps, deeds.length); i++) {
      const deed = deeds[i] ?? this.#random.pick(deeds);
      deed();
      then();
    }
  }

  #author() {
    const gaps = [40, 700, 1500, 30_000, 4_000_000];
    this.#now += this.#random.pick(gaps) + this.#random.below(100);
    return { user: this.#random.pick(["alice", "bob", "Zoë"]), date: this.#now };
  }

  #newestCheckin(): string {
    return this.#repository.db.value<string>(
      "SELECT uuid FROM event JOIN blob ON rid=objid WHERE type='ci' ORDER BY objid DESC LIMIT 1",
    ) ?? "";
  }

  #leaf(): string {
    const leaves = this.#repository.db.rows<{ uuid: string }>(
      "SELECT uuid FROM leaf JOIN blob USING(rid) ORDER BY rid",
    );
    return this.#random.pick(leaves).uuid;
  }

  /** Text that often has links in it. */
  #text(): string {
    const hash = this.#random.pick(this.#checkins).slice(0, this.#random.pick([6, 10, 40, 64]));
    const forms = [
      `see [${hash}]`,
      `see [${hash}|this] and [/info/${hash}]`,
      `a [link](${hash}) and \`[code](${hash})\``,
      `<nowiki>[${hash}]</nowiki> it's "quoted" & <b>bold</b>`,
      `[text][ref]\n\n[ref]: ${hash}\n`,
      "plain — ünïcode 😀",
    ];
    return `${this.#random.pick(forms)} ${++this.#serial}\n`;
  }

  #files(checkin: string): FileCard[] {
    const manifest = this.#repository.artifact(this.#repository.ridOf(checkin));
    if (manifest?.kind !== "manifest") throw new Error("no check-in");
    return filesOf(this.#repository, manifest);
  }

  #content(): Uint8Array {
    const lines = Array.from({ length: this.#random.below(30) }, (_, i) => `line ${i} of a file`);
    lines[this.#random.below(20)] = `changed ${++this.#serial}`;
    return encode(lines.join("\n"));
  }

  #changes(checkin: string): FileChange[] {
    const files = this.#files(checkin);
    const path = `${this.#random.pick(FOLDERS)}file${++this.#serial}.txt`;
    const changes: FileChange[] = [{ kind: "write", path, content: this.#content() }];
    const [first, second, third] = this.#random.shuffle(files);
    if (first && this.#random.below(3) > 0) {
      changes.push({ kind: "write", path: first.name, content: this.#content() });
    }
    if (second && this.#random.below(3) === 0) changes.push({ kind: "delete", path: second.name });
    if (third && this.#random.below(3) === 0) {
      const content = this.#random.below(2) === 0 ? {} : { content: this.#content() };
      const mode = this.#random.below(3) === 0 ? { mode: "executable" as const } : {};
      changes.push({
        kind: "move",
        from: third.name,
        path: `moved/${this.#serial}`,
        ...content,
        ...mode,
      });
    }
    return changes;
  }

  #commit(): void {
    const parent = this.#leaf();
    const options = {
      allowFork: true,
      allowOlder: true,
      tags: this.#random.below(4) === 0 ? [`v${this.#serial}`] : [],
    };
    const comment = this.#text();
    this.#checkins.push(writeCheckin(this.#repository, {
      ...this.#author(),
      parent,
      comment,
      changes: this.#changes(parent),
      ...options,
    }));
  }

  #branch(): void {
    const from = this.#random.pick(this.#checkins);
    const name = `branch ${++this.#serial}`;
    const color = this.#random.below(2) === 0 ? { color: "#ff0000" } : {};
    this.#checkins.push(writeBranch(this.#repository, { ...this.#author(), from, name, ...color }));
  }

  #merge(): void {
    const [parent, other] = [this.#leaf(), this.#random.pick(this.#checkins)];
    if (parent === other) return;
    const own = new Set(this.#files(parent).map((card) => card.name));
    const added = this.#files(other).filter((card) => !own.has(card.name)).slice(0, 2);
    const changes = added.map(({ name, hash }): FileChange => ({
      kind: "write",
      path: name,
      content: this.#repository.store.require(this.#repository.ridOf(hash ?? "")),
    }));
    this.#checkins.push(writeCheckin(this.#repository, {
      ...this.#author(),
      parent,
      merged: [other],
      integrated: this.#random.below(2) === 0 ? [other] : [],
      comment: "merge",
      changes: [...changes, ...this.#changes(parent).slice(0, 1)],
      allowFork: true,
      allowOlder: true,
    }));
  }

  #cherrypick(): void {
    const [parent, hash] = [this.#leaf(), this.#random.pick(this.#checkins)];
    this.#checkins.push(writeCheckin(this.#repository, {
      ...this.#author(),
      parent,
      comment: "cherry-pick",
      cherrypicks: [{ hash, backout: this.#random.below(2) === 0, base: null }],
      changes: this.#changes(parent),
      allowFork: true,
      allowOlder: true,
    }));
  }

  /** A check-in whose manifest says only what differs from another one; we only ever read these. */
  #deltaManifest(): void {
    const repository = this.#repository;
    const parent = this.#leaf();
    const manifest = repository.artifact(repository.ridOf(parent));
    if (manifest?.kind !== "manifest") return;
    const baseline = manifest.baseline ?? parent;
    const base = new Map(this.#files(baseline).map((card) => [card.name, card]));
    const files = this.#files(parent);
    const { user, date } = this.#author();
    const hash = repository.write({ user, ip: null }, () => {
      const { rid } = repository.receive(this.#content());
      const name = `delta${++this.#serial}`;
      const now = [
        ...files.slice(1),
        { name, hash: repository.store.hashOf(rid) ?? "", mode: "file", oldName: null } as const,
      ];
      const changed = now.filter((card) =>
        base.get(card.name)?.hash !== card.hash || base.get(card.name)?.mode !== card.mode
      );
      const names = new Set(now.map((card) => card.name));
      const gone = [...base.keys()].filter((old) => !names.has(old))
        .map((old) => ({ name: old, hash: null, mode: "file", oldName: null } as const));
      return repository.add({
        ...manifest,
        baseline,
        comment: this.#text(),
        date,
        files: [...changed.map((card) => ({ ...card, oldName: null })), ...gone],
        parents: [parent],
        cherrypicks: [],
        checksum: null,
        tags: [],
        user,
      });
    });
    this.#checkins.push(hash);
  }

  #tag(): void {
    const target = this.#random.pick(this.#checkins);
    const sign = this.#random.pick(["+", "*", "-"] as const);
    const value = this.#random.below(2) === 0 && sign !== "-"
      ? { value: `it's ${++this.#serial}` }
      : {};
    const shared = this.#random.pick(["sym-release", "note", "hidden", "sym-x & y", "other"]);
    const name = this.#rivals ? shared : `sym-x & ${++this.#serial}`;
    writeTags(this.#repository, { ...this.#author(), changes: [{ sign, name, target, ...value }] });
  }

  #release(): void {
    const name = `r${1 + this.#random.below(3)}`;
    const isTaken = this.#repository.db.exists(
      "SELECT 1 FROM tagxref JOIN tag USING(tagid) WHERE tagname=? AND tagtype=1",
      `sym-${name}`,
    );
    if (isTaken && this.#random.below(3) === 0) {
      cancelRelease(this.#repository, { ...this.#author(), name });
      return;
    }
    const message = this.#random.below(2) === 0 ? {} : { message: this.#text() };
    const checkin = this.#random.pick(this.#checkins);
    writeRelease(this.#repository, { ...this.#author(), name, checkin, ...message, move: true });
  }

  #amend(): void {
    const checkin = this.#random.pick(this.#checkins);
    const amendments: Partial<Amendment>[] = [
      { comment: this.#text() },
      { newUser: "carol" },
      { newDate: START - 1_000_000 * this.#random.below(100) },
      { color: this.#random.pick(["#00ff00", null]) },
      { closed: this.#random.below(2) === 0 },
    ];
    if (this.#rivals) {
      amendments.push({ hidden: this.#random.below(2) === 0 }, {
        branch: `moved ${++this.#serial}`,
      });
    }
    amendCheckin(this.#repository, {
      ...this.#author(),
      checkin,
      ...this.#random.pick(amendments),
    });
  }

  #wiki(): void {
    const mimetype = this.#random.pick([{}, { mimetype: "text/x-markdown" }, {
      mimetype: "text/plain",
    }]);
    const text = this.#random.below(6) === 0 ? "" : this.#text().repeat(3);
    writeWiki(this.#repository, {
      ...this.#author(),
      title: this.#random.pick(TITLES),
      text,
      ...mimetype,
    });
  }

  #ticket(): void {
    const isNew = this.#tickets.length === 0 || this.#random.below(3) === 0;
    const known = isNew ? {} : { ticket: this.#random.pick(this.#tickets) };
    const title = { name: "title", value: `It's <${++this.#serial}>`, append: false };
    const status = { name: "status", value: this.#random.pick(["Open", "Fixed"]), append: false };
    const remark = { name: "icomment", value: this.#text(), append: false };
    const mimetype = { name: "mimetype", value: "text/x-markdown", append: false };
    const more = { name: "comment", value: this.#text(), append: !isNew };
    const fields = isNew
      ? [title, status, more]
      : this.#random.pick([[status], [remark, mimetype], [status, remark], [more]]);
    const { ticket } = writeTicketChange(this.#repository, { ...this.#author(), ...known, fields });
    if (isNew) this.#tickets.push(ticket);
  }

  #technote(): void {
    const isNew = this.#notes.length === 0 || this.#random.below(2) === 0;
    const known = isNew ? {} : { id: this.#random.pick(this.#notes) };
    const { id } = writeTechnote(this.#repository, {
      ...this.#author(),
      ...known,
      eventDate: this.#now + 5_000_000,
      comment: this.#text(),
      text: this.#text().repeat(4),
      mimetype: "text/x-markdown",
      tags: this.#random.below(2) === 0 ? ["news"] : [],
      ...(this.#random.below(2) === 0 ? { color: "#0000ff" } : {}),
    });
    if (isNew) this.#notes.push(id);
  }

  #attach(): void {
    const titles = this.#repository.db.rows<{ title: string }>(
      "SELECT substr(tagname,6) AS title FROM tag WHERE tagname GLOB 'wiki-*'",
    ).map((row) => row.title);
    const target = this.#random.pick([...titles, ...this.#tickets, ...this.#notes]);
    const removes = this.#random.below(4) === 0 && !this.#notes.includes(target);
    const content = removes ? null : this.#content();
    const name = this.#random.pick(["log.txt", "a & b.png"]);
    writeAttachment(this.#repository, { ...this.#author(), target, name, content, comment: "c" });
  }

  #forum(): void {
    const author = this.#author();
    const text = this.#text();
    const answers = this.#posts.length > 0 && this.#random.below(3) > 0;
    const place = answers
      ? { inReplyTo: this.#random.pick(this.#posts) }
      : { title: `Q ${++this.#serial}: it's <odd>` };
    const hash = writeForumPost(this.#repository, {
      ...author,
      place,
      text,
      mimetype: "text/x-markdown",
    });
    const edited = this.#random.below(3) === 0;
    if (!edited) {
      this.#posts.push(hash);
      return;
    }
    const title = answers ? {} : { title: `Q ${++this.#serial}, edited` };
    const edits = {
      ...this.#author(),
      place: { edits: hash, ...title },
      text: this.#random.below(3) === 0 ? "" : this.#text(),
    };
    writeForumPost(this.#repository, edits);
  }
}
