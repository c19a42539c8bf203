import type { CreateOptions } from "../content/mod.ts";
import {
  createEmptyRepository,
  type FossilImportReport,
  type GitImportOptions,
  type GitImportReport,
  importFossil,
  importGit,
} from "../git/mod.ts";
import type { Repository } from "../repository.ts";
import type { Watch } from "./watch.ts";

/** A repository to be made from the file `source`. */
export interface ImportOptions {
  readonly create: CreateOptions;
  readonly source: string;
  /** A `git fast-export` stream, or a repository file of Fossil. */
  readonly format: "git" | "fossil";
  /** For the format `git`. */
  readonly git?: Pick<GitImportOptions, "mainBranch" | "maxFileBytes">;
}

/** What an import took over. */
export type ImportReport =
  | GitImportReport & { readonly format: "git" }
  | FossilImportReport & { readonly format: "fossil" };

/** Makes a repository from another one. Where that fails nothing is left. */
export async function importRepository(
  path: string,
  options: ImportOptions,
  watch: Watch,
): Promise<ImportReport> {
  const repository = createEmptyRepository(path, options.create);
  try {
    return await fill(repository, options, watch).finally(() => repository.close());
  } catch (error) {
    Deno.removeSync(path);
    throw error;
  }
}

async function fill(
  repository: Repository,
  { source, format, git }: ImportOptions,
  watch: Watch,
): Promise<ImportReport> {
  if (format === "fossil") {
    const report = importFossil(repository, source, { progress: watch.progress });
    return { ...report, format };
  }
  using file = await Deno.open(source);
  const report = await importGit(repository, file.readable, {
    ...git,
    progress: ({ commits, total }) => watch.progress(commits, total),
  });
  return { ...report, format };
}
