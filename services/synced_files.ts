/** Files and names that outlive a loss of power. */
import { dirname } from "node:path";

/** Syncs a folder, so that new names in it outlive a loss of power; Windows needs no such thing. */
export async function syncFolder(path: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  using folder = await Deno.open(path);
  await folder.sync();
}

/** Gives a file, whose content is on disk, another name in the same file system, for good. */
export async function renameSynced(from: string, to: string): Promise<void> {
  await Deno.rename(from, to);
  await syncFolder(dirname(to));
}

/** Writes a file that only its owner may read, and syncs it. It replaces one that is there. */
export async function writeSynced(path: string, text: string): Promise<void> {
  using file = await Deno.open(path, { write: true, create: true, truncate: true, mode: 0o600 });
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) {
    written += await file.write(bytes.subarray(written));
  }
  await file.sync();
}
