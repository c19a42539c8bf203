/** Tables of requests: the caller, the request and the expected answer. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Api, createApi } from "../../routes/app.ts";
import type { AppEnv } from "../../routes/environment.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import type { TokenRequest } from "../../services/people/identity/mod.ts";
import { mountPages } from "../../web/mod.ts";
import { TestMetrics } from "./metrics.ts";
import {
  anAgent,
  BY_OPERATOR,
  type TestServices,
  type TestServicesOptions,
  withServices,
} from "./services.ts";

/**
 * A guest; a stranger with an unknown token; the agent `caller` with a token to read, with a token
 * to read and write, and with its passphrase; the first admin with a token for everything; and the
 * operator.
 */
export const EVERYBODY = [
  "guest",
  "stranger",
  "reader",
  "writer",
  "passphrase",
  "admin",
  "operator",
] as const;
export type Who = (typeof EVERYBODY)[number];

/** A request and its expected answer. */
export interface Scenario {
  /** By default, the operator. */
  readonly who?: Who;
  /** Method and path, such as `GET /v1/agents`. */
  readonly request: string;
  /** Sent as JSON; a string and bytes are sent unchanged. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** The address of the socket. */
  readonly from?: string;
  readonly status: number;
  /** The pattern for the text of the answer. */
  readonly matches?: RegExp;
}

/** An IRC server to which one client is connected. */
const TEST_SERVER: NonNullable<Services["ircServer"]> = {
  clients: () => [{
    nick: "ann",
    account: null,
    address: "192.0.2.7",
    host: "0123456789.ip",
    transport: "tls",
    connectedAt: Date.parse("2026-11-20T12:00:00Z"),
    lastActiveAt: Date.now(),
    operator: false,
    channels: 2,
    queuedBytes: 0,
  }],
};

const FROM_HERE: AppEnv["Bindings"] = { remoteAddress: "127.0.0.1" };

/** The API on separate services, with the agent `caller` and without a bridge. */
export class TestApi {
  readonly services: TestServices;
  readonly metrics = new TestMetrics();
  readonly #all: Services;
  readonly #api: Api;
  readonly #credentials: ReadonlyMap<Who, string>;

  /** @param changes services that replace those of most tests */
  constructor(
    services: TestServices,
    credentials: ReadonlyMap<Who, string>,
    changes: Partial<Services> = {},
  ) {
    this.services = services;
    this.#credentials = credentials;
    const { metrics } = this;
    this.#all = { ...services, metrics, ircServer: TEST_SERVER, ...changes };
    this.#api = createApi(this.#all);
  }

  /** Adds the web pages, as the program does. Call it before the first request. */
  mountPages(): void {
    const { projects: projectApi, streams } = this.#api;
    mountPages(this.#api, { services: this.#all, projectApi, streams });
  }

  /** The API on the same services, except for some parts. */
  with(changes: Partial<Services>): TestApi {
    return new TestApi(this.services, this.#credentials, changes);
  }

  async send(scenario: Omit<Scenario, "status">): Promise<Response> {
    const { who = "operator", request, body, from = "192.0.2.1" } = scenario;
    const [method = "GET", path = "/"] = request.split(" ");
    const authorization = this.#credentials.get(who);
    const headers = { ...scenario.headers, ...(authorization ? { authorization } : {}) };
    const init: RequestInit = { method, headers };
    if (body !== undefined) {
      const isRaw = typeof body === "string" || body instanceof Uint8Array;
      init.body = isRaw ? body as BodyInit : JSON.stringify(body);
    }
    return await this.#api.fetch(requestTo(path, init), { remoteAddress: from });
  }

  /** Answers a request of a real client, which connected from this machine. */
  async handle(request: Request, bindings: AppEnv["Bindings"] = FROM_HERE): Promise<Response> {
    return await this.#api.fetch(request, bindings);
  }

  /** The header `Authorization` of a caller; undefined for a guest. */
  authorizationOf(who: Who): string | undefined {
    return this.#credentials.get(who);
  }

  /** Sends a body of unknown length as the operator. */
  async sendStream(
    request: string,
    body: ReadableStream<Uint8Array>,
    headers: Readonly<Record<string, string>>,
  ): Promise<Response> {
    const [method = "GET", path = "/"] = request.split(" ");
    const authorization = this.#credentials.get("operator") ?? "";
    const init = { method, headers: { ...headers, authorization }, body };
    return await this.#api.fetch(requestTo(path, init), { remoteAddress: "192.0.2.1" });
  }

  /** Sends the requests in sequence and compares each answer with the expected one. */
  async expect(scenarios: readonly Scenario[]): Promise<void> {
    for (const scenario of scenarios) {
      const { who = "operator", request, body, status, matches } = scenario;
      const label = `${who}: ${request} ${body === undefined ? "" : JSON.stringify(body)}`;
      const response = await this.send(scenario);
      const text = await response.text();
      assert.equal(response.status, status, `${label}\n${text}`);
      if (matches !== undefined) assert.match(text, matches, label);
      if (status === 204) assert.equal(text, "", label);
      if (status >= 400) assertErrorBody(text, label);
    }
  }

  /** Sends a request that must succeed and returns its answer. */
  async answer(request: string, body?: unknown): Promise<unknown> {
    const response = await this.send(body === undefined ? { request } : { request, body });
    const text = await response.text();
    assert.ok(response.ok, `${request}\n${text}`);
    return JSON.parse(text);
  }
}

function requestTo(path: string, init: RequestInit): Request {
  return new Request(`http://localhost${path}`, init);
}

/** The body of an error has one field, which is a sentence. */
function assertErrorBody(text: string, label: string): void {
  const body: Record<string, unknown> = JSON.parse(text);
  assert.deepEqual(Object.keys(body), ["error"], label);
  assert.match(String(body["error"]), /^["A-Z/].{8,}/, label);
}

/** Runs a test on a separate API. */
export async function withApi(
  run: (api: TestApi) => Promise<void>,
  options?: TestServicesOptions,
): Promise<void> {
  await withServices(async (services) => {
    const passphrase = await anAgent(services, "caller");
    await services.admins.createFirst();
    const issue = async (scopes: TokenRequest["scopes"], owner = "caller") => {
      const request = { owner, name: "test", scopes, project: null, expires_at: null };
      return `Bearer ${(await services.tokens.create(request, BY_OPERATOR)).token}`;
    };
    const apiToken = await Deno.readTextFile(join(services.folder, "api_token"));
    await run(
      new TestApi(
        services,
        new Map([
          ["stranger", `Bearer ${"0".repeat(64)}`],
          ["reader", await issue(["read"])],
          ["writer", await issue(["read", "write"])],
          ["passphrase", `Basic ${btoa(`caller:${passphrase}`)}`],
          ["admin", await issue(["admin"], "admin")],
          ["operator", `Bearer ${apiToken}`],
        ]),
      ),
    );
  }, options);
}

/**
 * The same request by everybody: 401 without a valid credential, 403 without the right. An admin
 * has the operator's rights.
 */
export function byEverybody(
  request: string,
  allowed: readonly Who[],
  status: number,
): readonly Scenario[] {
  return EVERYBODY.map((who) => {
    if (who === "guest" || who === "stranger") return { who, request, status: 401 };
    const may = allowed.includes(who === "admin" ? "operator" : who);
    return { who, request, status: may ? status : 403 };
  });
}

/** A body whose end comes after something else has happened. */
export function heldBack(text: string, act: () => Promise<unknown>): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(text);
  let isBegun = false;
  return new ReadableStream({
    async pull(controller) {
      if (!isBegun) {
        isBegun = true;
        return controller.enqueue(bytes.subarray(0, 1));
      }
      await act();
      controller.enqueue(bytes.subarray(1));
      controller.close();
    },
  }, { highWaterMark: 0 });
}
