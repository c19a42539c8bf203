import { NotDelivered, type OutgoingMessage, RPC_ERROR } from "../mcp/stdio/mod.ts";
import { answerUntil } from "../services/kernel/body_until.ts";
import type { Config } from "../services/operation/config/mod.ts";
import { readToken } from "./client.ts";
import { certificateFault, trustOwnCertificate } from "./certificates.ts";

/** How long to look for a server that does not answer, in milliseconds: it may just restart. */
const RECONNECT_LIMIT = 5000;
/** The pause between two attempts, in milliseconds. */
const RECONNECT_PAUSE = 250;

/**
 * The MCP endpoint of a server: the URL itself if it ends in `/mcp`, else `/mcp` below it.
 *
 * @returns null if the text is not a URL of HTTP
 */
export function mcpUrlOf(url: string): string | null {
  if (!URL.canParse(url) || !/^https?:/.test(url)) return null;
  const base = url.replace(/(?<!\/)\/+$/, "");
  return base.endsWith("/mcp") ? base : `${base}/mcp`;
}

/** Delivers messages, and ends with what it started. */
export interface Delivery extends AsyncDisposable {
  deliver(message: OutgoingMessage): Promise<Response>;
}

/** Delivers messages to the `/mcp` of a running server. */
export class ForwardedMcp implements Delivery {
  readonly #config: Config;
  readonly #locate: () => Promise<string>;
  readonly #http: Deno.HttpClient | null;
  #token: string;

  private constructor(
    config: Config,
    locate: () => Promise<string>,
    connection: { readonly token: string; readonly http: Deno.HttpClient | null },
  ) {
    this.#config = config;
    this.#locate = locate;
    this.#http = connection.http;
    this.#token = connection.token;
  }

  /**
   * @param locate the URL of the endpoint, asked for before each attempt: a server that starts again
   * may have another one; throws NotDelivered
   * @throws CommandFailed if there is no token
   */
  static async open(config: Config, locate: () => Promise<string>): Promise<ForwardedMcp> {
    const token = await readToken(config.data_dir);
    return new ForwardedMcp(config, locate, { token, http: await trustOwnCertificate(config) });
  }

  /** @throws NotDelivered */
  async deliver(message: OutgoingMessage): Promise<Response> {
    const response = await this.#reach(message);
    if (response.status !== 401) return response;
    const before = this.#token;
    this.#token = await readToken(this.#config.data_dir);
    if (this.#token === before) throw await refusal(response);
    await response.body?.cancel();
    const again = await this.#reach(message);
    if (again.status === 401) throw await refusal(again);
    return again;
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.#http?.close();
    return Promise.resolve();
  }

  /** Sends a message, and looks for the server for a while if nothing accepts it. */
  async #reach({ headers, body, signal }: OutgoingMessage): Promise<Response> {
    headers.set("authorization", `Bearer ${this.#token}`);
    const limit = performance.now() + RECONNECT_LIMIT;
    for (;;) {
      const url = await this.#locate();
      try {
        const answer = await fetch(url, {
          method: "POST",
          headers,
          body,
          signal,
          ...(this.#http === null ? {} : { client: this.#http }),
        });
        return answerUntil(answer, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof TypeError)) throw error;
        const fault = certificateFault(url, error);
        if (fault !== null) throw new NotDelivered(fault.replaceAll("\n", ". "));
        if (/\(SendRequest\)/.test(`${error.message} ${error.cause}`)) {
          throw new NotDelivered(
            `The connection to ${url} broke off before the answer. The call may have been done: ` +
              "look before you repeat it",
          );
        }
        if (performance.now() > limit) {
          throw new NotDelivered(
            `No muster answers at ${url}. Start it with "muster serve", or give the right address ` +
              "with --url or MUSTER_URL; then call again",
          );
        }
      }
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_PAUSE));
    }
  }
}

async function refusal(response: Response): Promise<NotDelivered> {
  const text = await response.text();
  const [, reason = "The token is not valid"] = /"message":"([^"]*)"/.exec(text) ?? [];
  return new NotDelivered(
    `${reason}. Set MUSTER_TOKEN to a valid token: "muster token add NICK" makes one`,
    RPC_ERROR.unauthorized,
  );
}
