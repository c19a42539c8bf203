/** Answers clients of Git from a companion. */
import { inflateSync } from "node:zlib";
import {
  type Advertisement,
  bytesOfName,
  type CommitSignature,
  EVERYTHING,
  type FetchRequest,
  hexOf,
  signatureOf,
} from "../../../git/mod.ts";
import { COMMIT_PROPERTY } from "../headers.ts";
import type { GitCompanion } from "./companion.ts";
import {
  contentsOf,
  countMarks,
  dropPack,
  keepPack,
  type KeptFile,
  type KeptPack,
  loadKeptPack,
  type PackReport,
  planBeyond,
} from "./kept_pack.ts";
import {
  describeNegotiation,
  negotiate,
  type Negotiation,
  type NegotiationAnswer,
} from "./negotiation.ts";
import { writePack } from "./packing.ts";
import { planCommits, planPack } from "./plan.ts";
import { writeShortPack } from "./short_pack.ts";
import { KIND } from "./schema.ts";

/** The references that Git sees, with what is new; null if that takes long to find out. */
export function readGitRefs(companion: GitCompanion): Advertisement | null {
  return companion.updateIfShort() ? companion.advertisement() : null;
}

/** Where the table of each kind has the size of an object. */
const SIZES: Readonly<Record<number, string>> = {
  [KIND.commit]: "SELECT size FROM revision WHERE id=?",
  [KIND.tree]: "SELECT size FROM tree WHERE id=?",
  [KIND.blob]: "SELECT size FROM file WHERE rid=?",
  [KIND.tag]: "SELECT size FROM tag WHERE id=?",
};

/**
 * Bytes of objects by their names, each null if it is not here; or null if an update must come first.
 */
export function sizesOf(
  companion: GitCompanion,
  names: readonly string[],
): (number | null)[] | null {
  if (!companion.updateIfShort()) return null;
  const { db } = companion;
  return names.map((name) => {
    const found = db.row<{ kind: number; place: number }>(
      "SELECT kind, place FROM object WHERE name=?",
      bytesOfName(name),
    );
    return found === undefined ? null : db.value<number>(SIZES[found.kind]!, found.place) ?? null;
  });
}

/** The names of the commits of check-ins; null if an update must come first. */
export function commitsOf(
  companion: GitCompanion,
  checkins: readonly string[],
): (string | null)[] | null {
  if (!companion.updateIfShort()) return null;
  const { db, reader: { repository: { store } } } = companion;
  return checkins.map((checkin) => {
    const select = "SELECT name FROM revision WHERE rid=?";
    const name = db.value<Uint8Array>(select, store.ridOf(checkin));
    return name === undefined ? null : hexOf(name);
  });
}

/** Null for a commit without one; "pending" if it is not known before the objects are updated. */
export type GitSignature =
  | CommitSignature & {
    /** Whether the check-in shows another comment, person, date or parents than the commit has. */
    readonly isAmended: boolean;
  }
  | "pending"
  | null;

/** The signatures of the commits of check-ins by their names. */
export function signaturesOf(
  companion: GitCompanion,
  checkins: readonly string[],
): GitSignature[] {
  const { reader } = companion;
  const { store } = reader.repository;
  let isCurrent: boolean | null = null;
  return checkins.map((checkin) => {
    reader.check();
    const rid = store.ridOf(checkin);
    if (!isFromGit(companion, rid)) return null;
    let known = signatureOfRow(companion, rid);
    if (known === undefined) {
      isCurrent ??= companion.updateIfShort();
      if (!isCurrent) return "pending";
      known = signatureOfRow(companion, rid);
    }
    return known ? { ...known, isAmended: isAmended(companion, rid) } : null;
  });
}

function isAmended({ reader: { repository: { db } } }: GitCompanion, rid: number): boolean {
  const select = `SELECT 1 FROM tagxref JOIN tag USING(tagid)
    WHERE rid=? AND tagtype>0 AND tagname IN ('comment','user','date','parent')`;
  return db.exists(select, rid);
}

/** Whether a check-in has what Git alone knows, such as a signature. */
function isFromGit({ reader: { repository: { db } } }: GitCompanion, rid: number): boolean {
  const select = "SELECT 1 FROM tagxref JOIN tag USING(tagid) WHERE rid=? AND tagname=?";
  return db.exists(select, rid, COMMIT_PROPERTY);
}

/** Approximate memory of a signature, in bytes. */
const SIGNATURE_BYTES = 200;

/** Undefined if there is no commit. */
function signatureOfRow(
  { db, reader }: GitCompanion,
  rid: number,
): CommitSignature | null | undefined {
  const select = "SELECT name, data FROM revision WHERE rid=?";
  const row = db.row<{ name: Uint8Array; data: Uint8Array }>(select, rid);
  if (row === undefined) return undefined;
  return reader.lasting(`signature ${hexOf(row.name)}`, () => {
    return { value: signatureOf(inflateSync(row.data)), bytes: SIGNATURE_BYTES };
  });
}

/** When a client gets its pack: now, once enough is common, or with a later request. */
export type PackTime = "now" | "if ready" | "later";

/** What a client learns of its request; and the pack that it gets now, if that is at hand. */
export interface FetchAnswer extends NegotiationAnswer {
  /** Whether it gets its pack now. */
  readonly isPackDue: boolean;
  /** The pack, if it is short. */
  readonly short: Uint8Array | null;
  /** The pack that is kept, if that is what the client asks for, and little more. */
  readonly kept: KeptFile | null;
}

/**
 * Answers a request; null if an update must come first.
 *
 * @throws {FossilError} see {@linkcode negotiate}
 */
export function answerFetch(
  companion: GitCompanion,
  { request, pack }: { readonly request: FetchRequest; readonly pack: PackTime },
): FetchAnswer | null {
  return companion.reader.read(() => {
    if (!companion.updateIfShort()) return null;
    const negotiation = negotiate(companion, request);
    const answer = describeNegotiation(companion, negotiation);
    const isPackDue = pack === "now" || (pack === "if ready" && answer.isReady);
    const kept = isPackDue ? keptPackFor(companion, negotiation, request) : null;
    const short = isPackDue && kept === null
      ? writeShortPack(companion, negotiation, { ...request, isThin: isThin(request) })
      : null;
    return { ...answer, isPackDue, short, kept };
  });
}

/** Whether deltas may have bases that only the client has: one that filters may lack them. */
function isThin(request: FetchRequest): boolean {
  return request.isThin && isUnfiltered(request);
}

/** Where the pack for a client goes. */
export interface PackTarget {
  readonly request: FetchRequest;
  /** The file that is written. */
  readonly target: string;
  /** Bytes that a pack may take that is kept for other clients; 0 for none. */
  readonly maxKept: number;
}

/** The share of a kept pack that a client must want to get all of it. */
const MOST = 0.75;

/** The kept pack, if that is what a client asks for, and little more; else null. */
function keptPackFor(
  companion: GitCompanion,
  negotiation: Negotiation,
  request: FetchRequest,
): KeptFile | null {
  if (!isClone(request, negotiation)) return null;
  const kept = loadKeptPack(companion);
  return kept !== null && isNearly(companion, negotiation, { kept, request }) ? kept.file : null;
}

/** Whether a kept pack has all that a client wants, and little more. */
function isNearly(
  companion: GitCompanion,
  negotiation: Negotiation,
  { kept, request }: { readonly kept: KeptPack; readonly request: FetchRequest },
): boolean {
  const { commits, tags } = planCommits(companion, negotiation, request);
  const known = new Set(kept.tags);
  const { trees, files } = negotiation.wanted;
  const isThere = commits.every((id) => kept.commits[id] === 1) &&
    tags.every((tag) => known.has(tag)) &&
    trees.every((id) => kept.trees[id] === 1) && files.every((rid) => kept.files[rid] === 1);
  return isThere && commits.length >= countMarks(kept.commits) * MOST;
}

/**
 * Writes the pack that a client asks for. That of a clone is kept.
 *
 * @param progress called with the bytes so far
 * @throws {FossilError} see {@linkcode negotiate}
 */
export function writeFetched(
  companion: GitCompanion,
  { request, target, maxKept }: PackTarget,
  progress: (bytes: number) => void,
): PackReport {
  return companion.reader.read(() => {
    companion.update();
    const negotiation = negotiate(companion, request);
    const plan = planPack(companion, negotiation, request);
    const isWhole = isClone(request, negotiation);
    const kept = isWhole ? loadKeptPack(companion) : null;
    const beyond = kept && planBeyond(plan, kept);
    const report = toFile(target, progress, (sink) =>
      writePack(companion, beyond ?? plan, {
        isThin: isThin(request),
        takesOffsets: request.takesOffsets,
        kept: beyond && kept,
      }, sink));
    const isBest = kept === null || beyond !== null || report.objects > kept.objects;
    if (isWhole && isBest && report.bytes <= maxKept) {
      keepPack(companion, target, { ...report, ...contentsOf(plan, companion.graph.size) });
    } else if (kept !== null && kept.bytes > maxKept) dropPack(companion);
    return report;
  });
}

/**
 * Makes the objects of what is new, and the pack that clones get, if there is none.
 *
 * @param folder for the pack while it is written
 */
export function prepareClones(
  companion: GitCompanion,
  { folder, maxKept }: { readonly folder: string; readonly maxKept: number },
  progress: (bytes: number) => void,
): void {
  companion.update();
  const { refs } = companion.advertisement();
  const kept = loadKeptPack(companion);
  if (kept !== null && kept.bytes > maxKept) dropPack(companion);
  else if (kept !== null || refs.length === 0) return;
  const temporary = Deno.makeTempDirSync({ dir: folder, prefix: ".pack-" });
  try {
    const request = cloneOf(refs.map(({ object }) => object));
    writeFetched(companion, { request, target: `${temporary}/pack`, maxKept }, progress);
  } finally {
    Deno.removeSync(temporary, { recursive: true });
  }
}

/** What `git clone` asks for. */
function cloneOf(wants: readonly string[]): FetchRequest {
  return {
    wants: [...new Set(wants)],
    haves: [],
    isDone: true,
    waitsForDone: false,
    shallows: [],
    depth: null,
    filter: EVERYTHING,
    isThin: true,
    takesOffsets: true,
    includesTags: true,
    wantsProgress: false,
    sideBand: "large",
  };
}

/** Whether a client has nothing and wants whole commits. */
function isClone(request: FetchRequest, { wanted, common, shallows }: Negotiation): boolean {
  return request.takesOffsets && isUnfiltered(request) && common.length === 0 &&
    request.depth === null && shallows.before.size === 0 &&
    // What is missing of a partial clone is asked for without commits.
    (wanted.commits.length > 0 || wanted.trees.length + wanted.files.length === 0);
}

function isUnfiltered({ filter: { blobBytes, treeDepth } }: FetchRequest): boolean {
  return blobBytes === EVERYTHING.blobBytes && treeDepth === EVERYTHING.treeDepth;
}

/** Writes a file in pieces. */
function toFile<T>(
  target: string,
  progress: (bytes: number) => void,
  write: (sink: (piece: Uint8Array) => void) => T,
): T {
  using file = Deno.openSync(target, { write: true, create: true, truncate: true });
  let bytes = 0;
  return write((piece) => {
    for (let written = 0; written < piece.length;) {
      written += file.writeSync(piece.subarray(written));
    }
    bytes += piece.length;
    progress(bytes);
  });
}
