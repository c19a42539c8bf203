import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { Unavailable } from "./errors.ts";

/**
 * A time as the names of files have it on every system: `2026-11-24T02-15-00Z`.
 *
 * @param time in Unix milliseconds
 */
export function fileStamp(time: number): string {
  return new Date(time).toISOString().replace(/\.\d+Z$/, "Z").replaceAll(":", "-");
}

/** Files and names that outlive a loss of power. */

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

/** How long a measurement counts, in milliseconds. */
const FRESH_MILLISECONDS = 1000;

const REFUSAL =
  "The disk of the server is nearly full: it takes nothing new until its operator makes room";

interface FreeSpaceOptions {
  /** Folders on the disks that new work would fill. */
  readonly folders: readonly string[];
  /** Bytes that must be free on each of them; 0 for no bound. */
  readonly least: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Refuses new work before a disk is full, so that what was acknowledged, what frees space and what
 * the operator does still find room. Looks at the disks at most once a second, when somebody asks.
 */
export class FreeSpace {
  readonly #options: FreeSpaceOptions;
  #measuredAt = -Infinity;
  #isShort = false;

  constructor(options: FreeSpaceOptions) {
    this.#options = options;
  }

  /** Whether new work is refused. */
  get isShort(): boolean {
    const { least, clock } = this.#options;
    if (least === 0) return false;
    const now = clock();
    if (Math.abs(now - this.#measuredAt) >= FRESH_MILLISECONDS) {
      this.#measuredAt = now;
      this.#isShort = this.#leastFree() < least;
    }
    return this.#isShort;
  }

  /** Why new work is refused, as a sentence; null if it is not. */
  get refusal(): string | null {
    return this.isShort ? REFUSAL : null;
  }

  /** @throws Unavailable if new work is refused */
  require(): void {
    if (this.isShort) throw new Unavailable(REFUSAL);
  }

  /** Whether so many bytes leave as much free as new work needs. */
  hasRoomFor(bytes: number): boolean {
    return this.#leastFree() - bytes >= this.#options.least;
  }

  /** The free bytes of the fullest disk that can be measured. */
  #leastFree(): number {
    return this.#options.folders.reduce((least, folder) => {
      try {
        const { bavail, bsize } = statfsSync(folder);
        return Math.min(least, Number(bavail) * Number(bsize));
      } catch {
        // A folder that is missing is a fault that others report.
        return least;
      }
    }, Infinity);
  }
}
