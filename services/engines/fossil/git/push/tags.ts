/** Stores the tags of a push, in the form that an import writes. */
import { bytesOfName, hexOf } from "../../../git/mod.ts";
import { nameFault } from "../../artifact/mod.ts";
import { encodeUtf8 } from "../../codec/mod.ts";
import type { Repository } from "../../repository.ts";
import { type TagChange, writeTags } from "../../write/mod.ts";
import {
  formatHeaders,
  formatMoves,
  formatRefs,
  REFS_PROPERTY,
  TAG_PROPERTY,
  withoutLastEnds,
} from "../headers.ts";
import { decodeText } from "../stream/mod.ts";
import { MAX_NESTED } from "../listing.ts";
import type { PushBranches } from "./branches.ts";
import { PushedListing } from "./listing.ts";
import { parseTag } from "../check.ts";
import type { AllObjects } from "./known.ts";

const TAGS = "refs/tags/";
const SYMBOLIC = "sym-";

export interface PushedTagsOptions {
  readonly objects: AllObjects;
  readonly repository: Repository;
  readonly branches: Pick<PushBranches, "has">;
  readonly pusher: string;
  /** Unix milliseconds. */
  readonly now: number;
}

/** Stores tags. Needs `write`. */
export class PushedTags {
  readonly #options: PushedTagsOptions;

  constructor(options: PushedTagsOptions) {
    this.#options = options;
  }

  /** The commit that an object is, or that a tag is of at last; null if there is none. */
  static commitOf(objects: AllObjects, name: Uint8Array): string | null {
    let next = name;
    for (let nested = 0; nested <= MAX_NESTED; nested++) {
      const object = objects.get(next);
      if (object?.kind === "commit") return hexOf(next);
      if (object?.kind !== "tag") return null;
      next = parseTag(object.content).object;
    }
    return null;
  }

  /**
   * Puts a tag on what it is of, and takes it from where it was.
   *
   * @param to the name of an object; null if the tag is deleted
   * @param checkinOf the check-in of a commit
   * @returns the artifact
   * @throws {GitError} too many tags are between it and what it is of
   */
  set(ref: string, to: string | null, checkinOf: (commit: Uint8Array) => string): string {
    const { objects, repository, pusher: user, now: date } = this.#options;
    const commit = to === null ? null : plainTarget(objects, bytesOfName(to));
    const listing = to === null || commit !== null
      ? null
      : new PushedListing(repository, objects, checkinOf).write(bytesOfName(to));
    const changes = [...this.#removal(ref), ...this.#move(ref, listing)];
    if (to !== null && commit !== null) {
      const target = checkinOf(commit);
      const added = this.#addition(ref, to, target);
      const isThere = ({ name }: TagChange) =>
        added.some((one) => one.name === name && one.target === target);
      const kept = changes.filter((change) => change.target !== target || !isThere(change));
      return writeTags(repository, { user, date, changes: [...kept, ...added] });
    }
    return writeTags(repository, { user, date, changes });
  }

  #addition(ref: string, to: string, target: string): TagChange[] {
    const { objects } = this.#options;
    const name = this.#nameOf(ref);
    const own = name === ref.slice(TAGS.length) ? {} : { ref: formatRefs([ref]) };
    const tag = { sign: "+", name: SYMBOLIC + name, target } as const;
    const property = { sign: "+", name: TAG_PROPERTY + name, target } as const;
    const object = objects.get(bytesOfName(to))!;
    if (object.kind === "commit") {
      const value = formatHeaders(own);
      return value === "" ? [tag] : [tag, { ...property, value }];
    }
    const { tagger, further, message } = parseTag(object.content);
    const text = withoutLastEnds(message.toWellFormed().replaceAll("\0", ""));
    const value = text.trim() === "" ? null : text;
    const kept = this.#isPlain(ref, object.content)
      ? {
        tagger: tagger ?? "",
        ...further === "" ? {} : { further },
        ...value === null || message === `${value}\n` ? {} : { message },
      }
      : { rest: this.#keep(object.content) };
    return [
      { ...tag, ...value === null ? {} : { value } },
      { ...property, value: formatHeaders({ ...own, ...kept }) },
    ];
  }

  /** Whether its texts alone tell a tag. */
  #isPlain(ref: string, content: Uint8Array): boolean {
    const { object, name, tagger, further, message } = parseTag(content);
    if (TAGS + name !== ref || message.includes("\0")) return false;
    const line = tagger === null ? "" : `tagger ${tagger}\n`;
    const text = `object ${hexOf(object)}\ntype commit\ntag ${name}\n${line}${further}\n${message}`;
    const bytes = encodeUtf8(text);
    return bytes.length === content.length && bytes.every((byte, at) => byte === content[at]);
  }

  /** Stores what a tag has behind its target; returns the artifact. */
  #keep(content: Uint8Array): string {
    const { repository } = this.#options;
    const start = /^object [0-9a-f]{40}\ntype commit\n/.exec(decodeText(content))![0].length;
    return repository.store.hashOf(repository.receive(content.slice(start)).rid) ?? "";
  }

  /** The name in Fossil of a tag: its own, unless a branch has it or it means something else. */
  #nameOf(ref: string): string {
    const own = ref.slice(TAGS.length);
    const isBranch = this.#options.branches.has(own);
    return isBranch || nameFault(own) !== null ? `tags/${own}` : own;
  }

  /**
   * Moves a tag from a list of objects, or to one.
   *
   * @param listing the artifact; null for none
   */
  #move(ref: string, listing: string | null): TagChange[] {
    const { objects: { companion }, repository: { store } } = this.#options;
    const select = "SELECT number, rid FROM move WHERE ref=?";
    const last = companion.db.row<{ number: number; rid: number }>(select, ref);
    const target = listing ?? store.hashOf(last?.rid ?? 0);
    if (target === undefined) return [];
    const number = 1 + (last?.number ?? 0);
    const value = formatMoves({ number, isGone: listing === null, refs: [ref] });
    return [{ sign: "+", name: REFS_PROPERTY, target, value }];
  }

  /** What takes a tag from where it is. */
  #removal(ref: string): TagChange[] {
    const { repository: { db } } = this.#options;
    const own = ref.slice(TAGS.length);
    const names = [own, `tags/${own}`];
    return db.rows<{ name: string; target: string }>(
      `SELECT tagname AS name, uuid AS target FROM tagxref JOIN tag USING(tagid) JOIN blob USING(rid)
        WHERE tagtype=1 AND tagname IN (SELECT value FROM json_each(?))`,
      JSON.stringify(names.flatMap((name) => [SYMBOLIC + name, TAG_PROPERTY + name])),
    ).map(({ name, target }) => ({ sign: "-", name, target }));
  }
}

/** The commit that is an object, or of which it is a tag; null if it is something else. */
function plainTarget(objects: AllObjects, name: Uint8Array): Uint8Array | null {
  const object = objects.get(name);
  if (object?.kind === "commit") return name;
  if (object?.kind !== "tag") return null;
  const tag = parseTag(object.content);
  return tag.type === "commit" ? tag.object : null;
}
