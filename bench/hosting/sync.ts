/** The `fossil` program against a project of muster, and against `fossil server`. */
import { join } from "node:path";
import { fossilScenario } from "../fossil/scenario.ts";
import { compared, type Workbench } from "../fossil/workbench.ts";
import { median } from "../statistics.ts";
import type { Figure } from "../scenario.ts";
import { FossilServer } from "./fossil_server.ts";
import { AGENT, HostedProject } from "./project.ts";

/** Rounds of each measurement; the first does not count. */
const CLONES = 5;
const PUSHES = 3;
const PULLS = 15;
/** Check-ins of a push. */
const CHECKINS = 100;

/** The project's aim, as a part of the time with `fossil server`. */
const AIM = 1;

interface Sides {
  readonly bench: Workbench;
  /** URLs with a login of the same name. */
  readonly muster: string;
  readonly fossil: string;
}

export const SYNC = fossilScenario(
  "sync",
  `clone, push of ${CHECKINS} check-ins and no-op pull by the fossil program, from muster and ` +
    "from fossil server in turns",
  async (source, bench) => {
    await using project = await HostedProject.start({ path: source });
    await using server = await FossilServer.start(
      bench.program,
      await bench.copy(source, "served.fossil"),
      AGENT,
    );
    const sides = { bench, muster: project.syncUrl, fossil: server.url };
    return [
      ...await measureClones(sides),
      ...await measurePushes(sides),
      ...await measurePulls(sides),
    ];
  },
);

async function measureClones({ bench, ...urls }: Sides): Promise<Figure[]> {
  return await inTurns("clone", CLONES, async (side) => {
    const file = bench.path("clone.fossil");
    const time = await bench.program.run(["clone", urls[side], file]);
    await Deno.remove(file);
    return time;
  });
}

/** Pushes the same check-ins to both, from copies of one clone. */
async function measurePushes({ bench, ...urls }: Sides): Promise<Figure[]> {
  const { program } = bench;
  const origin = bench.path("pushed.fossil");
  await program.run(["clone", urls.fossil, origin]);
  await program.run(["settings", "autosync", "off", "-R", origin]);
  const checkout = bench.path("checkout");
  await Deno.mkdir(checkout);
  await program.run(["open", "--nested", origin], { folder: checkout });
  return await inTurns(`push of ${CHECKINS} check-ins`, PUSHES, async (side) => {
    const copy = await bench.copy(origin, "copy.fossil");
    const time = await program.run(["push", urls[side], "--once", "-R", copy]);
    await Deno.remove(copy);
    return time;
  }, async (round) => {
    for (let checkin = 0; checkin < CHECKINS; checkin++) {
      const text = `round ${round}, check-in ${checkin}\n`;
      await Deno.writeTextFile(join(checkout, "Readme.md"), text.repeat(checkin + 1));
      const words = ["commit", "-m", text, "--user-override", AGENT, "--no-warnings"];
      await program.run(words, { folder: checkout });
    }
  });
}

async function measurePulls({ bench, ...urls }: Sides): Promise<Figure[]> {
  const { program } = bench;
  const files = { muster: bench.path("of muster"), fossil: bench.path("of fossil") };
  for (const side of SIDES) await program.run(["clone", urls[side], files[side]]);
  return await inTurns(
    "pull of nothing",
    PULLS,
    (side) => program.run(["pull", urls[side], "--once", "-R", files[side]]),
  );
}

const SIDES = ["muster", "fossil"] as const;

/**
 * Measures both sides in turns.
 *
 * @param measure returns milliseconds.
 * @param prepare called before each round.
 */
async function inTurns(
  name: string,
  rounds: number,
  measure: (side: (typeof SIDES)[number]) => Promise<number>,
  prepare: (round: number) => Promise<void> = async () => {},
): Promise<Figure[]> {
  const times: Record<(typeof SIDES)[number], number[]> = { muster: [], fossil: [] };
  for (let round = 0; round <= rounds; round++) {
    await prepare(round);
    for (const side of round % 2 === 0 ? SIDES : SIDES.toReversed()) {
      const time = await measure(side);
      if (round > 0) times[side].push(time);
    }
  }
  return compared(name, median(times.muster), median(times.fossil), AIM);
}
