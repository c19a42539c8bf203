/** Two nodes in one process, of which one forwards requests to the other. */
import assert from "node:assert/strict";
import {
  type Arrival,
  type ArrivalHandler,
  BodyReader,
  Forwarding,
  type Placement,
  TrustedProxies,
} from "../../http/mod.ts";
import { TooMany, Unavailable } from "../../services/kernel/errors.ts";
import { GUEST, OPERATOR, type Principal } from "../../services/people/identity/mod.ts";
import { Marks, NodeClient } from "../../services/cluster/nodes/mod.ts";
import type { NodeRecord } from "../../services/kernel/nodes.ts";
import { startHttpServer } from "./support.ts";

const KEY = "0123456789abcdef".repeat(4);

/** What the clocks of the nodes say. */
export const NOW = Date.parse("2026-11-26T12:00:00Z");

/** What a handler has been given. */
interface Seen extends Arrival {
  readonly url: string;
  readonly address: string;
}

/** Two nodes. Requests to `/far…` that come to `front` are forwarded to `far`. */
export interface World {
  readonly front: { readonly hostname: string; readonly port: number };
  readonly far: { readonly hostname: string; readonly port: number };
  /** What the handlers of the nodes were given, in order. */
  readonly seen: Record<"front" | "far", Seen[]>;
  /** The nodes that run. */
  readonly running: Set<string>;
  /** Tells the front that it has looked which nodes run. */
  look(): void;
  /** From now on, the nodes do not know what others have ended. */
  cutOff(): void;
}

export interface WorldOptions {
  readonly refusesItself?: boolean;
  readonly proxies?: readonly string[];
  /** How long a body may stall, in milliseconds; a minute by default. */
  readonly stallMilliseconds?: number;
  /** Most requests that one node has under way at the other. */
  readonly maxUnderWay?: number;
  /** What goes to the other node; by default, `/far` on the front and `/lost` on the far node. */
  readonly isFar?: (request: Request, self: "front" | "far") => boolean;
}

/** A node, as the others know it. */
export function nodeRecord(name: string, url = ""): NodeRecord {
  return { name, url, version: "1", startedAt: 0, drainedAt: null };
}

/** The marks of a node. */
export function marksOf(self: string, { key = KEY, clock = () => NOW } = {}): Marks {
  return new Marks({ key, self: nodeRecord(self), clock });
}

/** Runs a test with two nodes. The header `X-Caller` names the account of a request. */
export async function withNodes(
  handler: ArrivalHandler,
  run: (world: World) => Promise<void>,
  options: WorldOptions = {},
): Promise<void> {
  const { refusesItself = false, proxies = [], maxUnderWay = 100, isFar = isAtPlace } = options;
  const { stallMilliseconds = 60_000 } = options;
  const seen: World["seen"] = { front: [], far: [] };
  const running = new Set(["front", "far"]);
  const looking = new Set<() => void>();
  const nodes = {
    isCurrent: true,
    isRunning: (name: string) => running.has(name),
    onLooked(listener: () => void) {
      looking.add(listener);
      return () => looking.delete(listener);
    },
  };
  let farNode: NodeRecord | null = null;
  const clients: NodeClient[] = [];
  const start = (self: "front" | "far") => {
    const marks = marksOf(self);
    const client = new NodeClient({ nodes, marks, maxUnderWay });
    clients.push(client);
    const placement: Placement = {
      refusesItself,
      nodeFor: (request) => isFar(request, self) ? farNode : null,
    };
    const forwarding = new Forwarding({
      client,
      marks,
      nodes,
      bodies: new BodyReader({ maxBytes: 1000, stallMilliseconds }),
      callers: { of: callerOf },
      proxies: new TrustedProxies(proxies),
      placements: [placement],
    });
    return startHttpServer(forwarding.around((request, connection, arrival) => {
      assert.ok(arrival);
      seen[self].push({ ...arrival, url: request.url, address: connection.address });
      return handler(request, connection, arrival);
    }));
  };
  await using front = start("front");
  await using far = start("far");
  farNode = nodeRecord("far", `http://127.0.0.1:${far.port}`);
  try {
    await run({
      front,
      far,
      seen,
      running,
      look: () => looking.forEach((listener) => listener()),
      cutOff: () => nodes.isCurrent = false,
    });
  } finally {
    for (const client of clients) client.close();
  }
}

/** The answer to a request that must be refused; null if it need not. */
export function refusalOf(arrival: Arrival | undefined): Response | null {
  const { refusal = null } = arrival ?? {};
  if (refusal === null) return null;
  const mayRetry = refusal instanceof Unavailable || refusal instanceof TooMany;
  const retryAfterSeconds = mayRetry ? refusal.retryAfterSeconds : undefined;
  const status = refusal instanceof TooMany ? 429 : 503;
  return Response.json({ error: refusal.message, retryAfterSeconds }, { status });
}

function isAtPlace({ url }: Request, self: "front" | "far"): boolean {
  return new URL(url).pathname === (self === "front" ? "/far" : "/lost");
}

function callerOf({ headers }: Pick<Request, "headers">): Principal {
  const name = headers.get("x-caller") ?? "";
  if (name === "operator") return OPERATOR;
  return name === "" ? GUEST : { ...GUEST, kind: "agent", id: name, name };
}
