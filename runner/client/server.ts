/** The server, as a runner calls it. */
import { z } from "zod";
import {
  type Assignment,
  assignmentSchema,
  CACHE_KEY_HEADER,
  type FinishRequest,
  GENERATION_HEADER,
  type LeaseRequest,
  logAcceptedSchema,
  type LogLine,
  type Renewal,
  renewalSchema,
} from "../../services/work/runs/assignment.ts";

/** An answer comes within this time after the wait that was asked for, in milliseconds. */
const ANSWER_MS = 30_000;
/** How long a file may take, in milliseconds. */
const FILE_MS = 30 * 60_000;

const errorSchema = z.object({ error: z.string(), next: z.int().optional() });

/** The server refused a request, and would refuse it again. */
export class Refused extends Error {
  override readonly name = "Refused";
  readonly status: number;
  /** The number of the line that the server waits for, if that is why. */
  readonly next: number | null;

  constructor(message: string, status: number, next: number | null = null) {
    super(message);
    this.status = status;
    this.next = next;
  }
}

/** The server cannot be reached, or cannot answer now; a later attempt may succeed. */
export class Away extends Error {
  override readonly name = "Away";
}

/** A lease of a job. */
export type Lease = Pick<Assignment, "id" | "generation">;

/** The requests of one runner. */
export class Server {
  readonly #url: URL;
  readonly #token: string;

  /** @param url the server's own address */
  constructor(url: URL, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Waits for a job; null if none came in time. */
  async lease(request: LeaseRequest, signal: AbortSignal): Promise<Assignment | null> {
    const waitMs = request.wait_seconds * 1000;
    const response = await this.#post("/v1/runner/jobs", request, { waitMs, signal });
    if (response.status === 204) return null;
    return await bodyOf(response, assignmentSchema);
  }

  /** Keeps a lease, and waits until the job is cancelled or the time is up. */
  async renew(lease: Lease, waitSeconds: number, signal: AbortSignal): Promise<Renewal> {
    const body = { generation: lease.generation, wait_seconds: waitSeconds };
    const options = { waitMs: waitSeconds * 1000, signal };
    return await bodyOf(await this.#post(pathOf(lease, "renew"), body, options), renewalSchema);
  }

  /** Sends lines; returns the number of the line that the server waits for. */
  async log(
    lease: Lease,
    from: number,
    lines: readonly LogLine[],
    signal: AbortSignal,
  ): Promise<number> {
    const body = { generation: lease.generation, from, lines };
    const response = await this.#post(pathOf(lease, "log"), body, { signal });
    return (await bodyOf(response, logAcceptedSchema)).next;
  }

  async finish(
    lease: Lease,
    result: Omit<FinishRequest, "generation">,
    signal: AbortSignal,
  ): Promise<void> {
    const body = { generation: lease.generation, ...result };
    await (await this.#post(pathOf(lease, "finish"), body, { signal })).body?.cancel();
  }

  /** The archive of a job's check-in, with the job's own token. */
  async archive(
    { archive, token }: Pick<Assignment, "archive" | "token">,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#request(archive, { token, limitMs: FILE_MS, signal });
    if (response.body === null) throw new Away("The server sent no archive");
    return response.body;
  }

  /** The cache with a key; null if there is none. */
  async cache(
    lease: Lease,
    key: string,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array> | null> {
    try {
      const headers = this.#fileHeaders(lease, { [CACHE_KEY_HEADER]: key });
      const path = pathOf(lease, "cache");
      return (await this.#request(path, { headers, limitMs: FILE_MS, signal })).body;
    } catch (error) {
      if (error instanceof Refused && error.status === 404) return null;
      throw error;
    }
  }

  async saveCache(
    lease: Lease,
    key: string,
    file: ReadableStream<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const headers = this.#fileHeaders(lease, { [CACHE_KEY_HEADER]: key });
    await this.#put(pathOf(lease, "cache"), { headers, file, signal });
  }

  async saveArtifact(
    lease: Lease,
    path: string,
    file: ReadableStream<Uint8Array>,
    signal: AbortSignal,
  ): Promise<void> {
    const headers = this.#fileHeaders(lease, {});
    const where = pathOf(lease, `artifacts?path=${encodeURIComponent(path)}`);
    await this.#put(where, { headers, file, signal });
  }

  #fileHeaders({ generation }: Lease, more: Record<string, string>): Record<string, string> {
    return { [GENERATION_HEADER]: String(generation), ...more };
  }

  async #put(
    path: string,
    { headers, file, signal }: {
      headers: Record<string, string>;
      file: ReadableStream<Uint8Array>;
      signal: AbortSignal;
    },
  ): Promise<void> {
    const response = await this.#request(path, {
      method: "PUT",
      headers: { ...headers, "Content-Type": "application/octet-stream" },
      body: file,
      limitMs: FILE_MS,
      signal,
    });
    await response.body?.cancel();
  }

  #post(
    path: string,
    body: unknown,
    { waitMs = 0, signal }: { waitMs?: number; signal: AbortSignal },
  ): Promise<Response> {
    return this.#request(path, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      limitMs: waitMs + ANSWER_MS,
      signal,
    });
  }

  /** @throws {Refused} @throws {Away} */
  async #request(
    path: string,
    { method = "GET", headers = {}, body, token = this.#token, limitMs, signal }: {
      method?: string;
      headers?: Record<string, string>;
      body?: string | ReadableStream<Uint8Array>;
      token?: string;
      limitMs: number;
      signal: AbortSignal;
    },
  ): Promise<Response> {
    let response: Response;
    try {
      response = await fetch(new URL(path, this.#url), {
        method,
        headers: { ...headers, Authorization: `Bearer ${token}` },
        body: body as BodyInit | undefined ?? null,
        redirect: "error",
        signal: AbortSignal.any([signal, AbortSignal.timeout(limitMs)]),
      });
    } catch (error) {
      signal.throwIfAborted();
      throw new Away(error instanceof Error ? error.message : String(error));
    }
    if (response.ok) return response;
    const { status } = response;
    const { error, next } = await errorOf(response);
    if (status === 429 || status >= 500) throw new Away(`It answers ${status}: ${error}`);
    throw new Refused(error, status, next ?? null);
  }
}

function pathOf({ id }: Lease, what: string): string {
  return `/v1/runner/jobs/${encodeURIComponent(id)}/${what}`;
}

async function bodyOf<Schema extends z.ZodType>(
  response: Response,
  schema: Schema,
): Promise<z.output<Schema>> {
  let body: unknown;
  try {
    body = await response.json();
  } catch (error) {
    throw new Away(error instanceof Error ? error.message : String(error));
  }
  const { success, data } = schema.safeParse(body, { jitless: true });
  if (!success) throw new Refused("It is no server of this version of muster", response.status);
  return data;
}

async function errorOf(response: Response): Promise<z.output<typeof errorSchema>> {
  try {
    const { success, data } = errorSchema.safeParse(await response.json());
    if (success) return data;
  } catch {
    // A proxy answers as it likes.
  }
  return { error: response.statusText || `status ${response.status}` };
}
