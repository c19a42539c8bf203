/** Requests that succeed, one for each endpoint of an OpenAPI document. */
import assert from "node:assert/strict";
import type { Server } from "./api.ts";
import { type Document, type Endpoint, endpointsOf, fillPath, type Parameter } from "./api_document.ts";
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

  /**
   * Calls every endpoint that no step called, as its examples in the document say.
   *
   * @param known values for parameters of paths, by their names
   * @param elsewhere endpoints that need a step, because they take more than that
   * @throws AssertionError if one does not take its example, or answers what is not documented
   */
  async rest(
    known: Readonly<Record<string, string>>,
    elsewhere: ReadonlySet<string> = new Set(),
  ): Promise<void> {
    const left = [...this.#endpoints].filter(([name]) =>
      !this.#walked.has(name) && !elsewhere.has(name)
    );
    for (const [name, { method, path, parameters = [], requestBody }] of left) {
      const query = parameters.filter((one) => one.in === "query" && one.required === true)
        .map((one) => [one.name, String(exampleOf(one))]);
      const filled = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
        const parameter = parameters.find((one) => one.in === "path" && one.name === field);
        return encodeURIComponent(known[field] ?? String(exampleOf(parameter)));
      });
      const example = requestBody?.content["application/json"]?.example;
      const { api, token } = this.#server;
      const response = await fetch(`${api}${filled}?${new URLSearchParams(query)}`, {
        method,
        headers: { authorization: `Bearer ${token}` },
        ...example === undefined ? {} : { body: JSON.stringify(example) },
      });
      const isTaken = response.ok || [404, 409].includes(response.status);
      assert.ok(isTaken, `${name} does not take its example: ${response.status}`);
      const endpoint = this.#endpoints.get(name);
      if (endpoint !== undefined) await this.#answers.check(endpoint, method, response);
      this.#walked.add(name);
    }
  }

  /** @throws AssertionError if an endpoint outside of `elsewhere` was not called */
  assertComplete(elsewhere: ReadonlySet<string> = new Set()): void {
    const left = [...this.#endpoints.keys()].filter((name) => !this.#walked.has(name));
    assert.deepEqual(new Set(left), elsewhere);
  }
}

/** An example of a parameter, or a value that nothing has. */
function exampleOf({ schema, example }: Partial<Parameter> = {}): unknown {
  return example ?? schema?.example ?? "nobody";
}

function bodyOf(body: unknown): BodyInit {
  return body instanceof Uint8Array ? new Uint8Array(body) : JSON.stringify(body);
}
