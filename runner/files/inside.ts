/** Paths of a job's folder, as the runner may open them: a job can make links to anywhere. */
import { dirname, isAbsolute, join } from "node:path";

/**
 * The place of a file or folder below a root, if no link on the way leads elsewhere; null if there is
 * none. It may itself be a link.
 */
export async function insideOf(root: string, path: string): Promise<string | null> {
  if (isAbsolute(path) || path.split(/[\\/]/).includes("..")) return null;
  try {
    const full = join(root, path);
    const realRoot = await Deno.realPath(root);
    const realParent = await Deno.realPath(dirname(full));
    await Deno.lstat(full);
    // Every step is a folder, so the path is its own real path.
    return realParent === join(realRoot, dirname(path)) ? full : null;
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}

/** Opens a regular file below a root; null if it is none, or is behind a link. */
export async function openInside(root: string, path: string): Promise<Deno.FsFile | null> {
  const full = await insideOf(root, path);
  if (full === null) return null;
  const before = await Deno.lstat(full);
  if (!before.isFile) return null;
  const file = await Deno.open(full);
  const { dev, ino } = await file.stat();
  if (dev === before.dev && ino === before.ino) return file;
  file.close();
  return null;
}

function isAbsent(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.FilesystemLoop;
}
