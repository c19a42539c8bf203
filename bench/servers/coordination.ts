import { delay } from "../delay.ts";
import type { Address, EventStream, Login } from "../client/mod.ts";
import { inParallel } from "../parallel.ts";

/** How many requests run at the same time if many are made. */
const PARALLEL_REQUESTS = 32;

/** How long the bridge may take to join a channel, in milliseconds. */
const JOIN_LIMIT = 10_000;

const POLL_MILLISECONDS = 100;

/** A coordination service that runs as processes of its own: IRC, the API, MCP and the bridge. */
export interface CoordinationServer extends AsyncDisposable {
  readonly api: Address;
  /** Where `/mcp` is. */
  readonly mcp: Address;
  readonly irc: Address;
  /** An API token that may do everything. */
  readonly token: string;
  /** All its processes. */
  readonly pids: readonly number[];
  /** Whether the response to a request for a stream begins before there is an event. */
  readonly beginsStreamsAtOnce: boolean;
  /** The stream of a channel, whose name is without "#". */
  streamOf(channel: string): EventStream;
}

/** A kind of coordination service, and how to start one of it. */
export interface CoordinationServerKind {
  readonly name: string;
  start(): Promise<CoordinationServer>;
}

/** The API of a coordination service. */
export type Api = Pick<CoordinationServer, "api" | "token">;

/**
 * Posts JSON to the API. The caller reads or cancels the body.
 *
 * @throws Error if the answer is no success
 */
export async function post({ api, token }: Api, path: string, body: unknown): Promise<Response> {
  const response = await fetch(`http://${api.hostname}:${api.port}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) {
    throw new Error(`POST ${path} was answered ${response.status}: ${await response.text()}`);
  }
  return response;
}

/** Registers an agent for every nick. */
export async function registerAgents(server: Api, nicks: readonly string[]): Promise<Login[]> {
  return await inParallel(nicks, PARALLEL_REQUESTS, async (nick) => {
    const response = await post(server, "/v1/agents/register", { nick });
    const { credentials } = await response.json();
    return { nick, passphrase: credentials.passphrase };
  });
}

/**
 * Lets the bridge join a channel, whose name is without "#", and waits until it is there. It asks
 * again and again, as a bridge that is not on IRC yet may forget what it was asked.
 *
 * @throws Error if it does not get there
 */
export async function joinBridge(server: Api, channel: string): Promise<void> {
  const { api: { hostname, port }, token } = server;
  const startedAt = performance.now();
  while (performance.now() - startedAt < JOIN_LIMIT) {
    const joined = await post(server, `/v1/channels/${channel}/join`, {});
    await joined.body?.cancel();
    await delay(POLL_MILLISECONDS);
    const response = await fetch(`http://${hostname}:${port}/v1/channels`, {
      headers: { authorization: `Bearer ${token}` },
    });
    if ((await response.text()).includes(`"#${channel}"`)) return;
  }
  throw new Error(`The bridge does not join #${channel}`);
}
