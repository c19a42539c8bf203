/** Fetches from a Git server over HTTP. No `git` program is needed. */
import { Buffer } from "node:buffer";
import {
  fetchRequest,
  GitError,
  listRequest,
  PackAnswer,
  readGreeting,
  readRefs,
  type RemoteGreeting,
  type RemoteRefs,
  type Wanted,
} from "../../engines/git/mod.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import {
  ClosedHost,
  type OutboundAnswer,
  type OutboundClient,
  OutboundFailure,
} from "../../kernel/outbound/mod.ts";
import { VERSION } from "../../kernel/version.ts";
import { ConnectionLost, type Remote, RemoteError } from "./records.ts";

const SERVICE = "/info/refs?service=git-upload-pack";
/** Servers that serve browsers too look for the beginning. */
const AGENT = `git/2.40.0-muster-${VERSION}`;
/** Most redirects of the first request. */
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Most bytes of an answer with references. */
const MAX_REFS_BYTES = 16 * 1024 * 1024;
/** Bytes that are written at once. */
const WRITE_BYTES = 256 * 1024;

export interface GitUpstreamOptions {
  readonly remote: Remote;
  readonly client: Pick<OutboundClient, "get" | "post">;
  /** Says when the disk has no room for a pack. */
  readonly space: Pick<FreeSpace, "require">;
  /** The most bytes of a pack. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** No Git repository answers at a URL. */
export class NoGitRepository extends RemoteError {}

/** A Git repository elsewhere, and its references as they were when it was asked. */
export class GitUpstream {
  readonly refs: RemoteRefs;
  readonly #options: GitUpstreamOptions;
  readonly #requests: Requests;
  readonly #greeting: RemoteGreeting;

  private constructor(
    options: GitUpstreamOptions,
    requests: Requests,
    answers: { readonly greeting: RemoteGreeting; readonly refs: RemoteRefs },
  ) {
    this.#options = options;
    this.#requests = requests;
    this.#greeting = answers.greeting;
    this.refs = answers.refs;
  }

  /**
   * Asks for the references.
   *
   * @throws NoGitRepository; ConnectionLost; RemoteError
   */
  static async ask(options: GitUpstreamOptions): Promise<GitUpstream> {
    const requests = new Requests(options);
    return await requests.explained(async () => {
      const greeting = readGreeting(await requests.greet());
      const refs = greeting.refs ?? readRefs(
        await whole(await requests.post(listRequest(greeting, AGENT), greeting)),
      );
      return new GitUpstream(options, requests, { greeting, refs });
    });
  }

  /**
   * Fetches objects into a file.
   *
   * @param onProgress called with the bytes so far
   * @throws Unavailable if the disk has no room; ConnectionLost; RemoteError
   */
  async fetch(
    wanted: Wanted,
    target: string,
    onProgress: (bytes: number) => void = () => {},
  ): Promise<void> {
    const { space, maxBytes } = this.#options;
    space.require();
    await this.#requests.explained(async () => {
      const answer = await this.#requests.post(
        fetchRequest(this.#greeting, wanted, AGENT),
        this.#greeting,
      );
      const pack = new PackAnswer(this.#greeting);
      using file = new PackFile(await Deno.open(target, { write: true, createNew: true }));
      try {
        for await (const bytes of answer.body) {
          for (const part of pack.take(bytes)) await file.add(part);
          if (file.bytes > maxBytes) {
            throw new GitError(
              `Its pack has more than ${maxBytes} bytes, which are the limit here`,
            );
          }
          space.require();
          onProgress(file.bytes);
        }
        pack.finish();
        await file.flush();
      } finally {
        answer.drop();
      }
    });
  }
}

/** The file of a pack, which is written in large parts. */
class PackFile implements Disposable {
  bytes = 0;
  readonly #file: Deno.FsFile;
  readonly #parts = Buffer.allocUnsafe(WRITE_BYTES);
  #filled = 0;

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  async add(part: Uint8Array): Promise<void> {
    if (this.#filled + part.length > WRITE_BYTES) await this.flush();
    this.#parts.set(part, this.#filled);
    this.#filled += part.length;
    this.bytes += part.length;
  }

  async flush(): Promise<void> {
    for (let written = 0; written < this.#filled;) {
      written += await this.#file.write(this.#parts.subarray(written, this.#filled));
    }
    this.#filled = 0;
  }

  [Symbol.dispose](): void {
    this.#file.close();
  }
}

/** Requests to one server. */
class Requests {
  readonly #options: GitUpstreamOptions;
  /** Where the repository is, without a slash at the end; a redirect may move it. */
  #base: string;
  /** Whether requests carry the credentials: those of one host are nobody else's. */
  #isAuthorized: boolean;

  constructor(options: GitUpstreamOptions) {
    const { url, credentials } = options.remote;
    this.#options = options;
    this.#base = url.href.endsWith("/") ? url.href.slice(0, -1) : url.href;
    this.#isAuthorized = credentials !== null;
  }

  /** The answer to the first request, which alone may be redirected, as `git` does it. */
  async greet(): Promise<Uint8Array> {
    let url = new URL(this.#base + SERVICE);
    for (let redirects = 0;; redirects++) {
      const answer = await this.#options.client.get(url, {
        headers: {
          "accept": "application/x-git-upload-pack-advertisement, */*",
          "git-protocol": "version=2",
          ...this.#headers(),
        },
        signal: this.#options.signal,
      });
      const location = answer.header("location");
      if (REDIRECTS.has(answer.status) && location !== null) {
        answer.drop();
        if (redirects === MAX_REDIRECTS) throw this.#none("too many redirects");
        url = this.#redirected(url, location);
        continue;
      }
      this.#requireOk(answer, "application/x-git-upload-pack-advertisement");
      return await whole(answer);
    }
  }

  async post(
    body: Uint8Array,
    { version }: Pick<RemoteGreeting, "version">,
  ): Promise<OutboundAnswer> {
    const answer = await this.#options.client.post(new URL(`${this.#base}/git-upload-pack`), {
      headers: {
        "accept": "application/x-git-upload-pack-result",
        "content-type": "application/x-git-upload-pack-request",
        ...version === 2 ? { "git-protocol": "version=2" } : {},
        ...this.#headers(),
      },
      body,
      signal: this.#options.signal,
    });
    this.#requireOk(answer, "application/x-git-upload-pack-result");
    return answer;
  }

  /** Runs work; what fails is an error that a person understands. */
  async explained<T>(work: () => Promise<T>): Promise<T> {
    const { remote: { url: { host } }, signal } = this.#options;
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (error instanceof ClosedHost) throw new RemoteError(error.message);
      if (error instanceof GitError) throw new RemoteError(`${host} answers: ${error.message}`);
      if (!(error instanceof OutboundFailure)) throw error;
      const message = `${host}: ${error.message}`;
      throw error.isPassing ? new ConnectionLost(message) : new RemoteError(message);
    }
  }

  #headers(): Record<string, string> {
    const { credentials } = this.#options.remote;
    const agent = { "user-agent": AGENT };
    if (credentials === null || !this.#isAuthorized) return agent;
    const { username, password } = credentials;
    const basic = Buffer.from(`${username}:${password}`).toString("base64");
    return { ...agent, authorization: `Basic ${basic}` };
  }

  /** Follows a redirect: the repository is where the new URL says. */
  #redirected(from: URL, location: string): URL {
    const to = URL.canParse(location, from) ? new URL(location, from) : null;
    const isSafe = to !== null && /^https?:$/.test(to.protocol) &&
      !(from.protocol === "https:" && to.protocol === "http:") && to.username === "" &&
      to.password === "";
    if (!isSafe || !to.href.endsWith(SERVICE)) {
      throw this.#none("it redirects to something that is not a Git repository");
    }
    if (to.origin !== from.origin) this.#isAuthorized = false;
    this.#base = to.href.slice(0, -SERVICE.length);
    return to;
  }

  #requireOk(answer: OutboundAnswer, type: string): void {
    const { status } = answer;
    const found = answer.header("content-type")?.split(";", 1)[0]?.trim();
    if (status === 200 && found === type) return;
    answer.drop();
    const { host } = this.#options.remote.url;
    if (status === 401 || status === 403) {
      throw new RemoteError(
        this.#isAuthorized
          ? `${host} refuses the user or the password (status ${status})`
          : `${host} asks for a user and a password (status ${status})`,
      );
    }
    if (status >= 500 || status === 429) throw new ConnectionLost(`${host}: status ${status}`);
    throw this.#none(status === 200 ? "its answer is not Git's" : `status ${status}`);
  }

  #none(reason: string): NoGitRepository {
    return new NoGitRepository(
      `No Git repository answers at ${this.#options.remote.url.href}: ${reason}`,
    );
  }
}

/** The body of an answer with references. */
async function whole(answer: OutboundAnswer): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const part of answer.body) {
      bytes += part.length;
      if (bytes > MAX_REFS_BYTES) throw new GitError("It names too many references");
      parts.push(part.slice());
    }
  } finally {
    answer.drop();
  }
  return Buffer.concat(parts);
}
