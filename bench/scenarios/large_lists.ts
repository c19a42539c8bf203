import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { HttpClient } from "../client/mod.ts";
import { MainThread, type ThreadTimes } from "../main_thread.ts";
import { delay } from "../parallel.ts";
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

/** The aim for what the server's main thread computes while that caller waits, in milliseconds. */
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
    `for GET /v1/status, ${PAUSE} ms after each answer`,
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
    await using other = await Other.open(server);
    const figures: Figure[] = [];
    for (const list of LISTS) figures.push(...await measure(list, { lister, token, other }));
    return figures;
  },
};

/** Measures a list that was asked for before, in turns with pauses as long as it takes. */
async function measure(
  { name, path, isRight }: List,
  { lister, token, other }: {
    readonly lister: HttpClient;
    readonly token: string;
    readonly other: Other;
  },
): Promise<Figure[]> {
  // Without the other accepted type, which asks for a stream.
  const request = HttpClient.format({ method: "GET", path, token })
    .replace(", text/event-stream", "");
  const { status, text } = await lister.ask(request, true);
  if (status !== 200 || !isRight(text)) throw new Error(`${path} was answered ${status}`);
  const times: number[] = [];
  const list = async () => {
    const began = performance.now();
    await lister.ask(request);
    times.push(performance.now() - began);
  };
  for (let time = 0; time < TIMES; time++) await list();
  const [calm, busy]: [Wait[], Wait[]] = [[], []];
  for (const took of times.splice(0)) {
    calm.push(longestOf(await other.askWhile(() => delay(took))));
    busy.push(longestOf(await other.askWhile(list)));
  }
  const computed = busy.map((wait) => wait.computed);
  return [
    { name: `${name}: median`, value: median(times), unit: "ms" },
    { name: "  longest wait of the other", value: longestOf(busy).total, unit: "ms" },
    { name: "  longest without a core in a wait", value: longestOf(busy).queued, unit: "ms" },
    { name: "  longest wait between the lists", value: longestOf(calm).total, unit: "ms" },
    { name: "  computed in a wait: at most", value: longestOf(busy).computed, unit: "ms" },
    { name: "  the same, median of the lists", value: median(computed), unit: "ms", aim: AIM },
  ];
}

/** The most of each. */
function longestOf(waits: readonly Wait[]): Wait {
  const most = (key: keyof Wait) => Math.max(...waits.map((wait) => wait[key]));
  return { total: most("total"), computed: most("computed"), queued: most("queued") };
}

/** How long a request waited for its answer, and what the server's main thread did meanwhile. */
interface Wait extends ThreadTimes {
  readonly total: number;
}

/** Another caller, who asks for the status. */
class Other implements AsyncDisposable {
  readonly #client: HttpClient;
  readonly #request: string;
  readonly #thread: MainThread;

  private constructor(client: HttpClient, server: MusterProcess) {
    const { token } = server;
    this.#client = client;
    this.#request = HttpClient.format({ method: "GET", path: "/v1/status", token });
    this.#thread = new MainThread(server.pid);
  }

  static async open(server: MusterProcess): Promise<Other> {
    return new Other(await HttpClient.open(server.api), server);
  }

  /** Asks again and again while something else runs. */
  async askWhile(run: () => Promise<void>): Promise<readonly Wait[]> {
    const waits: Wait[] = [];
    let isOver = false;
    const running = run().finally(() => isOver = true);
    do {
      waits.push(await this.#wait());
      await delay(PAUSE);
    } while (!isOver);
    await running;
    return waits;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client[Symbol.dispose]();
    await this.#thread[Symbol.asyncDispose]();
  }

  async #wait(): Promise<Wait> {
    const before = await this.#thread.times();
    const began = performance.now();
    const { status } = await this.#client.ask(this.#request);
    const total = performance.now() - began;
    if (status !== 200) throw new Error(`GET /v1/status was answered ${status}`);
    const after = await this.#thread.times();
    return {
      total,
      computed: after.computed - before.computed,
      queued: after.queued - before.queued,
    };
  }
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
