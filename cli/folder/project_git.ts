/** A project's repository, by Git's protocol. No `git` program is needed. */
import { Buffer } from "node:buffer";
import {
  fetchRequest,
  GitError,
  type GitObject,
  listRequest,
  objectsOf,
  PackAnswer,
  type PushAnswer,
  pushHead,
  readPushAnswer,
  readRefs,
  readSizes,
  type RefCommand,
  type RemoteGreeting,
  type RemoteRefs,
  sizesRequest,
  type Wanted,
} from "../../services/engines/git/mod.ts";
import { VERSION } from "../../services/kernel/version.ts";
import type { ApiClient } from "../client.ts";
import { CommandFailed } from "../output.ts";
import { FileTree } from "./file_tree.ts";

const FETCH = "git-upload-pack";
const PUSH = "git-receive-pack";
const AGENT = `muster/${VERSION}`;
/** What muster's own server says of itself. */
const GREETING: RemoteGreeting = {
  version: 2,
  capabilities: new Set(["object-format=sha1"]),
  refs: null,
};
/** Bytes and objects that are fetched at once; a single object may be larger. */
const [BATCH_BYTES, BATCH_OBJECTS] = [32 * 1024 * 1024, 5000];

/** A project's repository. */
export class ProjectGit {
  readonly #client: ApiClient;
  readonly #path: string;

  constructor(client: ApiClient, project: string) {
    this.#client = client;
    this.#path = `/projects/${encodeURIComponent(project)}.git`;
  }

  /** The branches and tags. */
  async refs(): Promise<RemoteRefs> {
    return await this.#explained(async () =>
      readRefs(await this.#ask(listRequest(GREETING, AGENT)))
    );
  }

  /** The files of a commit. */
  async tree(commit: string): Promise<FileTree> {
    return await this.#explained(async () =>
      FileTree.of(
        commit,
        await this.#fetch({ wants: [commit], haves: [], depth: 1, filter: "blob:none" }),
      )
    );
  }

  /** Whether a commit is an ancestor of another one, which it is not itself. */
  async isAncestor(ancestor: string, commit: string): Promise<boolean> {
    return await this.#explained(async () => {
      const wanted = { wants: [commit], haves: [ancestor], filter: "tree:0" };
      const objects = await this.#fetch(wanted);
      return objects.values().some(({ kind, content }) =>
        kind === "commit" && parentsOf(content).includes(ancestor)
      );
    });
  }

  /**
   * The content of files.
   *
   * @param names of their objects; each is there once
   */
  async *contents(names: readonly string[]): AsyncGenerator<readonly [string, Uint8Array]> {
    const sizes = await this.#sizes(names);
    let [batch, bytes]: [string[], number] = [[], 0];
    for (const name of names) {
      const size = sizes.get(name) ?? 0;
      if (batch.length === BATCH_OBJECTS || (batch.length > 0 && bytes + size > BATCH_BYTES)) {
        yield* await this.#contents(batch);
        [batch, bytes] = [[], 0];
      }
      batch.push(name);
      bytes += size;
    }
    if (batch.length > 0) yield* await this.#contents(batch);
  }

  /** Pushes to one reference. */
  async push(
    command: RefCommand,
    options: readonly string[],
    pack: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<PushAnswer> {
    // What fails while the body is made is a broken connection to the request alone.
    let failure: unknown = null;
    const parts = async function* () {
      try {
        yield pushHead(command, options, AGENT);
        yield* pack;
      } catch (error) {
        failure = error;
        throw error;
      }
    };
    const headers = { "content-type": `application/x-${PUSH}-request` };
    const body = ReadableStream.from(parts());
    return await this.#explained(async () => {
      try {
        const answer = await this.#client.exchange(`${this.#path}/${PUSH}`, headers, body);
        return readPushAnswer(answer);
      } catch (error) {
        throw failure ?? error;
      }
    });
  }

  async #contents(wants: readonly string[]): Promise<(readonly [string, Uint8Array])[]> {
    return await this.#explained(async () => {
      const objects = await this.#fetch({ wants, haves: [] });
      return wants.map((name) => {
        const object = objects.get(name);
        if (object === undefined) throw new GitError(`It lacks the object ${name}`);
        return [name, object.content] as const;
      });
    });
  }

  async #sizes(names: readonly string[]): Promise<Map<string, number>> {
    return await this.#explained(async () => {
      const sizes = new Map<string, number>();
      for (let start = 0; start < names.length; start += BATCH_OBJECTS) {
        const part = names.slice(start, start + BATCH_OBJECTS);
        const answer = await this.#ask(sizesRequest(GREETING, part, AGENT));
        for (const [name, size] of readSizes(answer)) sizes.set(name, size);
      }
      return sizes;
    });
  }

  async #fetch(wanted: Wanted): Promise<Map<string, GitObject>> {
    const answer = await this.#ask(fetchRequest(GREETING, wanted, AGENT));
    const pack = new PackAnswer(GREETING);
    const parts = [...pack.take(answer)];
    pack.finish();
    return objectsOf(Buffer.concat(parts));
  }

  async #ask(request: Uint8Array): Promise<Uint8Array> {
    const headers = {
      "content-type": `application/x-${FETCH}-request`,
      "git-protocol": "version=2",
    };
    return await this.#client.exchange(`${this.#path}/${FETCH}`, headers, new Uint8Array(request));
  }

  async #explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      throw new CommandFailed(`${this.#client.url}${this.#path}: ${error.message}`);
    }
  }
}

function parentsOf(commit: Uint8Array): string[] {
  const text = new TextDecoder("latin1").decode(commit);
  const head = text.slice(0, text.indexOf("\n\n"));
  return [...head.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, name]) => name!);
}
