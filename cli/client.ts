import { join } from "node:path";
import { z } from "zod";
import { answerUntil } from "../services/kernel/body_until.ts";
import { type Config, parseAddress, urlOf } from "../services/operation/config/mod.ts";
import type { CommandOptions } from "./options.ts";
import { readEndpoints } from "./endpoints.ts";
import { CommandFailed, printError, visible } from "./output.ts";
import { certificateFault, requireAuthorities, trustOwnCertificate } from "./certificates.ts";
import { readClientSettings } from "./settings.ts";

/** Time limit of a call, except for streams, in milliseconds. */
const CALL_TIMEOUT = 30_000;

const errorSchema = z.object({ error: z.string() });

/** Warnings of the server about a request. */
const warningsSchema = z.array(z.string());

/** The server cannot be reached now; another attempt may succeed. */
export class Unreachable extends CommandFailed {}

/** The server refused the request. */
export class Refused extends CommandFailed {
  /** The HTTP status. */
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

interface RequestOptions {
  readonly accept: string;
  readonly signal: AbortSignal;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent unchanged, as it is read. */
  readonly file?: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls the API of a running server. */
export class ApiClient {
  readonly url: string;
  readonly #token: string | null;
  readonly #http: Deno.HttpClient | null;

  private constructor(url: string, token: string | null, http: Deno.HttpClient | null) {
    this.url = url;
    this.#token = token;
    this.#http = http;
  }

  /**
   * Finds the server and the credential: `--url`, `MUSTER_URL`, or the server of the data folder;
   * `MUSTER_TOKEN`, the file that `MUSTER_TOKEN_FILE` names, or `api_token` in the data folder.
   *
   * @param token the credential itself, or whether to look for one
   */
  static async connect(
    options: CommandOptions,
    { token = true }: { readonly token?: boolean | string } = {},
  ): Promise<ApiClient> {
    const settings = await readClientSettings(options);
    const url = options.url ?? Deno.env.get("MUSTER_URL") ??
      await defaultUrl(settings);
    if (!URL.canParse(url)) throw new CommandFailed(`"${url}" is not a URL`, 2);
    return new ApiClient(
      url.replace(/(?<!\/)\/+$/, ""),
      token === true
        ? await readToken(settings.data_dir)
        : token === false
        ? null
        : requireToken(token),
      url.startsWith("https:") ? await trustOwnCertificate(settings) : null,
    );
  }

  /**
   * Calls an endpoint and returns the JSON that it answers, undefined if it answers none.
   *
   * @param timeout milliseconds
   * @throws Refused with the server's error text; Unreachable if no server answers
   */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    timeout = CALL_TIMEOUT,
  ): Promise<unknown> {
    const response = await this.#request(method, path, {
      accept: "application/json",
      signal: AbortSignal.timeout(timeout),
      body,
    });
    const text = await response.text();
    if (!response.ok) throw this.#refusal(response, text);
    printWarnings(response.headers);
    try {
      return text === "" ? undefined : JSON.parse(text);
    } catch {
      throw new CommandFailed(`${this.url} gave an unexpected answer`);
    }
  }

  /** Calls an endpoint as {@link ask} does, and checks its answer. */
  async call<Schema extends z.ZodType>(
    method: string,
    path: string,
    schema: Schema,
    body?: unknown,
    timeout = CALL_TIMEOUT,
  ): Promise<z.infer<Schema>> {
    const result = schema.safeParse(await this.ask(method, path, body, timeout));
    if (!result.success) throw new CommandFailed(`${this.url} gave an unexpected answer`);
    return result.data;
  }

  /**
   * Opens an event stream.
   *
   * @throws Unreachable if the server is away; CommandFailed if it refuses
   */
  async openStream(path: string): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#request("GET", path, {
      accept: "text/event-stream",
      signal: new AbortController().signal,
    });
    if (response.ok && response.body !== null) return response.body;
    const refused = this.#refusal(response, await response.text());
    throw refused.status >= 500 ? new Unreachable(refused.message) : refused;
  }

  /**
   * Sends a file and yields the lines of the answer, without a time limit.
   *
   * @throws Unreachable if the server is away; Refused with its error text
   */
  async *upload(path: string, file: ReadableStream<Uint8Array>): AsyncGenerator<string> {
    const response = await this.#request("PUT", path, {
      accept: "application/x-ndjson",
      signal: new AbortController().signal,
      file,
    });
    if (!response.ok) throw this.#refusal(response, await response.text());
    const lines = (response.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream());
    let rest = "";
    for await (const text of lines) {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      yield* parts;
    }
    if (rest !== "") yield rest;
  }

  /**
   * Downloads a file from the server.
   *
   * @returns its content, and its length in bytes, null if the server does not send it
   * @throws Unreachable if the server is away; Refused with its error text
   */
  async download(
    path: string,
  ): Promise<{ readonly body: ReadableStream<Uint8Array>; readonly bytes: number | null }> {
    const response = await this.#request("GET", path, {
      accept: "*/*",
      signal: new AbortController().signal,
    });
    if (!response.ok) throw this.#refusal(response, await response.text());
    const length = response.headers.get("content-length");
    return {
      body: response.body ?? new Blob().stream(),
      bytes: length === null ? null : Number(length),
    };
  }

  /**
   * Posts bytes of another protocol, without a time limit.
   *
   * @throws Unreachable if the server is away; Refused with its error text
   */
  async exchange(
    path: string,
    headers: Readonly<Record<string, string>>,
    file: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer>,
  ): Promise<Uint8Array> {
    const response = await this.#request("POST", path, {
      accept: "*/*",
      signal: new AbortController().signal,
      headers,
      file,
    });
    if (!response.ok) throw this.#refusal(response, await response.text());
    return new Uint8Array(await response.arrayBuffer());
  }

  /** The server's error text, with the server's address and advice. */
  #refusal({ status, headers }: Response, text: string): Refused {
    const hint = status === 401
      ? "\nSet MUSTER_TOKEN to the token, or --data-dir to the folder with the file api_token"
      : "";
    const isPlain = headers.get("content-type")?.startsWith("text/plain") === true;
    const sentence = isPlain ? text.trim() : sentenceOf(status, text);
    return new Refused(`${sentence} (from ${this.url})${hint}`, status);
  }

  async #request(
    method: string,
    path: string,
    { accept, signal, body, file, headers: more = {} }: RequestOptions,
  ): Promise<Response> {
    requireOwnPath(path);
    const headers = new Headers({ ...more, accept });
    if (this.#token !== null) headers.set("authorization", `Bearer ${this.#token}`);
    if (body !== undefined) headers.set("content-type", "application/json");
    try {
      const answer = await fetch(this.url + path, {
        method,
        headers,
        signal,
        ...(this.#http === null ? {} : { client: this.#http }),
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        ...(file === undefined ? {} : { body: file }),
      });
      return answerUntil(answer, signal);
    } catch (error) {
      if (signal.aborted) throw new Unreachable(`${this.url} does not answer`);
      requireAuthorities();
      if (error instanceof TypeError) {
        const fault = certificateFault(this.url, error);
        if (fault !== null) throw new CommandFailed(fault);
        throw new Unreachable(
          /\(SendRequest\)/.test(`${error.message} ${error.cause}`)
            ? `The connection to ${this.url} broke off before the answer`
            : `No muster answers at ${this.url}; is it running?`,
        );
      }
      throw error;
    }
  }
}

/** A part of a path that `fetch` or the server leaves out, or that takes the one before it along. */
const LOST_PART = /^(?:\.|%2e){0,2}$/i;

/**
 * Checks that a path with names in it stays the path of what they name.
 *
 * @throws CommandFailed
 */
function requireOwnPath(path: string): void {
  const [names = ""] = path.split("?", 1);
  if (!names.split("/").slice(1).some((part) => LOST_PART.test(part))) return;
  throw new CommandFailed('No name or id in a command may be empty, "." or ".."', 2);
}

function sentenceOf(status: number, text: string): string {
  try {
    return errorSchema.parse(JSON.parse(text)).error;
  } catch {
    return `The server answered ${status}`;
  }
}

/** Prints the server's warnings about an accepted request: a JSON array, or one sentence. */
function printWarnings(headers: Headers): void {
  const text = headers.get("x-muster-warnings");
  if (text === null) return;
  for (const warning of readWarnings(text)) printError(`warning: ${visible(warning)}`);
}

function readWarnings(text: string): readonly string[] {
  try {
    return warningsSchema.parse(JSON.parse(text));
  } catch {
    return [text];
  }
}

/** The address of the data folder's server, or else the configured one. */
async function defaultUrl({ api_addr, data_dir, tls }: Config): Promise<string> {
  const bound = await readEndpoints(data_dir);
  if (bound !== null) return bound.api;
  const address = parseAddress(api_addr);
  if (address === null) throw new CommandFailed(`"${api_addr}" is not an address`, 2);
  if (address.port === 0) {
    throw new Unreachable(`No muster has been started with the data folder "${data_dir}"`);
  }
  return urlOf(tls.cert === "" ? "http" : "https", address);
}

/**
 * The token of commands: `MUSTER_TOKEN`, or the operator's in the data folder.
 *
 * @throws CommandFailed if there is none, or it cannot be one
 */
export async function readToken(dataDir: string): Promise<string> {
  const token = Deno.env.get("MUSTER_TOKEN") ?? Deno.env.get("MUSTER_API_TOKEN");
  if (token !== undefined) return requireToken(token);
  const path = Deno.env.get("MUSTER_TOKEN_FILE") ?? join(dataDir, "api_token");
  return requireToken((await readTokenFile(path)).trim());
}

/**
 * A token as it is, if a header can hold it. Headers refuse others with a text that shows them.
 *
 * @throws CommandFailed
 */
function requireToken(token: string): string {
  if (/^[!-~]*$/.test(token)) return token;
  throw new CommandFailed("The token is not the one word that muster printed: is there more?");
}

async function readTokenFile(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new CommandFailed(
        `There is no token at ${path}; start the server, or set MUSTER_TOKEN`,
      );
    }
    throw new CommandFailed(`The token at ${path} cannot be read`);
  }
}
