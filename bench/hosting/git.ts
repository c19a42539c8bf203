/** The `git` program against a project of muster, and against `git http-backend`. */
import { join } from "node:path";
import { fossilScenario } from "../fossil/scenario.ts";
import type { Workbench } from "../fossil/workbench.ts";
import { delay } from "../parallel.ts";
import { median } from "../statistics.ts";
import type { Figure } from "../scenario.ts";
import { GitBackend } from "./git_backend.ts";
import { GitProgram } from "./git_program.ts";
import { type DerivedEnding, GitProject } from "./git_project.ts";

/** Rounds of each measurement. */
const [CLONES, FETCHES, COMMITS, PUSHES] = [5, 20, 15, 3];
/** Commits of a long push. */
const MANY = 100;

/** The aims, as multiples of the processor time of `git http-backend`. */
const AIM = { first: 3, clone: 0.5, nothing: 0.5, fetch: 1, push: 1, many: 1.5 } as const;
/** The aim for the median push of one commit, in milliseconds. */
const PUSH_AIM_MS = 50;

const SIDES = ["muster", "git"] as const;
type Side = typeof SIDES[number];

/** What a server used for some work, and how long the client waited. */
interface Cost {
  /** Processor time, in milliseconds. */
  readonly cpu: number;
  readonly clock: number;
}

export const GIT = fossilScenario(
  "git",
  "clone, fetch and push by the git program, from muster and from git http-backend in turns: " +
    "processor time of the server until it does nothing more",
  async (source, bench) => {
    const git = new GitProgram(bench.folder);
    await git.fromFossil(source, bench.path("served.git"));
    await git.run(["config", "http.receivepack", "true"], bench.path("served.git"));
    await using backend = await GitBackend.start(bench.folder, bench.folder);
    const url = `${backend.url}/served.git`;
    const home = bench.path("muster");
    await Deno.mkdir(home);
    await using project = await GitProject.start(home, url);
    const sides = new Sides(bench, git, { muster: project, git: backend });
    return [
      ...await sides.firstClones(project),
      ...await sides.clones(),
      ...await sides.fetchesOfNothing(),
      ...await sides.pushesAndFetches(),
    ];
  },
);

class Sides {
  readonly #bench: Workbench;
  readonly #git: GitProgram;
  readonly #servers: { readonly muster: GitProject; readonly git: GitBackend };
  #clones = 0;

  constructor(
    bench: Workbench,
    git: GitProgram,
    servers: { readonly muster: GitProject; readonly git: GitBackend },
  ) {
    this.#bench = bench;
    this.#git = git;
    this.#servers = servers;
  }

  #url(side: Side): string {
    const { muster, git } = this.#servers;
    return side === "muster" ? muster.url : `${git.url}/served.git`;
  }

  async #clone(side: Side): Promise<string> {
    const target = this.#bench.path(`clone-${++this.#clones}`);
    const args = ["clone", "--quiet", "--no-checkout", this.#url(side), target];
    for (;;) {
      try {
        await this.#git.run(args);
        return target;
      } catch (error) {
        if (!(error instanceof Error && error.message.includes("try again in a moment"))) {
          throw error;
        }
        await delay(1000);
      }
    }
  }

  /** What the server of a side uses for some work. */
  async #cost(side: Side, work: () => Promise<unknown>): Promise<Cost> {
    const server = this.#servers[side];
    const before = await server.cpuSeconds();
    const startedAt = performance.now();
    await work();
    const clock = performance.now() - startedAt;
    await this.#servers.muster.settle();
    return { cpu: 1000 * (await server.cpuSeconds() - before), clock };
  }

  async #cloneCost(side: Side): Promise<Cost> {
    let target = "";
    const cost = await this.#cost(side, async () => target = await this.#clone(side));
    await Deno.remove(target, { recursive: true });
    return cost;
  }

  async firstClones(project: GitProject): Promise<Figure[]> {
    const git = [await this.#cloneCost("git"), await this.#cloneCost("git")];
    const after = async (...lost: readonly DerivedEnding[]) => {
      await project.restartWithout(...lost);
      return { git, muster: [await this.#cloneCost("muster")] };
    };
    return [
      ...figures("first clone after an import", await after(), AIM.first),
      ...figures("first clone whose pack must be made", await after(".pack")),
      ...figures("and Git's objects before it", await after(".pack", ".objects")),
    ];
  }

  clones(): Promise<Figure[]> {
    return this.#inTurns("further clone", CLONES, AIM.clone, (side) => this.#cloneCost(side));
  }

  async fetchesOfNothing(): Promise<Figure[]> {
    const folders = { muster: await this.#clone("muster"), git: await this.#clone("git") };
    // Each costs about what the kernel can tell apart.
    return await this.#inTurns("fetch of nothing", 1, AIM.nothing, async (side) => {
      const { cpu, clock } = await this.#cost(side, async () => {
        for (let count = 0; count < FETCHES; count++) {
          await this.#git.run(["fetch", "--quiet"], folders[side]);
        }
      });
      return { cpu: cpu / FETCHES, clock: clock / FETCHES };
    });
  }

  async pushesAndFetches(): Promise<Figure[]> {
    const checkout = this.#bench.path("checkout");
    await this.#git.run(["clone", "--quiet", this.#url("git"), checkout]);
    const clones = { muster: await this.#clone("muster"), git: await this.#clone("git") };
    const urls = { muster: this.#servers.muster.pushUrl, git: this.#url("git") };
    const push = (side: Side) =>
      this.#cost(
        side,
        () => this.#git.run(["push", "--quiet", urls[side], "HEAD:trunk"], checkout),
      );
    const [pushes, fetches, many] = [newCosts(), newCosts(), newCosts()];
    for (let round = 0; round <= COMMITS; round++) {
      await this.#commit(checkout, `round ${round}\n`);
      for (const side of inTurn(round)) {
        const pushed = await push(side);
        const fetched = await this.#cost(
          side,
          () => this.#git.run(["fetch", "--quiet"], clones[side]),
        );
        if (round === 0) continue;
        pushes[side].push(pushed);
        fetches[side].push(fetched);
      }
    }
    for (let round = 0; round < PUSHES; round++) {
      for (let count = 0; count < MANY; count++) {
        await this.#commit(checkout, `push ${round}, commit ${count}\n`);
      }
      for (const side of inTurn(round)) many[side].push(await push(side));
    }
    const p50 = (side: Side) => median(pushes[side].map(({ clock }) => clock));
    return [
      ...figures("fetch of one commit", fetches, AIM.fetch),
      ...figures("push of one commit", pushes, AIM.push),
      { name: "push of one commit: p50", value: p50("muster"), unit: "ms", aim: PUSH_AIM_MS },
      { name: "push of one commit by git: p50", value: p50("git"), unit: "ms" },
      ...figures(`push of ${MANY} commits`, many, AIM.many),
    ];
  }

  /** Commits a text as the only change of a checkout. */
  async #commit(checkout: string, text: string): Promise<void> {
    await Deno.writeTextFile(join(checkout, "bench.txt"), text);
    await this.#git.commit(checkout, text, "bench.txt");
  }

  async #inTurns(
    name: string,
    rounds: number,
    aim: number,
    measure: (side: Side) => Promise<Cost>,
  ): Promise<Figure[]> {
    const costs = newCosts();
    for (let round = 0; round < rounds; round++) {
      for (const side of inTurn(round)) costs[side].push(await measure(side));
    }
    return figures(name, costs, aim);
  }
}

function newCosts(): Record<Side, Cost[]> {
  return { muster: [], git: [] };
}

function inTurn(round: number): readonly Side[] {
  return round % 2 === 0 ? SIDES : SIDES.toReversed();
}

/** The mean processor time of both sides: the kernel counts it in steps of 10 ms. */
function figures(
  name: string,
  costs: Readonly<Record<Side, readonly Cost[]>>,
  aim?: number,
): Figure[] {
  const mean = (side: Side) =>
    costs[side].reduce((sum, { cpu }) => sum + cpu, 0) / costs[side].length;
  const ratio = mean("muster") / mean("git");
  return [
    { name, value: mean("muster"), unit: "ms" },
    { name: `${name} by git`, value: mean("git"), unit: "ms" },
    { name: `${name}: ratio`, value: ratio, unit: "×", ...aim !== undefined && { aim } },
  ];
}
