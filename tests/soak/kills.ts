import assert from "node:assert/strict";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { workerProcessesOf } from "../support/worker_processes.ts";
import { Random } from "../services/engines/fossil/support/random.ts";
import { audit, auditEvents } from "./audit.ts";
import { Client } from "./client.ts";
import { Facts } from "./facts.ts";
import { makeContested, nameOf, prepare } from "./project.ts";
import { type Shared, Worker } from "./worker.ts";

/** Most kills of a process for repositories before the program itself is killed. */
const MAX_PROCESSES = 3;

/** Most answers before a kill, and how much later it may come, in milliseconds. */
const MAX_ANSWERS = 150;
const MAX_DELAY_MS = 20;

/** How long a start may take, in milliseconds: other soaks may keep the machine busy. */
const START_LIMIT_MS = 120_000;

/** What a run did. */
export interface Tally {
  readonly kills: number;
  /** The kills of processes that read and write repositories, and of those that render markup. */
  readonly processes: number;
  /** Requests that changed something and were acknowledged. */
  readonly acknowledged: number;
}

/**
 * Runs the real program under a mixed load, kills its processes and then itself (SIGKILL) at random
 * moments, and checks after each restart that nothing acknowledged is lost and nothing is half done.
 *
 * @param onKill called after each check
 * @throws AssertionError that says what is lost, half done or unsound
 */
export async function soak(
  kills: number,
  seed: number,
  onKill: (kill: number, tally: Tally) => void = () => {},
): Promise<Tally> {
  const random = new Random(seed);
  const facts = new Facts();
  let processes = 0;
  await withFolder(async (folder) => {
    // Agents keep half of the claims that they win, and leave their workspaces at every kill.
    const environment = {
      MUSTER_PROJECTS_CLAIMS_PER_AGENT: "1000000",
      MUSTER_PROJECTS_WORKSPACES_PER_AGENT: "1000000",
      MUSTER_PROJECTS_WORKSPACES: "1000000",
    };
    const start = { folder, environment, startLimit: START_LIMIT_MS };
    let program = await startProgram(start);
    try {
      const tokens = await prepare(program);
      const shared: Shared = { facts, random, contested: [], won: new Map() };
      const workers = tokens.map((_, index) => new Worker(shared, nameOf(index)));
      for (let kill = 1; kill <= kills; kill++) {
        await makeContested(program, shared, kill);
        processes += await disturb(program, { tokens, workers, random });
        program = await startProgram(start);
        await facts.check(new Client(program.api, program.token), kill === kills);
        await audit(program);
        onKill(kill, { kills: kill, processes, acknowledged: facts.acknowledged });
      }
      auditEvents(program);
      assert.equal(await program.stop(), 0);
    } finally {
      await program.stop("SIGKILL");
    }
  });
  return { kills, processes, acknowledged: facts.acknowledged };
}

/** Lets every worker work, and kills the program in the middle; returns how many processes before. */
async function disturb(
  program: Program,
  { tokens, workers, random }: {
    readonly tokens: readonly string[];
    readonly workers: readonly Worker[];
    readonly random: Random;
  },
): Promise<number> {
  const victims = random.below(MAX_PROCESSES + 1);
  let processes = 0;
  let left = random.below(MAX_ANSWERS);
  let killing: Promise<void> | null = null;
  let isKilled = false;
  const killOne = async () => {
    await new Promise((resolve) => setTimeout(resolve, random.next() * MAX_DELAY_MS));
    if (processes < victims) {
      processes++;
      const pids = await workerProcessesOf(program.pid);
      if (pids.length > 0) kill(random.pick(pids));
      left = random.below(MAX_ANSWERS);
      killing = null;
    } else {
      isKilled = true;
      await program.stop("SIGKILL");
    }
  };
  const answered = () => {
    if (--left <= 0) killing ??= killOne();
  };
  const clients = tokens.map((token) => new Client(program.api, token, answered));
  const operator = new Client(program.api, program.token, answered);
  await Promise.all(workers.map(async (worker, index) => {
    const [own, other] = [clients[index], clients[(index + 1) % clients.length]];
    assert.ok(own !== undefined && other !== undefined);
    // The end of a process ends the work of those whose call it had.
    while (!isKilled) await worker.work(own, other, index === 0 ? operator : null);
  }));
  await killing;
  return processes;
}

/** Kills a process, unless it has ended. */
function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
