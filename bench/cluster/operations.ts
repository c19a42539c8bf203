import { inParallel } from "../parallel.ts";
import type { Credentials } from "../../tests/support/api.ts";

/** Requests at a time at each node, because one that answers several in a turn spends less on each. */
const AT_ONCE = 8;

/** How long an answer may take, in milliseconds. */
const ANSWER_LIMIT = 30_000;

/** A server or a cluster that is measured. */
export interface Measured {
  /** The base URLs of its nodes, in turn. */
  readonly apis: readonly string[];
  readonly token: string;
  readonly channel: string;
  readonly slug: string;
  readonly agent: Credentials;
  /** Tickets of the project. */
  readonly tickets: readonly string[];
}

/** Something that clients do. */
export interface Operation {
  readonly name: string;
  /** Whether only the node with the project can do it. */
  readonly isOfProject: boolean;
  readonly isWrite: boolean;
  /** How many there may be at a time at all nodes; without it, there is no limit. */
  readonly mostAtOnce?: number;
  /** Does it once at a node. */
  act(at: Measured, api: string, index: number): Promise<void>;
}

/** What is measured. */
export const OPERATIONS: readonly Operation[] = [
  {
    name: "status",
    isWrite: false,
    isOfProject: false,
    act: (at, api) => send(api, bearer(at), "GET /v1/status"),
  },
  {
    name: "messages read",
    isWrite: false,
    isOfProject: false,
    act: (at, api) => send(api, bearer(at), `GET /v1/channels/${at.channel}/messages?limit=50`),
  },
  {
    name: "post",
    isWrite: true,
    isOfProject: false,
    act: (at, api, index) =>
      send(api, bearer(at), `POST /v1/channels/${at.channel}/messages`, { text: `line ${index}` }),
  },
  {
    name: "project read",
    isWrite: false,
    isOfProject: true,
    act: (at, api) => send(api, basic(at), `GET /projects/${at.slug}/fossil/api/tickets`),
  },
  {
    name: "claim and release",
    isWrite: true,
    isOfProject: true,
    // An agent has ten slots for claims.
    mostAtOnce: AT_ONCE,
    act: async (at, api, index) => {
      const uuid = at.tickets[index % at.tickets.length];
      const path = `/projects/${at.slug}/fossil/api/tickets/${uuid}`;
      await send(api, basic(at), `POST ${path}/claim`, {});
      await send(api, basic(at), `POST ${path}/release`, {});
    },
  },
];

/** Does an operation many times, a few at once, at each node in turn. */
export async function repeat(
  operation: Operation,
  at: Measured,
  times: number,
): Promise<void> {
  const limit = Math.min(operation.mostAtOnce ?? Infinity, AT_ONCE * at.apis.length);
  await inParallel(Array.from({ length: times }), limit, async (_, index) => {
    await operation.act(at, at.apis[index % at.apis.length] ?? "", index);
  });
}

function bearer({ token }: Measured): string {
  return `Bearer ${token}`;
}

function basic({ agent: { nick, passphrase } }: Measured): string {
  return `Basic ${btoa(`${nick}:${passphrase}`)}`;
}

/** @throws Error if it fails */
async function send(
  api: string,
  authorization: string,
  request: string,
  body?: unknown,
): Promise<void> {
  const [method = "", path = ""] = request.split(" ");
  const response = await fetch(api + path, {
    method,
    headers: { authorization },
    signal: AbortSignal.timeout(ANSWER_LIMIT),
    ...body === undefined ? {} : { body: JSON.stringify(body) },
  }).catch((error) => {
    throw new Error(`${request} at ${api}: ${error}`);
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${request}: ${response.status} ${text}`);
}
