/** Signatures of what is being built; each moves to a file of its own. */
import { FossilError } from "../error.ts";
import type { Reader } from "./reader.ts";
import type {
  Activity,
  Blame,
  Branch,
  CheckinDetail,
  Diff,
  EventKind,
  FileContent,
  FileHistory,
  Statistics,
  Tag,
  Ticket,
  TicketList,
  Timeline,
  Tree,
  WikiPage,
  WikiPageRef,
  WikiVersion,
} from "./shapes.ts";

function pending(): never {
  throw new FossilError("unsupported", "Not built yet");
}

/** A page of a longer list. */
export interface Paging {
  /** At most this many; 25 where absent. */
  readonly limit?: number;
  readonly offset?: number;
}

export interface TimelineOptions extends Paging {
  readonly branch?: string;
  readonly user?: string;
  /** Only check-ins that change this file. */
  readonly path?: string;
  /** Only check-ins before, or after, a moment (ISO 8601) or a check-in of any name. */
  readonly before?: string;
  readonly after?: string;
  /** Adds the graph's lanes. */
  readonly graph?: boolean;
}
export function readTimeline(_reader: Reader, _options: TimelineOptions = {}): Timeline {
  return pending();
}

export interface ActivityOptions extends Paging {
  /** All where absent. */
  readonly kinds?: readonly EventKind[];
  readonly user?: string;
  readonly before?: string;
  readonly after?: string;
}
export function readActivity(_reader: Reader, _options: ActivityOptions = {}): Activity {
  return pending();
}

/** `checkin` is any name everywhere; absent it is the tip of trunk. */
export function readCheckin(_reader: Reader, _checkin?: string): CheckinDetail {
  return pending();
}

export interface TreeOptions {
  readonly checkin?: string;
  /** A folder; the root where absent. */
  readonly path?: string;
  /** Every file below the folder by its full path, and no folders. */
  readonly recursive?: boolean;
  /** Leaves `last_checkin` null. */
  readonly withoutLastCheckin?: boolean;
}
export function readTree(_reader: Reader, _options: TreeOptions = {}): Tree {
  return pending();
}

export interface PathOptions {
  readonly path: string;
  readonly checkin?: string;
}
export function readFile(_reader: Reader, _options: PathOptions): FileContent {
  return pending();
}

export interface HistoryOptions extends PathOptions, Paging {
  /** All check-ins of the repository, not only ancestors of `checkin`. */
  readonly everywhere?: boolean;
}
export function readHistory(_reader: Reader, _options: HistoryOptions): FileHistory {
  return pending();
}

export interface BlameOptions extends PathOptions {
  readonly maxVersions?: number;
  readonly maxBytes?: number;
  readonly maxMs?: number;
}
export function readBlame(_reader: Reader, _options: BlameOptions): Blame {
  return pending();
}

export interface DiffOptions {
  /** The primary parent of `to` where absent. */
  readonly from?: string;
  readonly to?: string;
  /** One file, or everything below a folder. */
  readonly path?: string;
  /** Lines of context, 3 where absent. */
  readonly context?: number;
  readonly maxBytes?: number;
}
export function readDiff(_reader: Reader, _options: DiffOptions = {}): Diff {
  return pending();
}

export function listBranches(_reader: Reader): Branch[] {
  return pending();
}
export function listTags(_reader: Reader): Tag[] {
  return pending();
}
export function listWikiPages(_reader: Reader, _options?: { deleted?: boolean }): WikiPageRef[] {
  return pending();
}
/** `version` is the hash of an older version. */
export function readWikiPage(_reader: Reader, _name: string, _version?: string): WikiPage {
  return pending();
}
export function readWikiHistory(_reader: Reader, _name: string): WikiVersion[] {
  return pending();
}

export interface TicketListOptions extends Paging {
  readonly status?: string;
}
export function listTickets(_reader: Reader, _options: TicketListOptions = {}): TicketList {
  return pending();
}
/** `uuid` is the ticket's id or a prefix of it. */
export function readTicket(_reader: Reader, _uuid: string): Ticket {
  return pending();
}
export function readStatistics(_reader: Reader): Statistics {
  return pending();
}

export type ArchiveFormat = "zip" | "tar.gz";
export interface ArchiveOptions {
  readonly checkin?: string;
  readonly format: ArchiveFormat;
  /** The folder that everything is in. */
  readonly folder?: string;
}
/** Chunks of the archive. */
export function readArchive(_reader: Reader, _options: ArchiveOptions): Generator<Uint8Array> {
  return pending();
}
