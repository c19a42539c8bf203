import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HttpClient } from "../client/mod.ts";
import { delay } from "../delay.ts";
import { MusterProcess } from "../servers/mod.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { median } from "../statistics.ts";

const AGENTS = 5000;
const EVENTS = 1_000_000;

/** One event of this many has the type that is asked for. */
const RARITY = 100_000;

/** How often each list is asked for. */
const TIMES = 20;

/** The pause between two requests of the caller that may have to wait, in milliseconds. */
const PAUSE = 1;

/** The aim for what that caller waits longer, in milliseconds. */
const AIM = 5;

/** A list and its request. */
interface List {
  readonly name: string;
  readonly path: string;
  isRight(body: string): boolean;
}

const LISTS: readonly List[] = [
  {
    name: `GET /v1/agents (${AGENTS})`,
    path: "/v1/agents",
    isRight: (body) => JSON.parse(body).length === AGENTS,
  },
  {
    name: "a page of 100 agents",
    path: "/v1/agents?limit=100&after=agent100",
    isRight: (body) => JSON.parse(body).length === 100,
  },
  {
    name: "events of a rare type",
    path: "/v1/events?types=rare.kind&after=0&limit=1000",
    isRight: (body) => JSON.parse(body).events.length === EVENTS / RARITY,
  },
];

/** Long lists, and what another caller waits meanwhile. */
export const LARGE_LISTS: Scenario = {
  name: "large-lists",
  anyIrcServer: false,
  describe: () =>
    `${AGENTS} agents and ${EVENTS} events; each list ${TIMES} times, while another caller asks ` +
    `for GET /v1/status every ${PAUSE} ms`,
  measure: async () => {
    const folder = await Deno.makeTempDir({ prefix: "muster-bench-lists-" });
    await using kept = new AsyncDisposableStack();
    kept.defer(() => Deno.remove(folder, { recursive: true }));
    const environment = { MUSTER_EVENTS_MAX_EVENTS: "0", MUSTER_EVENTS_MAX_DAYS: "0" };
    const empty = await MusterProcess.start(environment, folder);
    await empty.stop();
    fill(join(folder, "data", "muster.db"));
    await using server = await MusterProcess.start(environment, folder);
    const { token, api } = server;
    using lister = await HttpClient.open(api);
    using other = await HttpClient.open(api);
    const status = HttpClient.format({ method: "GET", path: "/v1/status", token });
    const ask = async () => {
      const { status: code } = await other.ask(status);
      if (code !== 200) throw new Error(`GET /v1/status was answered ${code}`);
    };
    const calm = await waitsWhile(ask, () => delay(TIMES * 50));
    const figures: Figure[] = [
      { name: "GET /v1/status alone: median", value: median(calm), unit: "ms" },
      { name: "GET /v1/status alone: longest", value: Math.max(...calm), unit: "ms" },
    ];
    for (const list of LISTS) figures.push(...await measure(list, { lister, token, ask }));
    return figures;
  },
};

async function measure(
  { name, path, isRight }: List,
  { lister, token, ask }: {
    readonly lister: HttpClient;
    readonly token: string;
    readonly ask: () => Promise<void>;
  },
): Promise<Figure[]> {
  // Without the other accepted type, which asks for a stream.
  const request = HttpClient.format({ method: "GET", path, token })
    .replace(", text/event-stream", "");
  const { status, text } = await lister.ask(request, true);
  if (status !== 200 || !isRight(text)) throw new Error(`${path} was answered ${status}`);
  const times: number[] = [];
  const waits = await waitsWhile(ask, async () => {
    for (let time = 0; time < TIMES; time++) {
      const began = performance.now();
      await lister.ask(request);
      times.push(performance.now() - began);
    }
  });
  return [
    { name: `${name}: median`, value: median(times), unit: "ms" },
    { name: `${name}: longest wait of the other`, value: Math.max(...waits), unit: "ms", aim: AIM },
  ];
}

/** Asks again and again while something else runs. Returns the times, in milliseconds. */
async function waitsWhile(
  ask: () => Promise<void>,
  run: () => Promise<void>,
): Promise<number[]> {
  const waits: number[] = [];
  let isOver = false;
  const running = run().finally(() => isOver = true);
  while (!isOver) {
    const began = performance.now();
    await ask();
    waits.push(performance.now() - began);
    await delay(PAUSE);
  }
  await running;
  return waits;
}

/** Writes agents and events into the database of a stopped server; the events have no hash. */
function fill(path: string): void {
  const database = new DatabaseSync(path);
  try {
    database.exec(`
      BEGIN;
      CREATE TEMPORARY TABLE numbers AS
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers LIMIT ${EVENTS})
        SELECT n FROM numbers;
      INSERT INTO accounts (id, name, name_folded, kind, secret_scheme, secret, created_at)
        SELECT 'id' || n, 'agent' || n, 'agent' || n, 'agent', 'sha256', '', 0
        FROM numbers WHERE n <= ${AGENTS};
      INSERT INTO agents (account_id, type, channels, registered_at)
        SELECT 'id' || n, 'worker', '["#general"]', 0 FROM numbers WHERE n <= ${AGENTS};
      INSERT INTO events (seq, time, type, actor, data, hash)
        SELECT (SELECT max(seq) FROM events) + n, 0,
          CASE WHEN n % ${RARITY} = 0 THEN 'rare.kind' ELSE 'common.kind' END, 'nobody', '{}', ''
        FROM numbers;
      COMMIT;
    `);
  } finally {
    database.close();
  }
}
