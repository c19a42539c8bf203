/**
 * The interface between the sync server and the judgement of what a push brings. The server knows
 * the protocol and the transaction; the judge knows what the pusher may change.
 */
import type { Artifact } from "../artifact/mod.ts";
import type { Repository } from "../repository.ts";

/** What a push can bring, beside the contents of files. */
export type PushedKind =
  | "checkin"
  | "tag"
  | "wiki"
  | "ticket"
  | "technote"
  | "forum"
  | "attachment"
  | "unversioned"
  | "private";

/** Names that a pattern matches, and whether they are closed to the pusher. */
export interface NameRule {
  /** A pattern of whole names; see `matchesGlob`. */
  readonly pattern: string;
  /** A clause that says why the names are closed, without a period; null if they are open. */
  readonly refusal: string | null;
}

/** What one principal may push to one project at this moment: plain data, for the worker. */
export interface PushRules {
  /** The name under which the artifacts are received, as in `rcvfrom`. */
  readonly pusher: string;
  /** The names that a U card may have; null for any. */
  readonly users: readonly string[] | null;
  readonly role: "write" | "admin";
  /** The latest date that an artifact may have, in Unix milliseconds. */
  readonly latest: number;
  /** Protected branches and reserved names; the first rule that matches counts. */
  readonly branches: readonly NameRule[];
  /** The branches to which the pusher may push, but no merges; the first rule that matches counts. */
  readonly merges: readonly NameRule[];
  /** The branches of active workspaces, with the refusal for this pusher, or null if it may push. */
  readonly workspaces: Readonly<Record<string, string | null>>;
  /** Names of unversioned files; the first rule that matches counts. */
  readonly files: readonly NameRule[];
  /** Whether texts obey the bounds of the API; those from elsewhere are kept as they are. */
  readonly hasBounds: boolean;
  /** Why nothing is stored at the moment, as a sentence; absent if the server takes content. */
  readonly standstill?: string;
  /**
   * Whether check-ins are commits of Git: they name anybody as their author, the pusher is recorded
   * beside them, and the names of their files are what they are. Only then are references moved.
   */
  readonly isFromGit?: boolean;
  /** Branches of workspaces of which this push begins the line, maybe a second time. */
  readonly begins?: readonly string[];
  /** Kinds that are closed to the pusher, with the refusal. */
  readonly closedKinds: Readonly<Partial<Record<PushedKind, string>>>;
}

/** A structural artifact that came with a push, or that the push completed. */
export interface PushedArtifact {
  readonly artifact: Artifact;
  readonly hash: string;
  readonly rid: number;
}

/** An unversioned file that a push writes or removes. */
export interface PushedUnversioned {
  readonly name: string;
  /** Unix seconds. */
  readonly time: number;
  /** Null if the push removes the file. */
  readonly hash: string | null;
  readonly size: number;
}

/**
 * Judges one push, inside of its transaction. What it throws rolls the transaction back; a `LeftOut`
 * names what to leave out of the next attempt. `writeJudged` calls all methods but `unversioned` and
 * `requireArrivals`.
 */
export interface Judge {
  /**
   * Sees every structural artifact before it enters the derived tables: those that arrive, and
   * those that something completes (a phantom that is filled, a delta whose source came, a delta
   * manifest whose baseline came). Names that it refers to may be phantoms still.
   */
  arrive(arrival: PushedArtifact): void;
  /** Sees the content of every file. */
  file(content: Uint8Array, hash: string): void;
  /** Sees the row and the tag before a tag changes there, by a card or by inheritance. */
  tag(rid: number, tag: number): void;
  /** Sees every change of an unversioned file before it is made. */
  unversioned(file: PushedUnversioned): void;
  /** Throws if something that has arrived is refused as it is. */
  requireArrivals(): void;
  /** Called once, when the derived tables have all arrivals, and before the commit. */
  conclude(): void;
}

/** Makes the judge of a push, in the transaction and before anything is stored. */
export type OpenJudge = (repository: Repository, rules: PushRules) => Judge;
