/** Import and export: `git fast-export` streams, and other repository files. */
import { FossilError } from "../error.ts";
import type { Repository } from "../repository.ts";
import type {
  FossilImportOptions,
  FossilImportReport,
  GitExportOptions,
  GitExportReport,
} from "./types.ts";

export type * from "./types.ts";

export { createEmptyRepository } from "./empty.ts";
export { importGit } from "./import.ts";

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
