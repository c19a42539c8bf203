/** Requests that succeed, one for each endpoint of an OpenAPI document. */
import assert from "node:assert/strict";
import type { Server } from "./api.ts";
import { type Document, type Endpoint, endpointsOf, fillPath } from "./api_document.ts";
import { DocumentedAnswers } from "./documented_answers.ts";

/** A request, and the expected status. */
export interface StepOptions {
  /** The values of the path's parameters, in their order. */
  readonly path?: readonly string[];
  /** With the question mark. */
  readonly query?: string;
  /** Sent as JSON; bytes are sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** A bearer token instead of the operator's. */
  readonly token?: string;
  readonly status: number;
}

/** Calls endpoints, compares each answer with the document, and records the calls. */
export class ApiWalk {
  readonly #server: Server;
  readonly #endpoints: ReadonlyMap<string, Endpoint>;
  readonly #answers: DocumentedAnswers;
  readonly #walked = new Set<string>();

  /** @param isPart whether this walk must call an endpoint */
  constructor(server: Server, document: Document, isPart: (endpoint: Endpoint) => boolean) {
    this.#server = server;
    this.#answers = new DocumentedAnswers(document, [server.token]);
    this.#endpoints = new Map(
      endpointsOf(document).filter(isPart).map((one) => [`${one.method} ${one.path}`, one]),
    );
  }

  /**
   * Calls an endpoint, by its method and path in the document.
   *
   * @returns the answer's JSON, or null if it has none
   * @throws AssertionError if the status differs, or the answer is not as documented
   */
  async step(
    name: string,
    { path = [], query = "", status, ...sent }: StepOptions,
  ): Promise<unknown> {
    const endpoint = this.#endpoints.get(name);
    assert.ok(endpoint, name);
    const { api, token } = this.#server;
    const response = await fetch(api + fillPath(endpoint.path, path) + query, {
      method: endpoint.method,
      headers: { authorization: `Bearer ${sent.token ?? token}`, ...sent.headers },
      ...(sent.body === undefined ? {} : { body: bodyOf(sent.body) }),
    });
    const isJson = response.headers.get("content-type")?.startsWith("application/json") ?? false;
    const copy = isJson ? response.clone() : null;
    const answer: unknown = await copy?.json() ?? null;
    assert.equal(response.status, status, `${name}: ${JSON.stringify(answer)}`);
    await this.#answers.check(endpoint, endpoint.method, response);
    this.#walked.add(name);
    return answer;
  }

  /** @throws AssertionError if an endpoint outside of `elsewhere` was not called */
  assertComplete(elsewhere: ReadonlySet<string> = new Set()): void {
    const left = [...this.#endpoints.keys()].filter((name) => !this.#walked.has(name));
    assert.deepEqual(new Set(left), elsewhere);
  }
}

function bodyOf(body: unknown): BodyInit {
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}
