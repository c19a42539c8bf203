import assert from "node:assert/strict";
import type { Answering } from "../../mcp/http.ts";
import { createMcpHandler, type McpHandler, type McpServices } from "../../mcp/mod.ts";
import type { Bridge, ChannelMessage, NewPost } from "../../services/chat/bridge/mod.ts";
import type { Addressed } from "../../services/chat/inboxes/mod.ts";
import type { MessageQuery } from "../../services/chat/messages/mod.ts";
import { configSchema } from "../../services/operation/config/schemas.ts";
import { Conflict, TooMany, Unauthorized } from "../../services/kernel/errors.ts";
import {
  type Caller,
  type Credential,
  type EndedListener,
  OPERATOR,
  type Principal,
  type Scope,
  speakerName,
} from "../../services/people/identity/mod.ts";
import { Needs } from "../../services/people/needs/mod.ts";
import { Questions } from "../../services/oversight/questions/mod.ts";
import { silentLog } from "../../services/kernel/log.ts";
import { TestScheduler } from "../support/scheduler.ts";
import { TestMetrics } from "../support/metrics.ts";

/** Who calls, by the word that stands for the credential in the tables of these tests. */
export type Who =
  | "guest"
  | "stranger"
  | "reader"
  | "writer"
  | "operator"
  | "project"
  | "admin"
  | "auditor";

const AUTHORIZATION: Record<Who, string | null> = {
  guest: null,
  stranger: "Bearer no-such-token",
  reader: "Bearer reader-token",
  writer: `Basic ${btoa("writer:passphrase")}`,
  operator: "Bearer operator-token",
  project: "Bearer project-token",
  admin: "Bearer admin-token",
  auditor: "Bearer auditor-token",
};

function principal(kind: Principal["kind"], name: string, scopes: Scope[]): Principal {
  const project = kind === "project" ? "p" : null;
  return {
    kind,
    id: `id-of-${name}`,
    name,
    project,
    scopes: new Set(scopes),
    tokenId: kind === "admin" ? `token-of-${name}` : null,
    sessionId: null,
  };
}

const PRINCIPALS = new Map<string, Principal>([
  ["reader-token", principal("agent", "reader", ["read"])],
  ["writer:passphrase", principal("agent", "writer", ["read", "write"])],
  ["operator-token", OPERATOR],
  ["project-token", principal("project", "p", ["read", "write", "admin"])],
  ["admin-token", principal("admin", "root", ["read", "write", "admin"])],
  ["auditor-token", principal("admin", "auditor", ["read"])],
]);

/** A bridge that keeps in memory what is posted. */
export class FakeBridge
  implements
    Pick<Bridge, "nick" | "whenReady" | "summaries" | "messagesAsJson" | "post" | "users"> {
  readonly nick = "bridge";
  readonly kept: ChannelMessage[] = [];
  /** Every waiting reader, so that a test knows when one waits. */
  readonly waiting: { resolve: (messages: ChannelMessage[]) => void }[] = [];
  /** Resolves when a reader begins to wait. */
  onWaiting: (() => void) | null = null;
  /** Called after each post. */
  onPosted: (() => void) | null = null;

  whenReady(): Promise<void> {
    return Promise.resolve();
  }

  summaries() {
    return [
      { name: "#empty", members: 1, topic: "" },
      { name: "#general", members: 3, topic: "What we do — today" },
    ];
  }

  async messagesAsJson(channel: string, query: MessageQuery): Promise<string> {
    return JSON.stringify(await this.#messages(channel, query));
  }

  #messages(
    _channel: string,
    { limit = 1, since, before, waitSeconds = 0, end }: MessageQuery,
  ): Promise<ChannelMessage[]> {
    if (before !== undefined) {
      const to = this.kept.findIndex(({ id }) => id === before);
      return Promise.resolve(this.kept.slice(Math.max(0, to - limit), to));
    }
    const after = since === undefined ? 0 : this.kept.findIndex(({ id }) => id === since) + 1;
    const found = this.kept.slice(after).slice(-limit);
    if (found.length > 0 || waitSeconds === 0) return Promise.resolve(found);
    return new Promise((resolve) => {
      if (end !== undefined) end.onEnd = () => resolve([]);
      this.waiting.push({ resolve });
      this.onWaiting?.();
    });
  }

  post(_channel: string, { nick, text }: NewPost, { principal }: Caller) {
    this.say(speakerName(principal, nick ?? null) ?? this.nick, text);
    this.onPosted?.();
    return Promise.resolve();
  }

  users() {
    return Promise.resolve(["ann", "bridge"]);
  }

  /** Takes in what somebody says in the channel. */
  say(nick: string, text: string): void {
    const number = this.kept.length + 1;
    const message = {
      id: `m${number}`,
      nick,
      account: null,
      text,
      timestamp: `2026-11-20T00:00:00.00000${number}Z`,
    };
    this.kept.push(message);
    for (const { resolve } of this.waiting.splice(0)) resolve([message]);
  }
}

/** Agents by nick, and whether they are in the channels. */
const AGENTS = new Map([["scout", true], ["away", false]]);

/** The endpoint with everything behind it, and what a test wants to look at. */
export interface Fixture {
  readonly metrics: TestMetrics;
  readonly scheduler: TestScheduler;
  readonly handler: McpHandler;
  readonly bridge: FakeBridge;
  /** Who registered agents, and what was asked for. */
  readonly registered: { input: unknown; caller: Caller }[];
  /** What was read of which inbox, and by whom. */
  readonly inboxQueries: { nick: string; query: MessageQuery; principal: Principal }[];
  /** What an inbox was told that its agent has seen. */
  readonly inboxSeen: string[][];
  /** What every inbox holds. */
  readonly inbox: Addressed[];
  readonly directs: { to: string; text: string; caller: Caller }[];
  readonly logged: { message: string; properties: Record<string, unknown> }[];
  /** Addresses that credentials came from. */
  readonly addresses: string[];
  /** Ends the credentials of the account with this name. */
  revoke(name: string): void;
}

/** What a test changes about the endpoint. */
export interface FixtureOptions {
  readonly config?: Record<string, unknown>;
  readonly bridge?: null;
  /** What reading the status throws. */
  readonly failure?: Error;
  /** What sending a direct message throws. */
  readonly directFailure?: Error;
  /** What answers messages; default: muster's tools, resources and prompts. */
  readonly protocols?: (services: McpServices) => Answering;
}

/** Makes an endpoint over services that live in memory. */
export function newFixture(options: FixtureOptions = {}): Fixture {
  const records: Records = {
    metrics: new TestMetrics(),
    scheduler: new TestScheduler(),
    bridge: new FakeBridge(),
    registered: [],
    logged: [],
    addresses: [],
    inboxQueries: [],
    inboxSeen: [],
    inbox: [],
    directs: [],
  };
  const identity = new FakeIdentity(records.addresses);
  const services = servicesFor(options, records, identity);
  const { protocols } = options;
  const answering = protocols === undefined ? undefined : () => protocols(services);
  const handler = createMcpHandler(services, undefined, answering);
  return { ...records, handler, revoke: (name) => identity.revoke(name) };
}

/** What the services behind the endpoint record. */
type Records = Omit<Fixture, "handler" | "revoke">;

/** Knows the principals of these tests, and announces their end. */
class FakeIdentity {
  readonly #addresses: string[];
  readonly #listeners: EndedListener[] = [];
  readonly #revoked = new Set<string>();

  constructor(addresses: string[]) {
    this.#addresses = addresses;
  }

  get endings(): number {
    return this.#revoked.size;
  }

  authenticate(credential: Credential, address: string): Promise<Principal> {
    this.#addresses.push(address);
    const principal = lookUp(credential);
    if (this.#revoked.has(principal.name)) throw new Unauthorized("The token is not valid");
    return Promise.resolve(principal);
  }

  enterSession({ principal }: Caller): Principal {
    return principal;
  }

  onEnded(listener: EndedListener): () => void {
    this.#listeners.push(listener);
    return () => {};
  }

  revoke(name: string): void {
    this.#revoked.add(name);
    const covers = (principal: Principal) => principal.name === name;
    for (const listener of this.#listeners) {
      listener({ accountId: `id-of-${name}`, tokenId: null, isEverything: false, covers });
    }
  }
}

function servicesFor(
  options: FixtureOptions,
  records: Records,
  identity: McpServices["identity"],
): McpServices {
  const { inbox, inboxQueries, inboxSeen, directs, registered, logged } = records;
  return {
    scheduler: records.scheduler,
    config: configSchema.parse(options.config ?? {}),
    log: {
      ...silentLog,
      error: (message, properties = {}) => void logged.push({ message, properties }),
    },
    metrics: records.metrics,
    identity,
    space: { require() {} },
    status: {
      read() {
        if (options.failure !== undefined) throw options.failure;
        return {
          status: "ok",
          uptime: "1s",
          agents: 3,
          started: "2026-11-20T00:00:00.000Z",
          build: "test",
          halted: false,
          agents_halted: 0,
        };
      },
    },
    inboxes: {
      reaches: (nick) => AGENTS.get(nick) ?? null,
      read(nick: string, query: MessageQuery, principal: Principal) {
        inboxQueries.push({ nick, query, principal });
        const after = inbox.findIndex(({ id }) => id === query.since) + 1;
        return Promise.resolve(inbox.slice(after).slice(-(query.limit ?? 200)));
      },
      seen(_nick, ids) {
        inboxSeen.push([...ids]);
        return Promise.resolve([...ids]);
      },
      acknowledge: () => Promise.resolve({ acknowledged: 1, unknown: ["x"], left: 0 }),
    },
    directMessages: {
      placeOfAnswer: () => null,
      send(to: string, { text }: NewPost, caller: Caller) {
        if (options.directFailure !== undefined) return Promise.reject(options.directFailure);
        directs.push({ to, text, caller });
        return Promise.resolve(`sent-to-${to}`);
      },
      fate: (id) => {
        const receivers = [{ nick: "scout", state: "read", stateAt: 1, expiresAt: null }] as const;
        return Promise.resolve({ id, timestamp: "", clientId: null, receivers });
      },
    },
    agents: {
      counts: () => ({ active: 2, total: 3 }),
      halts: { requireGoing() {} },
      register(input: { nick: string }, caller: Caller) {
        if (input.nick === "taken") return Promise.reject(new Conflict('"taken" is taken'));
        registered.push({ input, caller });
        const credentials = { nick: input.nick, passphrase: "secret" };
        return Promise.resolve({ nick: input.nick, credentials, server: "irc://127.0.0.1:6667" });
      },
    },
    bridge: options.bridge === null ? null : records.bridge,
    questions: Object.create(Questions.prototype),
    needs: Object.create(Needs.prototype),
  };
}

function lookUp(credential: Credential): Principal {
  const key = credential.kind === "bearer"
    ? credential.token
    : `${credential.name}:${credential.password}`;
  const found = PRINCIPALS.get(key);
  if (key === "throttled") throw new TooMany("Too many wrong passwords", 61.5);
  if (found === undefined) throw new Unauthorized("The token is not valid");
  return found;
}

/** Headers with the credential. */
export function headersOf(who: Who, headers: Record<string, string> = {}): Headers {
  const authorization = AUTHORIZATION[who];
  return new Headers(authorization === null ? headers : { ...headers, authorization });
}

/** A POST to the endpoint, without the headers that a client of the protocol would send. */
export function post(
  who: Who,
  body: unknown,
  init: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Request {
  return new Request("http://127.0.0.1:8081/mcp", {
    method: "POST",
    headers: headersOf(who, init.headers),
    body: typeof body === "string" ? body : JSON.stringify(body),
    ...(init.signal === undefined ? {} : { signal: init.signal }),
  });
}

/** A request as JSON-RPC writes it. */
export function rpc(method: string, params?: unknown, id: string | number = 1) {
  return { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) };
}

/** A JSON-RPC response with a result. */
export function result(value: unknown, id: string | number = 1) {
  return { jsonrpc: "2.0", id, result: value };
}

/** A JSON-RPC error, as {@linkcode shapeOf} shows it. */
export function errorCode(code: number, id: string | number | null = 1) {
  return { jsonrpc: "2.0", id, code };
}

/** The answer with every error reduced to its code, because its text may change. */
export function shapeOf(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(shapeOf);
  if (typeof answer !== "object" || answer === null || !("error" in answer)) return answer;
  const { error, ...rest } = answer as { error: { code: number; message: string } };
  assert.match(error.message, /\S/);
  return { ...rest, code: error.code };
}

/** What a tool's result holds. */
export interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly isError: boolean;
  readonly structuredContent?: {
    readonly messages?: readonly Record<string, unknown>[];
    readonly message_id?: string;
    readonly next_since?: string | null;
    readonly more?: string;
    readonly next?: Readonly<Record<string, unknown>>;
    readonly envelope_id?: string;
    readonly not_reached?: readonly string[];
  };
}

/**
 * Calls a tool as a client of the newest revision with `initialize`, and gives its result; a JSON-RPC
 * error is thrown.
 */
export async function call(
  { handler }: Fixture,
  who: Who,
  name: string,
  input?: unknown,
  signal?: AbortSignal,
): Promise<ToolResult> {
  const params = input === undefined ? { name } : { name, arguments: input };
  const headers = { "mcp-protocol-version": "2025-11-25" };
  const init = signal === undefined ? { headers } : { headers, signal };
  const request = post(who, rpc("tools/call", params), init);
  const response = await handler(request, "127.0.0.1");
  const { result, error } = await response.json();
  if (error !== undefined) throw new Error(`${response.status} ${error.code} ${error.message}`);
  return result;
}

/** The text of a result; a second one holds the same as JSON. */
export function textOf({ content, structuredContent }: ToolResult): string {
  const [first, second, ...others] = content;
  assert.ok(first !== undefined && others.length === 0);
  if (second !== undefined && structuredContent !== undefined) {
    assert.deepEqual(JSON.parse(second.text), structuredContent);
  }
  return first.text;
}
