/** What chat and status wait while others work hard, against a bare `Deno.serve` meanwhile. */
import { namedExecutable } from "../../tests/support/executable.ts";
import { type Address, HttpClient, Load, type LoadRequest } from "../client/mod.ts";
import { isFile } from "../fossil/scenario.ts";
import { sendAtRate } from "../pace.ts";
import { delay } from "../parallel.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { type Floor, joinBridge, startFloor } from "../servers/mod.ts";
import { mediansByKey, percentile } from "../statistics.ts";
import { BASE, HostedProject } from "./project.ts";

/** Requests per second to each of the two servers. */
const RATE = 100;
/** Rounds of a row; the median counts, so that a burst of other programs spoils one round. */
const ROUNDS = 5;
const TICKETS = 2_000;
/** Words that every ticket has, so that searches differ. */
const WORDS = ["what", "happens", "case", "sentence", "text"];
const CHANNEL = "bench";
/** Pages of 100 check-ins that are read: so many that hardly an answer comes from memory. */
const PAGES = 10;
/** Check-ins between those that the page compares, and between those of the two diffs. */
const [PAGE_APART, DIFF_APART] = [12, 24];
/** The aims for the 99th percentile, as multiples of the floor's. */
const [AIM, TREE_AIM] = [3, 1.5];
const ADMIN = { username: "bench", password: "correct horse battery staple" };

/** A row of the table: a request that is sent at a fixed rate beside a load. */
interface Row {
  readonly name: string;
  readonly request: { readonly method: "GET" | "POST"; readonly path: string; body?: unknown };
  /** None in the row that shows what a quiet server does. */
  readonly load?: LoadRequest;
  readonly aim: number;
}

export const BESIDE: Scenario = {
  name: "beside",
  anyIrcServer: false,
  describe: ({ seconds, repository }) =>
    `p99 of ${RATE} requests a second beside others' work, and of as many to Deno.serve in the ` +
    `same seconds, median of ${ROUNDS} rounds of ${seconds} s; ${TICKETS} tickets, ${repository}`,
  obstacle: ({ repository }) =>
    isFile(repository) ? null : `there is no ${repository}; --repository names one`,
  measure: async ({ seconds, repository }) => {
    await using project = await HostedProject.start({ path: repository, tickets: TICKETS });
    await project.publish();
    await using floor = await startFloor();
    await joinBridge(project.server, CHANNEL);
    const admin = await project.server.post("/v1/admins", ADMIN);
    await admin.body?.cancel();
    const figures: Figure[] = [];
    for (const row of await rowsOf(project)) {
      figures.push(...await measure(project, floor, row, seconds));
    }
    return figures;
  },
};

async function rowsOf(project: HostedProject): Promise<readonly Row[]> {
  const { hostname, port } = project.server.api;
  const uuidsOf = async (path: string): Promise<string[]> => {
    const uuids: string[] = [];
    for (let page = 1; page <= PAGES; page++) {
      const { checkins } = JSON.parse(await project.ask("GET", `${path}per_page=100&page=${page}`));
      uuids.push(...checkins.map(({ uuid }: { uuid: string }) => uuid));
    }
    return uuids;
  };
  const checkins = await uuidsOf("/api/timeline?");
  const blamed = await uuidsOf("/api/history?path=History.md&");
  const pairs = (apart: number) =>
    checkins.slice(apart).map((from, index) => [from, checkins[index] ?? ""]);
  const reads = (connections: number, paths: readonly string[]): LoadRequest => ({
    urls: paths.map((path) => `http://${hostname}:${port}${path}`),
    init: { method: "GET", headers: { authorization: `Bearer ${project.token}` } },
    status: 200,
    connections,
  });
  const text = "A message of some twenty words, as people and agents write them to each other.";
  const post = {
    request: {
      method: "POST",
      path: `/v1/channels/${CHANNEL}/messages`,
      body: { nick: "bench", text },
    },
    aim: namedExecutable() === undefined ? TREE_AIM : AIM,
  } as const;
  const status = { request: { method: "GET", path: "/v1/status" }, aim: AIM } as const;
  return [
    { ...post, name: "POST alone" },
    {
      ...post,
      name: "POST beside two blames",
      load: reads(2, blamed.map((uuid) => `${BASE}/api/blame?path=History.md&checkin=${uuid}`)),
    },
    {
      ...post,
      name: "POST beside a compare page",
      load: reads(
        1,
        pairs(PAGE_APART).map(([from, to]) => `/projects/bench/compare/${from}...${to}`),
      ),
    },
    {
      ...post,
      name: "POST beside two diffs",
      load: reads(
        2,
        pairs(DIFF_APART).map(([from, to]) => `${BASE}/api/diff?from=${from}&to=${to}`),
      ),
    },
    {
      ...post,
      name: "POST beside an archive",
      load: reads(1, checkins.map((uuid) => `${BASE}/api/archive/${uuid}.zip`)),
    },
    {
      ...post,
      name: "POST beside four searches",
      load: reads(
        4,
        WORDS.flatMap((word) =>
          Array.from({ length: TICKETS }, (_, index) => `${BASE}/api/search?q=${word}+${index}*`)
        ),
      ),
    },
    { ...status, name: "status alone" },
    {
      ...status,
      name: "status beside 16 wrong logins",
      load: {
        urls: [`http://${hostname}:${port}/login`],
        init: {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ ...ADMIN, password: "wrong" }),
        },
        status: 401,
        connections: 16,
        fromNewAddresses: true,
      },
    },
  ];
}

async function measure(
  { server }: HostedProject,
  floor: Floor,
  { name, request, load, aim }: Row,
  seconds: number,
): Promise<Figure[]> {
  using others = load === undefined ? null : await Load.start(load);
  const text = HttpClient.format({ ...request, token: server.token });
  const rounds: Record<"muster" | "floor", number>[] = [];
  for (let round = 0; round <= ROUNDS; round++) {
    const [muster, bare] = await Promise.all([
      p99Of(server.api, text, seconds),
      delay(500 / RATE).then(() => p99Of(floor.api, text, seconds)),
    ]);
    // The first round warms up what the request needs.
    if (round > 0) rounds.push({ muster, floor: bare });
  }
  const answers = await others?.end();
  const { muster, floor: bare } = mediansByKey(rounds);
  return [
    {
      name: `${name}: p99`,
      value: muster,
      unit: "ms",
      aim: Math.round(aim * bare * 100) / 100,
      peers: [{ name: "Deno.serve", value: bare }],
    },
    ...answers === undefined
      ? []
      : [{ name: "others' requests meanwhile", value: answers, unit: "" }],
  ];
}

/** The 99th percentile of the milliseconds from when a request is due to its answer. */
async function p99Of(address: Address, request: string, seconds: number): Promise<number> {
  using client = await HttpClient.open(address);
  const latencies: number[] = [];
  const ask = async (dueAt: number) => {
    const { status } = await client.ask(request);
    if (status >= 300) throw new Error(`A request was answered ${status}`);
    latencies.push(performance.now() - dueAt);
  };
  let answered = Promise.resolve();
  await sendAtRate(RATE, RATE * seconds, () => {
    const dueAt = performance.now();
    return answered = answered.then(() => ask(dueAt));
  });
  return percentile(Float32Array.from(latencies), 0.99);
}
