/** What `muster mcp` remembers of a server, so that clients can start while the server is away. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { isRecord, type Memory } from "../mcp/stdio/mod.ts";
import { replaceFile } from "./clients/config_file.ts";

/** Instructions name the agent, and tools its projects: they are for its owner's eyes. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Largest file, in bytes. A list of all tools takes a tenth of it. */
const MAX_BYTES = 2 ** 21;

/** Most files: one for each server and token. Those that were written first go. */
const MAX_FILES = 64;

/** Who calls which server. */
interface Caller {
  /** The URL of the server's tools, or the path of its data folder; then the sets that are listed. */
  readonly server: string;
  readonly token: string;
}

/**
 * The results of one server for one token, in a file of the person's cache folder. Its name is a hash
 * of both, and it holds no credential. Without a home folder, nothing outlasts the program.
 */
export class AnswerCache implements Memory, AsyncDisposable {
  readonly #path: string | null;
  readonly #results: Map<string, object>;
  /** The last writing; the next one waits for it. */
  #written: Promise<void> = Promise.resolve();
  #isChanged = false;

  private constructor(path: string | null, results: Map<string, object>) {
    this.#path = path;
    this.#results = results;
  }

  /** Reads what is there; a file that is damaged counts as none. */
  static async open(caller: Caller): Promise<AnswerCache> {
    const folder = cacheFolder();
    if (folder === null) return new AnswerCache(null, new Map());
    const path = join(folder, `${hashOf(caller)}.json`);
    return new AnswerCache(path, await readResults(path));
  }

  read(key: string): object | null {
    return this.#results.get(key) ?? null;
  }

  keep(key: string, result: object): void {
    if (JSON.stringify(this.#results.get(key)) === JSON.stringify(result)) return;
    this.#results.set(key, result);
    if (this.#isChanged) return;
    this.#isChanged = true;
    this.#written = this.#written.then(() => this.#write());
  }

  /** Waits for the file. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#written;
  }

  async #write(): Promise<void> {
    this.#isChanged = false;
    const text = JSON.stringify(Object.fromEntries(this.#results));
    if (this.#path === null || new TextEncoder().encode(text).length > MAX_BYTES) return;
    const folder = join(this.#path, "..");
    try {
      await Deno.mkdir(folder, { recursive: true, mode: FOLDER_MODE });
      await replaceFile(this.#path, text, FILE_MODE);
      await removeOldest(folder);
    } catch {
      // A client works as well without a cache.
    }
  }
}

/** Null without a home folder. */
function cacheFolder(): string | null {
  const home = Deno.env.get("HOME") ?? Deno.env.get("USERPROFILE");
  const caches = Deno.env.get("XDG_CACHE_HOME") ??
    (home === undefined ? null : join(home, ".cache"));
  return caches === null ? null : join(caches, "muster", "mcp");
}

function hashOf({ server, token }: Caller): string {
  return createHash("sha256").update(JSON.stringify([server, token])).digest("hex").slice(0, 32);
}

async function readResults(path: string): Promise<Map<string, object>> {
  try {
    const { size } = await Deno.stat(path);
    if (size > MAX_BYTES) return new Map();
    const read: unknown = JSON.parse(await Deno.readTextFile(path));
    if (!isRecord(read)) return new Map();
    return new Map(
      Object.entries(read).filter((entry): entry is [string, object] => isRecord(entry[1])),
    );
  } catch {
    return new Map();
  }
}

async function removeOldest(folder: string): Promise<void> {
  const files: { readonly path: string; readonly written: number }[] = [];
  for await (const { name } of Deno.readDir(folder)) {
    const path = join(folder, name);
    files.push({ path, written: (await Deno.stat(path)).mtime?.getTime() ?? 0 });
  }
  files.sort((a, b) => b.written - a.written);
  for (const { path } of files.slice(MAX_FILES)) await Deno.remove(path);
}
