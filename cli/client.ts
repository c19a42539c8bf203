import { join } from "node:path";
import { z } from "zod";
import { type Config, parseAddress } from "../services/config/mod.ts";
import type { CommandOptions } from "./options.ts";
import { readEndpoints, urlOf } from "./endpoints.ts";
import { CommandFailed } from "./output.ts";
import { readSettings } from "./settings.ts";

/** How long a call may take, in milliseconds; streams excepted. */
const CALL_TIMEOUT = 30_000;

const errorSchema = z.object({ error: z.string() });

/** The server cannot be reached at the moment; another try may succeed. */
export class Unreachable extends CommandFailed {}

/** Calls the API of a running server. */
export class ApiClient {
  readonly url: string;
  readonly #token: string | null;

  private constructor(url: string, token: string | null) {
    this.url = url;
    this.#token = token;
  }

  /**
   * Finds the server and the credential: `--url`, `MUSTER_URL` or `api_addr`; `MUSTER_TOKEN` or the
   * file `api_token` in the data folder.
   */
  static async connect(options: CommandOptions, { token = true } = {}): Promise<ApiClient> {
    const settings = await readSettings(options);
    const url = options.url ?? Deno.env.get("MUSTER_URL") ??
      await defaultUrl(settings);
    if (!URL.canParse(url)) throw new CommandFailed(`"${url}" is not a URL`, 2);
    return new ApiClient(
      url.replace(/\/+$/, ""),
      token ? await readToken(settings.data_dir) : null,
    );
  }

  /**
   * Calls an endpoint and reads its answer.
   *
   * @throws CommandFailed with the server's own sentence where it refuses
   */
  async call<Schema extends z.ZodType>(
    method: string,
    path: string,
    schema: Schema,
    body?: unknown,
  ): Promise<z.infer<Schema>> {
    const response = await this.#request(method, path, {
      accept: "application/json",
      signal: AbortSignal.timeout(CALL_TIMEOUT),
      body,
    });
    const text = await response.text();
    if (!response.ok) throw new CommandFailed(refusal(response, text));
    const result = schema.safeParse(text === "" ? undefined : JSON.parse(text));
    if (!result.success) throw new CommandFailed(`${this.url} gave an answer of another form`);
    return result.data;
  }

  /**
   * Opens an event stream.
   *
   * @throws Unreachable where the server is away, CommandFailed where it refuses
   */
  async openStream(path: string): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#request("GET", path, {
      accept: "text/event-stream",
      signal: new AbortController().signal,
    });
    if (response.ok && response.body !== null) return response.body;
    const message = refusal(response, await response.text());
    throw response.status >= 500 ? new Unreachable(message) : new CommandFailed(message);
  }

  async #request(
    method: string,
    path: string,
    { accept, signal, body }: { accept: string; signal: AbortSignal; body?: unknown },
  ): Promise<Response> {
    const headers = new Headers({ accept });
    if (this.#token !== null) headers.set("authorization", `Bearer ${this.#token}`);
    if (body !== undefined) headers.set("content-type", "application/json");
    try {
      return await fetch(this.url + path, {
        method,
        headers,
        signal,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
    } catch (error) {
      if (signal.aborted) throw new Unreachable(`${this.url} does not answer`);
      if (error instanceof TypeError) {
        throw new Unreachable(`No muster answers at ${this.url}; is it running?`);
      }
      throw error;
    }
  }
}

function refusal(response: Response, text: string): string {
  try {
    return errorSchema.parse(JSON.parse(text)).error;
  } catch {
    return `The server answered ${response.status}`;
  }
}

/** The address of the configuration, or, where that takes a free port, the one that was bound. */
async function defaultUrl({ api_addr, data_dir, tls }: Config): Promise<string> {
  const address = parseAddress(api_addr);
  if (address === null) throw new CommandFailed(`"${api_addr}" is not an address`, 2);
  if (address.port === 0) {
    const bound = await readEndpoints(data_dir);
    if (bound === null) throw new Unreachable("No muster has been started with this data folder");
    return bound.api;
  }
  return urlOf(tls.cert === "" ? "http" : "https", address);
}

async function readToken(dataDir: string): Promise<string> {
  const token = Deno.env.get("MUSTER_TOKEN") ?? Deno.env.get("MUSTER_API_TOKEN");
  if (token !== undefined) return token;
  const path = join(dataDir, "api_token");
  try {
    return (await Deno.readTextFile(path)).trim();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new CommandFailed(
        `There is no token at ${path}; start the server, or set MUSTER_TOKEN`,
      );
    }
    throw new CommandFailed(`The token at ${path} cannot be read`);
  }
}
