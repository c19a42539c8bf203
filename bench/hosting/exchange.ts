import { HttpClient } from "../client/mod.ts";
import { delay } from "../parallel.ts";
import { measure } from "../process_usage.ts";
import type { Figure } from "../scenario.ts";
import { percentile } from "../statistics.ts";
import type { MusterProcess } from "../servers/mod.ts";

/** Connections with requests at the same time. */
const CONNECTIONS = 16;
/** The aim, as a multiple of fossilrepo's rate. */
const FACTOR = 50;
/** Time before the measurement: V8 compiles what a kind of request needs, and indexes are built. */
const WARM_UP_SECONDS = 2;
/** The aim for the 99th percentile of reads at half load, in milliseconds. */
const P99_AIM = 10;

/** A project on a server: muster's or a peer's. */
export interface Site {
  readonly server: Pick<MusterProcess, "api" | "pids">;
  readonly token: string;
  /** The start of the path of every request. */
  readonly base: string;
}

/** A kind of request. */
export interface Exchange {
  readonly name: string;
  readonly method: "GET" | "POST";
  /** Path and query below the base, of each request in turn. */
  path(index: number): string;
  body?(index: number): unknown;
  readonly status: number;
  /** Text that every answer with content has, and no empty one. */
  readonly holds: string;
  /** Requests per second that fossilrepo answers on two such cores. */
  readonly fossilrepo?: number;
  /** Requests per second that muster must answer. */
  readonly least?: number;
}

/** The outcome of many requests of a kind. */
interface Outcome {
  readonly perSecond: number;
  readonly p99: number;
  readonly micros: number;
}

/** Measures a kind of request: first as fast as the server answers, then at half that rate. */
export async function figuresOf(
  project: Site,
  exchange: Exchange,
  seconds: number,
): Promise<Figure[]> {
  const { name, fossilrepo, least } = exchange;
  let next = 0;
  const indexes = () => next++;
  await run(project, exchange, { seconds: WARM_UP_SECONDS, interval: 0, indexes });
  const full = await run(project, exchange, { seconds, interval: 0, indexes });
  const interval = 1000 * CONNECTIONS * 2 / full.perSecond;
  const half = await run(project, exchange, { seconds, interval, indexes });
  const wanted = least ?? (fossilrepo === undefined ? null : fossilrepo * FACTOR);
  return [
    { name: `${name}: requests`, value: full.perSecond, unit: "/s" },
    ...wanted === null ? [] : [{
      name: `${name}: ${wanted}/s in parts of it`,
      value: wanted / full.perSecond,
      unit: "×",
      aim: 1,
    }],
    { name: `${name}: p99`, value: full.p99, unit: "ms" },
    { name: `${name}: p99 at half load`, value: half.p99, unit: "ms", aim: P99_AIM },
    { name: `${name}: CPU`, value: full.micros, unit: "µs" },
  ];
}

/** Sends requests on every connection until the time is over. */
export async function run(
  { server, token, base }: Site,
  exchange: Exchange,
  options: {
    readonly seconds: number;
    /** Milliseconds from one request of a connection to its next; 0 for at once. */
    readonly interval: number;
    indexes(): number;
  },
): Promise<Outcome> {
  const { seconds, interval, indexes } = options;
  await using open = new AsyncDisposableStack();
  const clients: HttpClient[] = [];
  for (let index = 0; index < CONNECTIONS; index++) {
    clients.push(open.use(await HttpClient.open(server.api)));
  }
  const latencies: number[] = [];
  const { seconds: taken, serverSeconds } = await measure(server.pids, async () => {
    const startedAt = performance.now();
    const end = startedAt + seconds * 1000;
    await Promise.all(clients.map(async (client, connection) => {
      let due = startedAt + interval * connection / CONNECTIONS;
      while (Math.max(due, performance.now()) < end) {
        if (interval > 0 && due > performance.now()) await delay(due - performance.now());
        latencies.push(await ask(client, exchange, { token, base, index: indexes() }));
        due += interval;
      }
    }));
  });
  return {
    perSecond: latencies.length / taken,
    p99: percentile(Float32Array.from(latencies), 0.99),
    micros: serverSeconds * 1e6 / latencies.length,
  };
}

/** Milliseconds from a request to the end of its answer. */
async function ask(
  client: HttpClient,
  exchange: Exchange,
  { token, base, index }: Pick<Site, "token" | "base"> & { readonly index: number },
): Promise<number> {
  const { name, method, status, holds } = exchange;
  const request = HttpClient.format({
    method,
    path: base + exchange.path(index),
    token,
    ...(exchange.body === undefined ? {} : { body: exchange.body(index) }),
  });
  const startedAt = performance.now();
  const answer = await client.ask(request, true);
  const latency = performance.now() - startedAt;
  if (answer.status !== status || !answer.text.includes(holds)) {
    throw new Error(
      `${name}, request ${index}, was answered ${answer.status} ${answer.text.slice(0, 200)}`,
    );
  }
  return latency;
}
