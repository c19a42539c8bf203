import type { Address, EventStream, Login } from "../client/mod.ts";
import { delay, inParallel } from "../parallel.ts";

/** Requests at the same time. */
const PARALLEL_REQUESTS = 32;

/** Time limit for the bridge to join a channel, in milliseconds. */
const JOIN_LIMIT = 10_000;

const POLL_MILLISECONDS = 100;

/** A coordination service in separate processes: IRC, the API, MCP and the bridge. */
export interface CoordinationServer extends AsyncDisposable {
  readonly api: Address;
  /** The address of `/mcp`. */
  readonly mcp: Address;
  readonly irc: Address;
  /** An API token with all rights. */
  readonly token: string;
  /** Its processes, without those that they started. */
  readonly pids: readonly number[];
  /** Whether the response to a request for a stream begins before there is an event. */
  readonly beginsStreamsAtOnce: boolean;
  /** The stream of a channel, named without "#". */
  streamOf(channel: string): EventStream;
}

/** A kind of coordination service, and how to start it. */
export interface CoordinationServerKind {
  readonly name: string;
  start(): Promise<CoordinationServer>;
}

/** The API of a coordination service. */
export type Api = Pick<CoordinationServer, "api" | "token">;

/**
 * Posts JSON to the API. The caller reads or cancels the body.
 *
 * @throws Error if the request fails
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
 * Makes the bridge join a channel, named without "#", and waits until it has. Repeats the request,
 * because a bridge that is not on IRC yet may forget it.
 *
 * @throws Error if it does not join
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
