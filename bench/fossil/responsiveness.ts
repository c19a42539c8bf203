import { delay } from "../delay.ts";
import { spin } from "../spin.ts";
import { eventLoopLag } from "./lag.ts";
import { longestHistories } from "./reads.ts";
import { fossilScenario } from "./scenario.ts";
import { commitOne } from "./workbench.ts";

/** How long each part is watched, in milliseconds. */
const WATCHED_MS = 10_000;
const AIM_MS = 5;

export const RESPONSIVENESS = fossilScenario(
  "fossil-lag",
  "lag of the main thread's event loop while one worker blames and another commits",
  async (source, bench) => {
    const read = await bench.pool.open(await bench.copy(source, "read.fossil"));
    const written = await bench.pool.open(await bench.copy(source, "written.fossil"));
    const [, path = ""] = await longestHistories(read);
    let { uuid: parent } = await written.resolveCheckin("trunk");
    let [blames, commits] = [0, 0];
    const idle = await eventLoopLag(() => delay(WATCHED_MS));
    const crowded = await eventLoopLag(() => spin(2, WATCHED_MS));
    const busy = await eventLoopLag(async () => {
      const end = performance.now() + WATCHED_MS;
      const blaming = async () => {
        for (; performance.now() < end; blames++) await read.json.blame({ path });
      };
      const committing = async () => {
        for (; performance.now() < end; commits++) {
          parent = await commitOne(written, parent, path, `round ${commits}\n`);
        }
      };
      await Promise.all([blaming(), committing()]);
    });
    return [
      { name: "lag p99.9 beyond two busy threads", value: busy - crowded, unit: "ms", aim: AIM_MS },
      { name: "lag p99.9", value: busy, unit: "ms" },
      { name: "lag p99.9 beside two busy threads", value: crowded, unit: "ms" },
      { name: "lag p99.9 while nothing is done", value: idle, unit: "ms" },
      { name: "blames meanwhile", value: blames, unit: "" },
      { name: "commits meanwhile", value: commits, unit: "" },
    ];
  },
);
