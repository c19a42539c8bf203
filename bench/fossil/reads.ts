import type { PooledRepository } from "../../services/engines/fossil/mod.ts";
import type { Figure } from "../scenario.ts";
import { timeMuster } from "./program.ts";
import { AIM, fossilScenario, PROGRAM_RUNS } from "./scenario.ts";
import { compared, timeCalls } from "./workbench.ts";

/** Calls of muster, each with other arguments if possible; the median counts. */
const CALLS = 200;
/** Like `CALLS`, for slow reads. */
const FEW_CALLS = 20;
/** Check-ins of one page of the timeline. */
const PAGE = 50;

/** A read, in muster and in the program. */
interface Read {
  readonly name: string;
  readonly args: readonly string[];
  /** The arguments of `muster fossil` for the same, if it has them. */
  readonly command?: readonly string[];
  readonly aim: number;
  readonly calls: number;
  call(round: number): Promise<unknown>;
}

export const READS = fossilScenario(
  "fossil-reads",
  "reads from an open repository in a worker, and by the fossil program",
  async (source, bench) => {
    const path = await bench.copy(source, "reads.fossil");
    const checkout = await bench.checkout(path, "checkout");
    const repository = await bench.pool.open(path);
    const reads = await readsOf(repository, path);
    const figures: Figure[] = [];
    for (const { name, args, command, aim, calls, call } of reads) {
      await repository.close();
      const { first, median } = await timeCalls(calls, call);
      const fossil = await bench.program.time(PROGRAM_RUNS, args, checkout);
      figures.push(...compared(name, median, fossil, aim));
      figures.push({ name: `${name}: just opened`, value: first, unit: "ms" });
      if (command === undefined) continue;
      const whole = await timeMuster(PROGRAM_RUNS, ["fossil", ...command]);
      figures.push({ name: `${name}: muster fossil`, value: whole, unit: "ms" });
    }
    return figures;
  },
);

async function readsOf(repository: PooledRepository, path: string): Promise<Read[]> {
  const { checkins } = await repository.timeline({ limit: CALLS + 1 });
  const checkin = (round: number) => checkins[round % checkins.length]?.uuid ?? "tip";
  const [longest = "", second = ""] = await longestHistories(repository);
  const at = ["-R", path];
  return [
    {
      name: `timeline of ${PAGE}`,
      args: ["timeline", "-n", `${PAGE}`, "-t", "ci", ...at],
      command: ["timeline", path, "-n", `${PAGE}`],
      aim: AIM.read,
      calls: CALLS,
      call: (round) => repository.timeline({ limit: PAGE, offset: round }),
    },
    {
      name: "tip tree",
      args: ["ls", "-r", "trunk", ...at],
      command: ["ls", path],
      aim: AIM.read,
      calls: CALLS,
      call: () => repository.tree({ recursive: true, withoutLastCheckin: true }),
    },
    {
      name: "tip tree with last changes",
      args: ["ls", "--age", "-r", "trunk", ...at],
      aim: AIM.read,
      calls: CALLS,
      call: () => repository.tree({ recursive: true }),
    },
    {
      name: "file",
      args: ["cat", longest, "-r", "trunk", ...at],
      command: ["cat", path, longest],
      aim: AIM.read,
      calls: CALLS,
      call: (round) => repository.file({ path: longest, checkin: checkin(round) }),
    },
    {
      name: "diff",
      args: ["diff", "-i", "--checkin", checkin(1), ...at],
      command: ["diff", path, "--to", checkin(1)],
      aim: AIM.read,
      calls: CALLS,
      call: (round) => repository.diff({ to: checkin(round) }),
    },
    ...[longest, second].map((file): Read => ({
      name: `blame of ${file}`,
      args: ["annotate", file, "-n", "none"],
      command: ["blame", path, file],
      aim: AIM.whole,
      calls: FEW_CALLS,
      call: () => repository.blame({ path: file }),
    })),
  ];
}

/** Files of the tip, those with the most changes first. */
export async function longestHistories(repository: PooledRepository): Promise<string[]> {
  const { entries } = await repository.tree({ recursive: true, withoutLastCheckin: true });
  const lengths = new Map<string, number>();
  for (const { name } of entries) {
    lengths.set(name, (await repository.history({ path: name, limit: 0 })).total);
  }
  return [...lengths].toSorted((left, right) => right[1] - left[1]).map(([name]) => name);
}
