/** Writes the check-ins of commits. */
import { hexOf, MODE, type TreeEntry } from "../../../git/mod.ts";
import {
  type FileCard,
  type FileMode,
  type Manifest,
  MAX_TREE_FILES,
  type TagCard,
} from "../../artifact/mod.ts";
import { md5 } from "../../codec/mod.ts";
import { TAG } from "../../content/mod.ts";
import { ManifestFiles, manifestFiles } from "../../crosslink/mod.ts";
import { FossilError } from "../../error.ts";
import type { Repository } from "../../repository.ts";
import { TextMap, TextSet } from "../../text/mod.ts";
import { fileCards, manifestOf } from "../../write/mod.ts";
import { checkinOf, type CheckinText, type CommitText, commitTextOf } from "../commit.ts";
import { COMMIT_PROPERTY, formatHeaders } from "../headers.ts";
import { formatOverlay, type OverlayEntry, TREE_PROPERTY } from "../overlay.ts";
import { userOf } from "../person.ts";
import { decodeText, encodeText, readable } from "../stream/mod.ts";
import { cardsOf, type GitTree, isFossilPath, overlayOf, type TreeFile } from "../trees.ts";
import { wrapped } from "../wrapped.ts";
import type { PushBranch } from "./branches.ts";
import { parseCommit } from "../check.ts";
import { TreeComparison } from "./comparison.ts";
import { keyOf } from "./draft.ts";
import type { NewCommit } from "./history.ts";
import type { AllObjects } from "./known.ts";

/** The last millisecond of a second. */
const LAST_PART = 999;

const CARD_MODES: ReadonlyMap<number, FileMode> = new Map([
  [MODE.file, "file"],
  [MODE.executable, "executable"],
  [MODE.link, "link"],
]);

export interface CheckinWriterOptions {
  readonly repository: Repository;
  readonly objects: AllObjects;
  /** Unix milliseconds: no check-in is later. */
  readonly now: number;
  /** The names of the pusher: nobody else's login is the user of a check-in. */
  readonly pusher: readonly string[];
}

/** What is on a check-in beside its commit. */
export interface CheckinPlace {
  readonly branch: PushBranch;
  /** Further names by which descendants on the branch are found. */
  readonly aliases: readonly string[];
  readonly isClosed: boolean;
}

/** What a commit changes in a tree: the files that differ, in both; and modes of folders. */
interface TreeChanges {
  readonly before: GitTree;
  readonly after: GitTree;
  readonly folders: readonly OverlayEntry[];
}

/** Writes new commits as check-ins. Needs `write`. */
export class CheckinWriter {
  readonly #options: CheckinWriterOptions;
  readonly #comparison: TreeComparison;
  /** The artifacts of contents, by the names of these in Git. */
  readonly #artifacts = new Map<string, string>();
  /** The check-ins of new commits. */
  readonly #checkins = new Map<string, string>();
  /** The trees of new commits. */
  readonly #roots = new Map<string, Uint8Array>();

  constructor(options: CheckinWriterOptions) {
    this.#options = options;
    this.#comparison = new TreeComparison(options.objects);
  }

  /** The check-in of a commit: its hash. */
  checkinOf(commit: Uint8Array): string {
    const written = this.#checkins.get(keyOf(commit));
    if (written !== undefined) return written;
    const { objects: { companion }, repository } = this.#options;
    const id = this.#options.objects.placeOf(commit, "commit");
    return repository.store.hashOf(companion.graph.ridOf(id)) ?? "";
  }

  /**
   * Writes the check-in of a commit whose parents are there; returns its hash.
   *
   * @throws {FossilError} `invalid` if Fossil cannot hold something
   */
  write(commit: NewCommit, place: CheckinPlace): string {
    const { repository, objects } = this.#options;
    const parents = commit.parents.map((parent) => this.checkinOf(parent));
    const { before, after, folders } = this.#changes(commit);
    const { tail } = parseCommit(objects.get(commit.name)!.content);
    const { comment, user, date, value } = this.#describe(tail);
    const own = { target: null, sign: "+" } as const;
    const tags: TagCard[] = this.#branchTags(parents[0] ?? null, place);
    if (value !== "") tags.push({ ...own, name: COMMIT_PROPERTY, value });
    const overlay = formatOverlay([...overlayOf(after, before), ...folders]);
    if (overlay !== "") tags.push({ ...own, name: TREE_PROPERTY, value: overlay });
    if (place.isClosed) tags.push({ ...own, name: "closed", value: null });
    const cards = this.#cards(parents[0] ?? null, { before, after });
    const hash = repository.add({
      kind: "manifest",
      ...cards,
      comment,
      date: this.#dateAfter(parents, date),
      mimetype: null,
      parents,
      cherrypicks: [],
      checksum: parents.length === 0 && cards.files.length === 0 ? md5("") : null,
      tags,
      user,
    });
    objects.companion.noted.addHead(repository.ridOf(hash), manifestOf(repository, hash));
    this.#checkins.set(keyOf(commit.name), hash);
    this.#roots.set(keyOf(commit.name), commit.tree);
    return hash;
  }

  /** What a commit changes in the tree of its first parent. */
  #changes({ parents: [parent], tree }: NewCommit): TreeChanges {
    const folders: OverlayEntry[] = [];
    const before = new TextMap<TreeFile>();
    const after = new TextMap<TreeFile>();
    const root = parent === undefined ? null : this.#treeOf(parent);
    this.#comparison.compare(root, tree, {
      visit: (path, now, old) => {
        if (before.size + after.size > 2 * MAX_TREE_FILES) {
          throw new FossilError("limit", `A tree has more than ${MAX_TREE_FILES} files`);
        }
        if (old !== null) before.set(path, this.#fileOf(path, old));
        if (now !== null) after.set(path, this.#fileOf(path, now));
      },
      visitFolder: (path, zeros) => folders.push({ path, mode: MODE.folder, zeros, object: "" }),
    });
    return { before, after, folders };
  }

  /** The F cards of a check-in. */
  #cards(
    parent: string | null,
    { before, after }: Pick<TreeChanges, "before" | "after">,
  ): Pick<Manifest, "baseline" | "files"> {
    const { repository } = this.#options;
    const changed = cardsOf(after, before);
    const kept = new TextSet(changed.map(({ name }) => name));
    const gone = cardsOf(before, before).filter(({ name }) => !kept.has(name));
    const changes = [...changed, ...gone.map(goneCard)];
    const manifest = parent === null ? null : manifestOf(repository, parent);
    const files = manifest === null ? new ManifestFiles([]) : manifestFiles(repository, manifest);
    return fileCards(repository, { parent }, manifest, files.with(changes));
  }

  #treeOf(commit: Uint8Array): Uint8Array {
    const known = this.#roots.get(keyOf(commit));
    if (known !== undefined) return known;
    const { objects } = this.#options;
    const select = "SELECT tree.name FROM revision JOIN tree ON tree.id=tree WHERE revision.id=?";
    return objects.companion.db.value<Uint8Array>(select, objects.placeOf(commit, "commit"))!;
  }

  #fileOf(path: string, { mode, zeros = 0, object }: TreeEntry): TreeFile {
    if (mode === MODE.submodule || mode === MODE.folder) {
      return { hash: hexOf(object), mode: "file", origin: null, beyond: mode, zeros };
    }
    const card = CARD_MODES.get(mode);
    return {
      hash: this.#artifactOf(object),
      mode: card ?? "file",
      origin: null,
      beyond: card !== undefined && zeros === 0 && isFossilPath(path) ? null : mode,
      zeros,
    };
  }

  /** The artifact of a content, which this stores. */
  #artifactOf(name: Uint8Array): string {
    const key = keyOf(name);
    const known = this.#artifacts.get(key);
    if (known !== undefined) return known;
    const { repository, objects } = this.#options;
    const place = objects.placeOf(name, "blob");
    let rid = place;
    if (place === 0) {
      const { content } = objects.get(name)!;
      rid = repository.receive(wrapped(content)).rid;
      objects.companion.noted.addContent(rid, { name, size: content.length });
    }
    const hash = repository.store.hashOf(rid) ?? "";
    this.#artifacts.set(key, hash);
    return hash;
  }

  /** The text of a check-in, which gives back what the commit has. */
  #describe(tail: Uint8Array): CheckinText {
    const { now, repository } = this.#options;
    const text = readTail(tail);
    const shown = {
      author: readable(text.author).replaceAll("\0", ""),
      committer: readable(text.committer).replaceAll("\0", ""),
      further: text.further,
      message: readable(text.message).replaceAll("\0", ""),
    };
    const described = checkinOf({ ...shown, rest: null }, {
      latest: now,
      userFor: (person) => this.#userOf(person),
    });
    if (isExact(described, text)) return described;
    const content = encodeText(formatHeaders(text));
    const rest = repository.store.hashOf(repository.receive(content).rid) ?? "";
    return { ...described, value: formatHeaders({ rest }) };
  }

  #userOf(person: string): string {
    const user = userOf(person);
    const isLogin = !user.includes("<");
    const isOwn = this.#options.pusher.some((own) => own.toLowerCase() === user.toLowerCase());
    return isLogin && !isOwn ? person : user;
  }

  /**
   * The date of a check-in: within its second a little later than its parents, because the newest date
   * tells which check-in the name of a branch means.
   */
  #dateAfter(parents: readonly string[], date: number): number {
    const { repository } = this.#options;
    let result = date;
    for (const parent of parents) {
      const artifact = repository.artifact(repository.ridOf(parent));
      const earlier = artifact?.kind === "manifest" ? artifact.date : 0;
      if (earlier >= result && earlier < date + LAST_PART) result = earlier + 1;
    }
    return result;
  }

  /** The tags that put a check-in on its branch; none if it continues the branch of its parent. */
  #branchTags(
    parent: string | null,
    { branch: { name, value }, aliases }: CheckinPlace,
  ): TagCard[] {
    const { db, store } = this.#options.repository;
    const rid = parent === null ? 0 : store.ridOf(parent);
    const select = "SELECT value FROM tagxref WHERE tagid=? AND rid=? AND tagtype>0";
    if (rid !== 0 && db.value<string>(select, TAG.branch, rid) === name) return [];
    const names = db.rows<{ name: string }>(
      "SELECT tagname AS name FROM tagxref JOIN tag USING(tagid) WHERE rid=? AND tagtype=2 " +
        "AND tagname GLOB 'sym-*'",
      rid,
    );
    const own = new Set([name, ...aliases].map((one) => `sym-${one}`));
    return [
      { sign: "*", name: "branch", target: null, value: name },
      { sign: "*", name: `sym-${name}`, target: null, value },
      ...aliases.map((alias): TagCard => {
        return { sign: "*", name: `sym-${alias}`, target: null, value: null };
      }),
      ...names.filter((one) => !own.has(one.name)).map((one): TagCard => {
        return { sign: "-", name: one.name, target: null, value: null };
      }),
    ];
  }
}

/** The card of a file that is gone, which says nothing but its name. */
function goneCard({ name }: FileCard): FileCard {
  return { name, hash: null, mode: "file", oldName: null };
}

const HEAD = /^author ([^\n]*)\ncommitter ([^\n]*)\n((?:[^\n]+\n)*)\n/;

type TailText = Pick<CommitText, "author" | "committer" | "further" | "message">;

/** What a commit has beside its tree and parents. */
function readTail(tail: Uint8Array): TailText {
  const text = decodeText(tail);
  const [head, author, committer, further] = HEAD.exec(text) ?? [];
  if (head === undefined) {
    throw new FossilError("invalid", "A commit has no empty line before its message");
  }
  return {
    author: author!,
    committer: committer!,
    further: further!,
    message: text.slice(head.length),
  };
}

/** Whether a check-in gives back the text of a commit. */
function isExact({ comment, user, date, value }: CheckinText, text: TailText): boolean {
  const card = { target: null, sign: "+", name: COMMIT_PROPERTY, value } as const;
  const cards = { comment, user, date, tags: value === "" ? [] : [card] };
  const given = commitTextOf(cards, () => new Uint8Array(0));
  return value.isWellFormed() && given.author === text.author &&
    given.committer === text.committer && given.further === text.further &&
    given.message === text.message;
}
