import type { PooledRepository } from "../../services/engines/fossil/mod.ts";
import { delay, spin } from "../parallel.ts";
import { percentile } from "../statistics.ts";
import { longestHistories } from "./reads.ts";
import { fossilScenario } from "./scenario.ts";
import { commitOne } from "./workbench.ts";

/** Time between two readings of the clock, in milliseconds. */
const INTERVAL_MS = 1;

/** Measures repeatedly how late a timer of this thread is. */
class Lag {
  readonly #delays: number[] = [];

  /**
   * Watches the event loop of this thread while work goes on.
   *
   * @param work is started and watched until its end
   */
  async watch(work: () => Promise<void>): Promise<void> {
    let isOver = false;
    const watching = (async () => {
      while (!isOver) {
        const startedAt = performance.now();
        await delay(INTERVAL_MS);
        this.#delays.push(Math.max(0, performance.now() - startedAt - INTERVAL_MS));
      }
    })();
    try {
      await work();
    } finally {
      isOver = true;
      await watching;
    }
  }

  /** The 99.9th percentile of how late the timer was, in milliseconds. */
  get late(): number {
    return percentile(Float32Array.from(this.#delays), 0.999);
  }
}

/** The time for which each part is watched, in milliseconds, and the number of turns. */
const [WATCHED_MS, ROUNDS] = [3_000, 4];
const AIM_MS = 5;

export const RESPONSIVENESS = fossilScenario(
  "fossil-lag",
  "lag of the main thread's event loop while one worker blames and another commits",
  async (source, bench) => {
    const read = await bench.pool.open(await bench.copy(source, "read.fossil"));
    const written = await bench.pool.open(await bench.copy(source, "written.fossil"));
    const [, path = ""] = await longestHistories(read);
    const load = await Load.start(read, written, path);
    const [idle, crowded, busy] = [new Lag(), new Lag(), new Lag()];
    for (let round = 0; round < ROUNDS; round++) {
      await idle.watch(() => delay(WATCHED_MS));
      await crowded.watch(() => spin(2, WATCHED_MS));
      await busy.watch(() => load.run(WATCHED_MS));
    }
    return [
      { name: "lag p99.9 beyond idle", value: busy.late - idle.late, unit: "ms", aim: AIM_MS },
      {
        name: "lag p99.9 beyond two busy threads",
        value: busy.late - crowded.late,
        unit: "ms",
        aim: AIM_MS,
      },
      { name: "lag p99.9", value: busy.late, unit: "ms" },
      { name: "lag p99.9 beside two busy threads", value: crowded.late, unit: "ms" },
      { name: "lag p99.9, idle", value: idle.late, unit: "ms" },
      { name: "blames meanwhile", value: load.blames, unit: "" },
      { name: "commits meanwhile", value: load.commits, unit: "" },
    ];
  },
);

interface LoadOptions {
  /** The repository of the blamed file, and that file. */
  readonly read: PooledRepository;
  readonly path: string;
  /** The repository that gets commits, and the parent of the first. */
  readonly written: PooledRepository;
  readonly parent: string;
}

/** One worker blames and another commits, without a pause. */
class Load {
  readonly #read: PooledRepository;
  readonly #written: PooledRepository;
  readonly #path: string;
  #parent: string;
  blames = 0;
  commits = 0;

  private constructor(options: LoadOptions) {
    this.#read = options.read;
    this.#written = options.written;
    this.#path = options.path;
    this.#parent = options.parent;
  }

  /** Resolves when both workers have done their part once, so that no start is measured. */
  static async start(read: PooledRepository, written: PooledRepository, path: string) {
    const { uuid } = await written.resolveCheckin("trunk");
    const load = new Load({ read, written, path, parent: uuid });
    await Promise.all([load.#blame(), load.#commit()]);
    [load.blames, load.commits] = [0, 0];
    return load;
  }

  async run(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds;
    const repeat = async (call: () => Promise<void>) => {
      while (performance.now() < end) await call();
    };
    await Promise.all([repeat(() => this.#blame()), repeat(() => this.#commit())]);
  }

  async #blame(): Promise<void> {
    await this.#read.json.blame({ path: this.#path });
    this.blames++;
  }

  async #commit(): Promise<void> {
    const text = `round ${this.commits} of ${performance.now()}\n`;
    this.#parent = await commitOne(this.#written, this.#parent, this.#path, text);
    this.commits++;
  }
}
