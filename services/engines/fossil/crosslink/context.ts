import { BoundedMap } from "../../../kernel/bounded_map.ts";
import { type Artifact, KnownFiles, type Manifest, parseArtifact } from "../artifact/mod.ts";
import {
  AWAITED_SCHEMA,
  type Config,
  type ContentStore,
  type Database,
  UNJUDGED_SCHEMA,
} from "../content/mod.ts";
import { TextMap, TextSet } from "../text/mod.ts";

/** Most bytes of artifacts whose parsed form is cached. */
const CACHE_BYTES = 8 * 1024 * 1024;
/** What a small artifact counts at least: parsed, it takes several times its bytes. */
const LEAST_BYTES = 8 * 1024;
/** Most file names whose ids are cached. */
const MAX_FILE_NAMES = 100_000;

/** A check-in whose child is so close in time that the timeline may have to nudge it. */
export interface Nudge {
  /** Julian day of the check-in, as its own date says. */
  readonly start: number;
  /** Julian day by which the timeline sorts it. */
  time: number;
  readonly child: number;
  /** Julian day of the child, null if the child needs no nudge itself. */
  childTime: number | null;
}

/** Work of a transaction that must wait for its last artifact. */
export class Pending {
  /** Rows of the changes that were linked, by ticket; null to make the ticket again from all. */
  readonly tickets = new Map<string, Set<number> | null>();
  readonly wikiTitles = new TextSet();
  readonly leaves = new Set<number>();
  /** By check-in. */
  readonly nudges = new Map<number, Nudge>();
  /** Check-ins that were linked. */
  readonly checkins = new Set<number>();
  /** Check-ins whose file changes against every parent are in `mlink`. */
  readonly complete = new Set<number>();
}

/** Sees the row of an artifact and the id of a tag before the tag changes there. */
export type TagObserver = (rid: number, tag: number) => void;

/** An artifact in its parsed form, with the size of its text. */
interface CachedArtifact {
  readonly artifact: Artifact;
  readonly bytes: number;
}

/** The shared state of all crosslinking functions. */
export class LinkContext {
  readonly db: Database;
  readonly config: Config;
  readonly store: ContentStore;
  readonly pending = new Pending();
  readonly files = new KnownFiles();
  readonly unjudged: Unjudged;
  /**
   * How often something else was done to `plink`, `mlink` and the times of `event` than adding rows,
   * or to tickets than changing them, or missing content arrived, by anybody.
   */
  relinked = 0;
  /** Called before a tag changes, by a card or by inheritance; null if nobody asks. */
  onTag: TagObserver | null = null;
  readonly #artifacts = new BoundedMap<number, CachedArtifact>({
    most: CACHE_BYTES,
    mostOfOne: CACHE_BYTES / 2,
    weigh: ({ bytes }) => bytes,
  });
  readonly #fileNames = new TextMap<number>();
  /** Whether a check-in waits for a cherry-picked one; null if unknown. */
  #hasAwaiting: boolean | null = null;

  constructor(db: Database, config: Config, store: ContentStore) {
    this.db = db;
    this.config = config;
    this.store = store;
    this.unjudged = new Unjudged(db);
  }

  dropCaches(): void {
    this.#artifacts.clear();
    this.#fileNames.clear();
    this.#hasAwaiting = null;
    this.unjudged.forget();
    for (const work of Object.values(this.pending)) work.clear();
    this.relinked++;
  }

  /** The artifact of a row; null for a file and for missing content. */
  artifact(rid: number): Artifact | null {
    const known = this.#artifacts.get(rid);
    if (known !== undefined) return known.artifact;
    const content = rid === 0 ? null : this.store.get(rid);
    return content === null ? null : this.parse(rid, content);
  }

  /** Parses content, unless the artifact is cached, and caches the artifact. */
  parse(rid: number, content: Uint8Array, parsed?: Artifact): Artifact | null {
    const known = this.#artifacts.get(rid);
    if (known !== undefined) return known.artifact;
    const artifact = parsed ?? parseArtifact(content, { files: this.files });
    if (artifact !== null) {
      this.#artifacts.set(rid, { artifact, bytes: Math.max(content.length, LEAST_BYTES) });
    }
    return artifact;
  }

  /** Drops the content of an artifact that is not linked, and keeps its name. */
  forget(rid: number): void {
    this.#artifacts.delete(rid);
    this.store.forget(rid);
  }

  /** The check-in of a row, or null. */
  manifest(rid: number): Manifest | null {
    const artifact = this.artifact(rid);
    return artifact?.kind === "manifest" ? artifact : null;
  }

  /** Row id of a file name; a new name is added. */
  fileNameId(name: string): number {
    let id = this.#fileNames.get(name);
    if (id === undefined) {
      id = this.db.value<number>("SELECT fnid FROM filename WHERE name=?", name) ??
        this.db.insert("INSERT INTO filename(name) VALUES(?)", name);
      if (this.#fileNames.size >= MAX_FILE_NAMES) this.#fileNames.clear();
      this.#fileNames.set(name, id);
    }
    return id;
  }

  /** Records that a check-in cherry-picks one that this repository does not have. */
  await(hash: string, rid: number): void {
    this.db.exec(AWAITED_SCHEMA);
    this.#hasAwaiting = true;
    this.db.run("INSERT OR IGNORE INTO fx_awaited VALUES(?,?)", hash, rid);
  }

  /** Check-ins that waited for a name; they stop waiting. */
  takeAwaiting(hash: string): number[] {
    this.#hasAwaiting ??= this.db.hasTable("fx_awaited");
    if (!this.#hasAwaiting) return [];
    const rows = this.db.rows<{ rid: number }>("SELECT rid FROM fx_awaited WHERE hash=?", hash);
    if (rows.length > 0) this.db.run("DELETE FROM fx_awaited WHERE hash=?", hash);
    return rows.map(({ rid }) => rid);
  }

  /** Link text for an artifact in a generated comment: 16 digits to follow, some to show. */
  hashLink(hash: string): string {
    return `${longPrefix(hash)}|${this.shortPrefix(hash)}`;
  }

  /** Number of digits that the repository shows of a hash. */
  shortPrefix(hash: string): string {
    const digits = this.config.integer("hash-digits", 10);
    return hash.slice(0, Math.min(Math.max(digits, 6), 40));
  }
}

/** Number of digits of a hash in links. */
export function longPrefix(hash: string): string {
  return hash.slice(0, 16);
}

/**
 * Artifacts that a judged write stored before they could be judged: deltas whose source is missing,
 * and delta manifests whose baseline is missing. The write that completes one may be somebody else's,
 * or no push at all. So an artifact is judged only in the write that brings the last of its bytes; if
 * another one completes it, its content is dropped, and its sender is asked for it again.
 */
class Unjudged {
  readonly #db: Database;
  /** Whether a judge sees this transaction. */
  #isJudged = false;
  /** Artifacts that this transaction stored. */
  readonly #own = new Set<number>();
  /** Whether the table exists; null if unknown. */
  #hasTable: boolean | null = null;

  constructor(db: Database) {
    this.#db = db;
  }

  /** Starts a transaction. */
  begin(isJudged: boolean): void {
    this.#isJudged = isJudged;
    this.#own.clear();
  }

  /** Clears the cache, because another program wrote or a transaction was rolled back. */
  forget(): void {
    this.#hasTable = null;
    this.#own.clear();
  }

  /** Remembers an artifact of which a part is missing, if this transaction is judged. */
  note(rid: number): void {
    if (!this.#isJudged) return;
    this.#db.exec(UNJUDGED_SCHEMA);
    this.#hasTable = true;
    this.#db.run("INSERT OR IGNORE INTO fx_unjudged VALUES(?)", rid);
    this.#own.add(rid);
  }

  /**
   * Forgets an artifact that is complete now. Returns whether an earlier write stored it unjudged.
   */
  take(rid: number): boolean {
    this.#hasTable ??= this.#db.hasTable("fx_unjudged");
    if (!this.#hasTable) return false;
    const wasNoted = this.#db.run("DELETE FROM fx_unjudged WHERE rid=?", rid) > 0;
    return wasNoted && !this.#own.has(rid);
  }
}
