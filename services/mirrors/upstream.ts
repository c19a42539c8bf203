import { join } from "node:path";
import { clientMessage, contentTypeOf, messageFormOf } from "../fossil/front/mod.ts";
import type { FreeSpace } from "../kernel/files.ts";
import type { Card, ClientLogin, ReceivedMessage } from "../fossil/mod.ts";
import { VERSION } from "../version.ts";
import {
  ClosedHost,
  type OutboundAnswer,
  type OutboundClient,
  OutboundFailure,
} from "../outbound/mod.ts";
import { ConnectionLost, MirrorError } from "./mirror_error.ts";

/** Most messages of one run. */
const MAX_ROUNDS = 10_000;
/** Most bytes of all answers of one run. */
const MAX_RUN_BYTES = 4 * 1024 ** 3;
/** How often a message is sent if the connection fails. */
const ATTEMPTS = 3;

export interface UpstreamOptions {
  readonly remote: {
    readonly url: URL;
    readonly credentials: { readonly username: string; readonly password: string } | null;
  };
  readonly client: Pick<OutboundClient, "post">;
  /** The folder of the answer, which goes away with the next one. */
  readonly folder: string;
  /** Says when the disk has no room for another answer. */
  readonly space: Pick<FreeSpace, "require">;
  /** The most bytes of an answer, and of its cards. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The head of an answer, and the length of its body in bytes. */
interface Posted {
  readonly status: number;
  readonly contentType: string | null;
  readonly bytes: number;
}

/** An upstream Fossil repository, during one run. */
export class Upstream {
  readonly #options: UpstreamOptions;
  #rounds = 0;
  #bytes = 0;

  constructor(options: UpstreamOptions) {
    this.#options = options;
  }

  /** The login for a project; null without a password. */
  loginFor(projectCode: string): ClientLogin | null {
    const { credentials } = this.#options.remote;
    if (credentials === null) return null;
    const { username: user, password } = credentials;
    return { user, password, projectCode };
  }

  /**
   * Sends cards and receives the answer in a file.
   *
   * @throws Unavailable if the disk has no room for the answer
   * @throws ConnectionLost if the connection fails again and again
   * @throws MirrorError if the answer is not one of the sync protocol, or a bound is reached
   */
  async ask(cards: readonly Card[], login: ClientLogin | null): Promise<ReceivedMessage> {
    const { remote: { url }, folder, space, maxBytes } = this.#options;
    space.require();
    if (++this.#rounds > MAX_ROUNDS || this.#bytes > MAX_RUN_BYTES) {
      throw new MirrorError("Upstream sends too much for one run; the next one goes on");
    }
    const target = join(folder, "answer");
    const { status, contentType, bytes } = await this.#post(clientMessage(cards, login), target);
    this.#bytes += bytes;
    if (status >= 300 && status < 400) {
      throw new MirrorError(
        `${url.host} redirects to another URL, which muster does not follow: set that URL`,
      );
    }
    const form = messageFormOf(contentType);
    if (status !== 200 || form === null) {
      const what = status === 200 ? "its answer is not of the sync protocol" : `status ${status}`;
      throw new MirrorError(`No Fossil repository answers at ${url.href}: ${what}`);
    }
    return { source: { kind: "file", path: target }, form, maxBytes };
  }

  /** Posts a message, and receives the answer in a file. */
  async #post(body: Uint8Array, target: string): Promise<Posted> {
    const { remote: { url }, client, signal } = this.#options;
    const headers = {
      "content-type": contentTypeOf("compressed"),
      "user-agent": `Fossil/2.21 (muster ${VERSION})`,
    };
    for (let attempt = 1;; attempt++) {
      try {
        const answer = await client.post(url, { headers, body, signal });
        const bytes = await this.#receive(answer, target);
        return { status: answer.status, contentType: answer.header("content-type"), bytes };
      } catch (error) {
        const failure = this.#failureOf(error);
        if (!(failure instanceof ConnectionLost) || attempt === ATTEMPTS) throw failure;
      }
    }
  }

  /** @returns the length of the answer's body, in bytes */
  async #receive(answer: OutboundAnswer, target: string): Promise<number> {
    const { remote: { url }, maxBytes } = this.#options;
    const require = (length: number) => {
      if (length <= maxBytes) return;
      throw new MirrorError(`The answer of ${url.host} has more than ${maxBytes} bytes`);
    };
    let bytes = 0;
    try {
      require(Number(answer.header("content-length") ?? 0));
      const options = { write: true, create: true, truncate: true, mode: 0o600 };
      using file = await Deno.open(target, options);
      for await (const part of answer.body) {
        bytes += part.length;
        require(bytes);
        for (let written = 0; written < part.length;) {
          written += await file.write(part.subarray(written));
        }
      }
    } finally {
      answer.drop();
    }
    return bytes;
  }

  #failureOf(error: unknown): unknown {
    const { remote: { url }, signal } = this.#options;
    if (error instanceof MirrorError) return error;
    if (signal.aborted) return new MirrorError("Upstream did not answer in time");
    if (error instanceof ClosedHost) return new MirrorError(error.message);
    if (!(error instanceof OutboundFailure)) return error;
    return error.isPassing
      ? new ConnectionLost(`${url.host}: ${error.message}`)
      : new MirrorError(`${url.host}: ${error.message}`);
  }
}
