/** Import and export: `git fast-export` streams, and other repository files. */
import type { CreateOptions } from "../content/mod.ts";
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import type {
  FossilImportOptions,
  FossilImportReport,
  GitExportOptions,
  GitExportReport,
  GitImportOptions,
  GitImportReport,
} from "./types.ts";

export type * from "./types.ts";

/** Makes a repository without any check-in: what the imports need. */
export function createEmptyRepository(_path: string, _options: CreateOptions): Repository {
  throw new FossilError("unsupported", "Under construction");
}

/** Reads a `git fast-export` stream into an empty repository. On an error remove the file. */
export function importGit(
  _repository: Repository,
  _stream: AsyncIterable<Uint8Array>,
  _options: GitImportOptions = {},
): Promise<GitImportReport> {
  throw new FossilError("unsupported", "Under construction");
}

/** Writes a stream for `git fast-import`, piece by piece. */
// deno-lint-ignore require-yield
export function* exportGit(
  _repository: Repository,
  _options: GitExportOptions = {},
): Generator<Uint8Array, GitExportReport> {
  throw new FossilError("unsupported", "Under construction");
}

/** Copies the artifacts of a repository file into an empty repository, verified. */
export function importFossil(
  _repository: Repository,
  _path: string,
  _options: FossilImportOptions = {},
): FossilImportReport {
  throw new FossilError("unsupported", "Under construction");
}
