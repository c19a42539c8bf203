import { join } from "node:path";
import { z } from "zod";
import { formatAddress, parseAddress } from "../services/config/mod.ts";
import type { CommandOptions } from "./mod.ts";
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
    const url = options.url ?? Deno.env.get("MUSTER_URL") ?? defaultUrl(settings);
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
    const signal = AbortSignal.timeout(CALL_TIMEOUT);
    const response = await this.request(method, path, signal, body);
    const text = await response.text();
    if (!response.ok) throw new CommandFailed(refusal(response, text));
    const result = schema.safeParse(text === "" ? undefined : JSON.parse(text));
    if (!result.success) throw new CommandFailed(`${this.url} gave an answer of another form`);
    return result.data;
  }

  /** Sends a request and gives the response as it is. */
  async request(
    method: string,
    path: string,
    signal: AbortSignal,
    body?: unknown,
  ): Promise<Response> {
    const headers = new Headers();
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

function defaultUrl(settings: { api_addr: string; tls: { cert: string } }): string {
  const address = parseAddress(settings.api_addr);
  if (address === null) throw new CommandFailed(`"${settings.api_addr}" is not an address`, 2);
  const hostname = address.hostname === "0.0.0.0" ? "127.0.0.1" : address.hostname;
  const scheme = settings.tls.cert === "" ? "http" : "https";
  return `${scheme}://${formatAddress({ hostname, port: address.port })}`;
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
