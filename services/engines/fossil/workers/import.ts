import { dirname } from "node:path";
import { loadSha3 } from "../codec/mod.ts";
import {
  copyDraft,
  type CreateOptions,
  draftPathFor,
  type HashCheck,
  hashingHere,
  removeDeadDrafts,
  removeDraft,
  requireAbsent,
  type StoreOptions,
} from "../content/mod.ts";
import { FossilError } from "../error.ts";
import {
  companionPath,
  createEmptyRepository,
  type FetchedPack,
  type FossilImportReport,
  GarbageCollector,
  type GitImportOptions,
  type GitImportReport,
  importFossil,
  importGit,
  importPack,
  type PackImportReport,
  readPieces,
} from "../git/mod.ts";
import type { Repository } from "../repository.ts";
import type { Watch } from "./watch.ts";

/** A repository to make from something else. */
export interface ImportOptions {
  readonly create: CreateOptions;
  readonly from: ImportFrom;
}

/** A file: a `git fast-export` stream, a repository of Fossil, or a pack with what was fetched. */
export type ImportFrom =
  | {
    readonly format: "git";
    readonly source: string;
    readonly git?: Pick<GitImportOptions, "mainBranch" | "maxFileBytes" | "isPartial">;
  }
  | { readonly format: "fossil"; readonly source: string }
  | { readonly format: "pack" } & FetchedPack;

/** Result of an import. */
export type ImportReport =
  | GitImportReport & { readonly format: "git" }
  | FossilImportReport & { readonly format: "fossil" }
  | PackImportReport & { readonly format: "git" };

/** Makes a repository from another one. Leaves nothing behind if it fails. */
export async function importRepository(
  path: string,
  { create, from }: ImportOptions,
  watch: Watch,
): Promise<ImportReport> {
  const making = { path, create };
  switch (from.format) {
    case "pack": {
      const { check, progress } = watch;
      const where = { check, progress, objects: companionPath(path) };
      const fill = (draft: Repository) => importPack(draft, from, where);
      return { ...await throughDraft(making, fill, watch.check), format: "git" };
    }
    case "fossil": {
      const options = { progress: watch.progress };
      const fill = (draft: Repository) => importFossil(draft, from.source, options);
      return { ...await throughDraft(making, fill, watch.check), format: from.format };
    }
    case "git": {
      using file = await Deno.open(from.source);
      const report = await importStream(making, readPieces(file), {
        ...from.git,
        progress: ({ commits, total }) => watch.progress(commits, total),
      });
      return { ...report, format: from.format };
    }
  }
}

/**
 * Makes a repository from a `git fast-export` stream. Leaves nothing behind if it fails. Call this
 * in the main thread.
 *
 * @throws {FossilError} `invalid` if the file exists; else as `importGit`.
 */
export async function importGitStream(
  path: string,
  create: CreateOptions,
  stream: AsyncIterable<Uint8Array>,
  options: GitImportOptions = {},
): Promise<GitImportReport> {
  return await importStream({ path, create }, stream, options);
}

/** The new repository. */
interface Making {
  readonly path: string;
  readonly create: CreateOptions;
}

function importStream(
  making: Making,
  stream: AsyncIterable<Uint8Array>,
  options: GitImportOptions,
): Promise<GitImportReport> {
  const { signal, progress } = options;
  const fill = (draft: Repository) => importGit(draft, stream, options);
  return throughDraft(making, fill, ({ checkins: commits }) => {
    signal?.throwIfAborted();
    progress?.({ phase: "write", bytes: 0, commits, total: commits });
  });
}

/** An import reads little twice, so small caches suffice. */
const DRAFT_OPTIONS: StoreOptions = {
  isDraft: true,
  cacheBytes: 8 * 1024 * 1024,
  unpackedBytes: 1024 * 1024,
};

/**
 * Makes a repository in a draft, where nothing is durable and pages stay half empty. Then verifies
 * the draft and copies it to its place. The file appears whole or not at all. Hashes in one thread,
 * because a second one would take 40 MB.
 *
 * @param check called repeatedly after the draft is filled; the import ends if it throws.
 */
async function throughDraft<Report>(
  { path, create }: Making,
  fill: (draft: Repository) => Report | Promise<Report>,
  check: (report: Report) => void,
): Promise<Report> {
  requireAbsent(path);
  removeDeadDrafts(dirname(path));
  const sha3 = await loadSha3();
  using draft = openDraft(path, create, { ...DRAFT_OPTIONS, sha3 });
  const report = await fill(draft);
  const garbage = new GarbageCollector();
  const here = hashingHere(sha3);
  const hashes: HashCheck = {
    ...here,
    check: (batch) => {
      garbage.collect();
      return here.check(batch);
    },
  };
  const [damage] = draft.verify({ progress: () => check(report), hashes });
  if (damage !== undefined) {
    throw new FossilError("corrupt", `Artifact "${damage.hash}" was damaged: ${damage.reason}`);
  }
  copyDraft(draft.db, path);
  return report;
}

/** Makes a repository whose file has no name, so that nothing remains of it in any case. */
function openDraft(path: string, create: CreateOptions, options: StoreOptions): Repository {
  const draftPath = draftPathFor(path);
  const draft = createEmptyRepository(draftPath, create, options);
  try {
    draft.db.useNoLog();
    removeDraft(draftPath);
    return draft;
  } catch (error) {
    draft.close();
    throw error;
  }
}
