import assert from "node:assert/strict";
import { call, type Server } from "../support/api.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { Random } from "../services/fossil/support/random.ts";
import { audit, auditEvents } from "./audit.ts";
import { Client } from "./client.ts";
import { Facts } from "./facts.ts";
import { API, type Shared, Worker } from "./worker.ts";

const WORKERS = 8;
const CONTESTED = 3;

/** Most answers before a kill, and how much later it may come, in milliseconds. */
const MAX_ANSWERS = 150;
const MAX_DELAY_MS = 20;

/** How long a start may take, in milliseconds: other soaks may keep the machine busy. */
const START_LIMIT_MS = 120_000;

/** What a run did. */
export interface Tally {
  readonly kills: number;
  /** Requests that changed something and were acknowledged. */
  readonly acknowledged: number;
}

/**
 * Runs the real program under a mixed load, kills it (SIGKILL) at random moments, and checks after
 * each restart that nothing acknowledged is lost and nothing is half done.
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
  await withFolder(async (folder) => {
    let program = await startProgram({ folder, startLimit: START_LIMIT_MS });
    try {
      const tokens = await prepare(program);
      const shared: Shared = { facts, random, contested: [], won: new Map() };
      const workers = tokens.map((_, index) => new Worker(shared, nameOf(index)));
      for (let kill = 1; kill <= kills; kill++) {
        await makeContested(program, shared, kill);
        await disturb(program, { tokens, workers, random });
        program = await startProgram({ folder, startLimit: START_LIMIT_MS });
        await facts.check(new Client(program.api, program.token), kill === kills);
        await audit(program);
        onKill(kill, { kills: kill, acknowledged: facts.acknowledged });
      }
      auditEvents(program);
      assert.equal(await program.stop(), 0);
    } finally {
      await program.stop("SIGKILL");
    }
  });
  return { kills, acknowledged: facts.acknowledged };
}

/** Lets every worker work, and kills the program in the middle. */
async function disturb(
  program: Program,
  { tokens, workers, random }: {
    readonly tokens: readonly string[];
    readonly workers: readonly Worker[];
    readonly random: Random;
  },
): Promise<void> {
  let left = random.below(MAX_ANSWERS);
  const delay = random.next() * MAX_DELAY_MS;
  let killed: Promise<number> | null = null;
  const answered = () => {
    if (--left > 0) return;
    killed ??= new Promise<void>((resolve) => setTimeout(resolve, delay))
      .then(() => program.stop("SIGKILL"));
  };
  const clients = tokens.map((token) => new Client(program.api, token, answered));
  const operator = new Client(program.api, program.token, answered);
  await Promise.all(workers.map((worker, index) => {
    const [own, other] = [clients[index], clients[(index + 1) % clients.length]];
    assert.ok(own !== undefined && other !== undefined);
    return worker.work(own, other, index === 0 ? operator : null);
  }));
  await killed;
}

/** Makes the project and its agents; gives the agents' tokens. */
async function prepare(server: Server): Promise<string[]> {
  await expect(call(server, "POST", "/v1/projects", { slug: "soak" }));
  const tokens: string[] = [];
  for (let index = 0; index < WORKERS; index++) {
    const nick = nameOf(index);
    await expect(call(server, "POST", "/v1/agents/register", { nick }));
    const member = call(server, "PUT", `/v1/projects/soak/members/${nick}`, { role: "write" });
    await expect(member);
    const token = { owner: nick, name: "soak", scopes: ["read", "write"] };
    tokens.push((await expect<{ token: string }>(call(server, "POST", "/v1/tokens", token))).token);
  }
  return tokens;
}

/** Makes the tickets that all workers claim in the next round. */
async function makeContested(server: Server, { contested }: Shared, round: number): Promise<void> {
  contested.length = 0;
  for (let index = 0; index < CONTESTED; index++) {
    const title = `Contested ${round}.${index}`;
    const made = call(server, "POST", `${API}/tickets`, { title });
    contested.push((await expect<{ uuid: string }>(made)).uuid);
  }
}

async function expect<Body>(answer: Promise<Response>): Promise<Body> {
  const response = await answer;
  const text = await response.text();
  assert.ok(response.ok, text);
  return JSON.parse(text);
}

function nameOf(index: number): string {
  return `worker${index}`;
}
