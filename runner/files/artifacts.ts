/** The files that a job leaves for its run. */
import { insideOf } from "./inside.ts";
import { PathPattern } from "./patterns.ts";

/** Most artifacts of a job. */
export const MAX_ARTIFACTS = 1000;
/** Most names that are looked at. */
const MAX_NAMES = 200_000;

/** What was found. */
export interface Artifacts {
  /** Paths below the checkout, sorted. */
  readonly paths: readonly string[];
  /** What was left out, each a sentence without its end. */
  readonly notes: readonly string[];
}

/** Finds the regular files below a checkout that fit a pattern; follows no link. */
export async function findArtifacts(
  checkout: string,
  patterns: readonly string[],
): Promise<Artifacts> {
  const compiled = patterns.map((pattern) => new PathPattern(pattern));
  const found = new Set<string>();
  const notes: string[] = [];
  let links = 0;
  let names = 0;
  const visit = async (path: string, pattern: PathPattern): Promise<void> => {
    if (found.size >= MAX_ARTIFACTS || ++names > MAX_NAMES) return;
    const full = path === "" ? checkout : await insideOf(checkout, path);
    if (full === null) return;
    const { isFile, isDirectory, isSymlink } = await Deno.lstat(full);
    if (isSymlink && pattern.matches(path)) links++;
    if (isFile && pattern.matches(path)) found.add(path);
    if (!isDirectory) return;
    for (const name of await namesIn(full)) {
      await visit(path === "" ? name : `${path}/${name}`, pattern);
    }
  };
  for (const pattern of compiled) await visit(pattern.base, pattern);
  if (links > 0) notes.push(`${links} of the artifacts are links, which are not kept`);
  if (found.size >= MAX_ARTIFACTS || names > MAX_NAMES) {
    notes.push(`There are more artifacts: at most ${MAX_ARTIFACTS} files are kept`);
  }
  return { paths: [...found].sort(), notes };
}

async function namesIn(folder: string): Promise<string[]> {
  const names: string[] = [];
  try {
    for await (const { name } of Deno.readDir(folder)) names.push(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.PermissionDenied)) throw error;
  }
  return names.sort();
}
