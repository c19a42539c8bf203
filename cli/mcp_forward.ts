import { NotDelivered, type OutgoingMessage, RPC_ERROR, ServerAway } from "../mcp/stdio/mod.ts";
import { answerUntil } from "../services/kernel/body_until.ts";
import { SESSION_HEADER } from "../services/kernel/session_header.ts";
import type { Config } from "../services/operation/config/mod.ts";
import { readToken } from "./client.ts";
import { certificateFault, trustOwnCertificate } from "./certificates.ts";
import { CommandFailed } from "./output.ts";

/** How long to look for a server that does not answer, in milliseconds: it may just restart. */
const RECONNECT_LIMIT = 5000;
/** The pause between two attempts, in milliseconds. */
const RECONNECT_PAUSE = 250;
/** How long a brief message may take, in milliseconds: clients wait ten seconds for a start. */
const BRIEF_LIMIT = 8000;

/** How often a client that has called a tool says that it is there, in milliseconds. */
const BEAT = 60_000;
/** How long the end of a session may take, in milliseconds: clients soon kill who does not end. */
const END_LIMIT = 1500;

/** What an agent can do without the server. */
const GO_ON = "Tell your user, go on with work that does not need muster, and try again later";

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
  readonly #session: string;
  #token: string;
  #beat: ReturnType<typeof setInterval> | undefined;

  private constructor(
    config: Config,
    locate: () => Promise<string>,
    connection: {
      readonly token: string;
      readonly http: Deno.HttpClient | null;
      readonly session: string;
    },
  ) {
    this.#config = config;
    this.#locate = locate;
    this.#http = connection.http;
    this.#session = connection.session;
    this.#token = connection.token;
  }

  /**
   * @param locate the URL of the endpoint, asked for before each attempt: a server that starts again
   * may have another one; throws ServerAway
   * @param session what names the client's session to the server
   * @throws CommandFailed if there is no token
   */
  static async open(
    config: Config,
    locate: () => Promise<string>,
    session: string,
  ): Promise<ForwardedMcp> {
    const token = await readToken(config.data_dir);
    const http = await trustOwnCertificate(config);
    return new ForwardedMcp(config, locate, { token, http, session });
  }

  /** @throws NotDelivered */
  async deliver(message: OutgoingMessage): Promise<Response> {
    if (this.#beat === undefined && message.body.includes('"tools/call"')) {
      this.#beat = setInterval(() => this.#sayPresent(), BEAT);
      Deno.unrefTimer(this.#beat);
    }
    const response = await this.#reach(message);
    if (response.status !== 401) return response;
    const before = this.#token;
    this.#token = await this.#newToken();
    if (this.#token === before) throw await refusal(response);
    await response.body?.cancel();
    const again = await this.#reach(message);
    if (again.status === 401) throw await refusal(again);
    return again;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#beat !== undefined) {
      clearInterval(this.#beat);
      await this.#say("DELETE", null, END_LIMIT);
    }
    this.#http?.close();
  }

  /** Keeps the session while the agent thinks, or waits for its person. */
  async #sayPresent(): Promise<void> {
    await this.#say("POST", '{"jsonrpc":"2.0","method":"notifications/initialized"}', BRIEF_LIMIT);
  }

  /** Sends what needs no answer. A server that is away hears it later, or sees the silence. */
  async #say(method: string, body: string | null, limit: number): Promise<void> {
    try {
      const answer = await fetch(await this.#locate(), {
        method,
        headers: {
          "authorization": `Bearer ${this.#token}`,
          "content-type": "application/json",
          [SESSION_HEADER]: this.#session,
        },
        body,
        signal: AbortSignal.timeout(limit),
        ...(this.#http === null ? {} : { client: this.#http }),
      });
      await answer.body?.cancel();
    } catch {
      // As said above.
    }
  }

  /** The token as it is now; that from before if there is none. */
  async #newToken(): Promise<string> {
    try {
      return await readToken(this.#config.data_dir);
    } catch (error) {
      if (error instanceof CommandFailed) return this.#token;
      throw error;
    }
  }

  /** Sends a message; if it waits, looks for the server for a while. */
  async #reach(message: OutgoingMessage): Promise<Response> {
    const brief = message.isBrief ? AbortSignal.timeout(BRIEF_LIMIT) : null;
    const signal = brief === null ? message.signal : AbortSignal.any([message.signal, brief]);
    const limit = performance.now() + RECONNECT_LIMIT;
    for (;;) {
      const answer = await this.#attempt({ ...message, signal });
      if (!(answer instanceof ServerAway)) return answer;
      if (!message.waits || signal.aborted || performance.now() > limit) throw answer;
      await new Promise((resolve) => setTimeout(resolve, RECONNECT_PAUSE));
    }
  }

  /**
   * Sends a message once.
   *
   * @returns ServerAway if nothing accepts it; another attempt is then safe
   * @throws NotDelivered
   */
  async #attempt({ headers, body, signal }: OutgoingMessage): Promise<Response | ServerAway> {
    headers.set("authorization", `Bearer ${this.#token}`);
    headers.set(SESSION_HEADER, this.#session);
    const url = await this.#locate().catch((error) => {
      if (error instanceof ServerAway) return error;
      throw error;
    });
    if (url instanceof ServerAway) return url;
    try {
      const answer = await fetch(url, {
        method: "POST",
        headers,
        body,
        signal,
        ...(this.#http === null ? {} : { client: this.#http }),
      });
      if (!isGatewayFault(answer)) return answerUntil(answer, signal);
      await answer.body?.cancel();
      throw brokenOff(url);
    } catch (error) {
      if (error instanceof DOMException && error.name === "TimeoutError") return noAnswer(url);
      if (signal.aborted || !(error instanceof TypeError)) throw error;
      const fault = certificateFault(url, error);
      if (fault !== null) throw untrusted(url, fault);
      if (/\(SendRequest\)/.test(`${error.message} ${error.cause}`)) throw brokenOff(url);
      return noAnswer(url);
    }
  }
}

/** Whether a proxy answers in place of the server: muster itself answers in JSON. */
function isGatewayFault({ status, headers }: Response): boolean {
  const isJson = headers.get("content-type")?.startsWith("application/json") === true;
  return status >= 502 && status <= 504 && !isJson;
}

/** The error for a server that nobody has reached. */
function noAnswer(url: string): ServerAway {
  return new ServerAway(`muster does not answer at ${url}, so nothing was done. ${GO_ON}`, {
    remedy:
      `No muster answers at ${url}. Start it with "muster serve", or give the right address ` +
      "with --url or MUSTER_URL",
  });
}

function brokenOff(url: string): ServerAway {
  return new ServerAway(
    `The connection to ${url} broke off before the answer. The call may have been done: look ` +
      "before you repeat it, and tell your user if muster stays away",
    { remedy: `The connection to ${url} broke off before the answer` },
  );
}

function untrusted(url: string, fault: string): ServerAway {
  return new ServerAway(
    `The certificate of ${url} cannot be trusted, so nothing was done. ${GO_ON}`,
    { remedy: fault },
  );
}

/** The error for a data folder that has no server for this client. */
export function notServed(remedy: string): ServerAway {
  return new ServerAway(`muster does not run here now, so nothing was done. ${GO_ON}`, { remedy });
}

async function refusal(response: Response): Promise<NotDelivered> {
  const text = await response.text();
  const [, reason = "The token is not valid"] = /"message":"([^"]*)"/.exec(text) ?? [];
  return new NotDelivered(
    `muster refuses this client's token: ${reason}. Tell your user, and go on with work that does ` +
      "not need muster",
    {
      remedy: `${reason}. Set MUSTER_TOKEN to a valid token: "muster token add NICK" makes one`,
      code: RPC_ERROR.unauthorized,
    },
  );
}
