/** Artifacts that are well formed and say what no honest program would. */
import {
  type Artifact,
  formatArtifact,
  FossilError,
  type Repository,
  type TagCard,
} from "../../../../../services/engines/fossil/mod.ts";
import { encode } from "./fossil.ts";
import { History } from "./history.ts";
import { Random } from "./random.ts";

const TAGS = ["branch", "sym-trunk", "closed", "parent", "date", "comment", "user", "bgcolor"];
const MORE_TAGS = ["cluster", "private", "hidden", "note", "wiki-Home", "event-x", "sym-", "x"];
const DATES = [0, -62_167_219_200_000, 253_402_300_799_999, History.start, History.start + 1];
const TEXTS = ["", "'; DROP TABLE blob; --", "\u0001\ufffd", "9999999999999999", "x ".repeat(999)];
const PATHS = ["a", "a/b", "a/b/c", "A", "-rf", " ", "\\", "ü"];

/** Makes artifacts that speak of each other, of files, of what is not here, and of nothing. */
export class Mallory {
  readonly #repository: Repository;
  readonly #random: Random;
  readonly #hashes = ["f".repeat(40), "0".repeat(64)];
  readonly #ids = ["1".repeat(40), "2".repeat(40)];

  constructor(repository: Repository, seed: number) {
    this.#repository = repository;
    this.#random = new Random(seed);
    const rows = repository.db.rows<{ uuid: string }>("SELECT uuid FROM blob ORDER BY rid");
    this.#hashes.push(...rows.map(({ uuid }) => uuid));
  }

  /** Sends artifacts until there are so many, each in a transaction of its own. */
  send(count: number): void {
    while (this.#hashes.length < count) {
      const content = this.#content();
      if (content === null) continue;
      const hash = this.#repository.write({ user: "mallory", ip: null }, () => {
        const { rid } = this.#repository.receive(content);
        return this.#repository.store.hashOf(rid) ?? "";
      });
      this.#hashes.push(hash);
    }
  }

  /** Null if the invented value cannot be expressed at all. */
  #content(): Uint8Array | null {
    if (this.#random.below(8) === 0) return encode(`file ${this.#hashes.length}`);
    try {
      return formatArtifact(this.#artifact());
    } catch (error) {
      if (!(error instanceof FossilError)) throw error;
      return null;
    }
  }

  #hash(): string {
    return this.#random.pick(this.#hashes);
  }

  #some<T>(make: () => T, most = 3): T[] {
    return Array.from({ length: this.#random.below(most + 1) }, make);
  }

  #text(): string {
    const isList = this.#random.below(3) === 0;
    return isList ? this.#some(() => this.#hash()).join(" ") : this.#random.pick(TEXTS);
  }

  #tag(target: string | null): TagCard {
    const name = this.#random.pick([...TAGS, ...TAGS, ...MORE_TAGS]);
    const value = this.#random.below(2) === 0 ? null : this.#text();
    return { sign: this.#random.pick(["+", "*", "-"] as const), name, target, value };
  }

  #artifact(): Artifact {
    const date = this.#random.pick(DATES);
    const user = this.#random.pick(["mallory", "alice", "x y"]);
    const parents = [...new Set(this.#some(() => this.#hash()))];
    const base = { date, user, mimetype: null };
    switch (this.#random.pick([0, 0, 0, 1, 2, 2, 2, 3, 4, 5, 6, 7])) {
      case 0:
        return this.#checkin({ ...base, parents });
      case 1:
        return { kind: "cluster", members: [this.#hash()] };
      case 2: {
        const tags = [this.#tag(this.#hash())];
        return { kind: "control", date, user, tags };
      }
      case 3: {
        const title = this.#random.pick(["Home", "Other"]);
        return { kind: "wiki", ...base, comment: null, title, parents, text: this.#text() };
      }
      case 4: {
        const name = this.#random.pick(["title", "status", "icomment", "tkt_id", "rid", "ünknown"]);
        const field = { name, value: this.#text(), append: this.#random.below(2) === 0 };
        return {
          kind: "ticket",
          date,
          user,
          ticket: this.#random.pick(this.#ids),
          fields: [field],
        };
      }
      case 5: {
        const target = this.#random.pick(["Home", ...this.#ids, this.#hash()]);
        const source = this.#random.below(3) === 0 ? null : this.#hash();
        return { kind: "attachment", ...base, comment: null, name: "a", target, source };
      }
      case 6: {
        const id = this.#random.pick(this.#ids);
        const tags: TagCard[] = [];
        const note = { id, eventDate: date, comment: this.#text(), tags, text: this.#text() };
        return { kind: "technote", ...base, ...note, parents: parents.slice(0, 1) };
      }
      default: {
        const place = this.#random.below(2) === 0
          ? { title: "T", root: null, inReplyTo: null }
          : { title: null, root: this.#hash(), inReplyTo: this.#hash() };
        const text = this.#text();
        return { kind: "forum", ...base, ...place, parents: parents.slice(0, 1), text };
      }
    }
  }

  #checkin(base: { date: number; user: string; mimetype: null; parents: string[] }): Artifact {
    const isDelta = this.#random.below(3) === 0;
    const paths = PATHS.filter(() => this.#random.below(3) === 0);
    const files = paths.map((name) => ({
      name,
      hash: isDelta && this.#random.below(4) === 0 ? null : this.#hash(),
      mode: this.#random.pick(["file", "executable", "link"] as const),
      oldName: this.#random.below(4) === 0 ? this.#random.pick(PATHS) : null,
    }));
    const cherrypicks = this.#some(() => ({
      hash: this.#hash(),
      backout: this.#random.below(2) === 0,
      base: null,
    }), 1);
    const target = this.#random.below(3) === 0 ? this.#hash() : null;
    return {
      kind: "manifest",
      ...base,
      baseline: isDelta ? this.#hash() : null,
      comment: this.#text(),
      files: files.map((card) => card.hash === null ? { ...card, oldName: null } : card),
      cherrypicks,
      checksum: null,
      tags: this.#some(() => this.#tag(target), 1),
    };
  }
}
