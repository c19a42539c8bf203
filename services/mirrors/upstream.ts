import { join } from "node:path";
import { clientMessage, contentTypeOf, messageFormOf } from "../fossil/front/mod.ts";
import type { FreeSpace } from "../free_space.ts";
import type { Card, ClientLogin, ReceivedMessage } from "../fossil/mod.ts";
import { VERSION } from "../version.ts";
import { ConnectionLost, post, type Posted } from "./http_post.ts";
import { MirrorError } from "./mirror_error.ts";

/** Most messages of one run. */
const MAX_ROUNDS = 10_000;
/** Most bytes of all answers of one run. */
const MAX_RUN_BYTES = 4 * 1024 ** 3;
/** How often a message is sent if the connection fails. */
const ATTEMPTS = 3;

export interface UpstreamOptions {
  readonly remote: {
    readonly url: URL;
    /** The checked addresses of the host; empty for a host that is an address. */
    readonly addresses: readonly string[];
    readonly credentials: { readonly username: string; readonly password: string } | null;
  };
  /** The folder of the answer, which goes away with the next one. */
  readonly folder: string;
  /** Says when the disk has no room for another answer. */
  readonly space: Pick<FreeSpace, "require">;
  /** The most bytes of an answer, and of its cards. */
  readonly maxBytes: number;
  readonly signal: AbortSignal;
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

  async #post(body: Uint8Array, target: string): Promise<Posted> {
    const { remote: { url, addresses }, maxBytes, signal } = this.#options;
    const hosts = addresses.length > 0 ? addresses : [url.hostname.replace(/^\[|\]$/g, "")];
    const headers = {
      "content-type": contentTypeOf("compressed"),
      "user-agent": `Fossil/2.21 (muster ${VERSION})`,
    };
    for (let attempt = 0;; attempt++) {
      const address = hosts[attempt % hosts.length] ?? url.hostname;
      try {
        return await post({ url, address, headers, body, target, maxBytes, signal });
      } catch (error) {
        if (!(error instanceof ConnectionLost) || attempt + 1 === ATTEMPTS) throw error;
      }
    }
  }
}
