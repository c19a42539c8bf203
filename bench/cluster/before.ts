import { join } from "node:path";
import { V8_FLAGS } from "../../scripts/v8_flags.ts";
import { call } from "../../tests/support/api.ts";
import { type Program, startProgram } from "../../tests/support/program.ts";
import { measure, processUsage } from "../process_usage.ts";
import type { Figure, Scenario, Sizes } from "../scenario.ts";
import { median } from "../statistics.ts";
import { delay, inParallel } from "../parallel.ts";

/** Names the tree of an earlier version, such as a worktree of its commit. */
const TREE = "MUSTER_BENCH_BEFORE";

/** Requests of a round: `/proc` counts in steps of 10 ms, so they are exact to half a microsecond. */
const REQUESTS = 20_000;

/** After its start, a server loads what it did not need for that: milliseconds until it is done. */
const SETTLING = 3000;

/** Logins with a passphrase of a round. */
const LOGINS = 5000;

/** A version that is measured. */
interface Version {
  readonly name: string;
  readonly words: readonly string[];
}

/** A single server on SQLite beside an earlier version of itself. */
export const BEFORE: Scenario = {
  name: "before",
  anyIrcServer: false,
  obstacle: () => Deno.env.has(TREE) ? null : `${TREE} names no tree of an earlier version`,
  describe: ({ starts }) =>
    `the tree of ${TREE} and this one, both on SQLite, in turns: medians of ${starts} starts each`,
  measure: async (sizes) => {
    const versions = [
      { name: "before", words: wordsOf(Deno.env.get(TREE) ?? "") },
      { name: "now", words: wordsOf(join(import.meta.dirname ?? ".", "..", "..")) },
    ];
    // The first start of a tree fills the cache of the runtime.
    for (const { words } of versions) await (await startProgram({ words })).stop();
    return await measureAll(versions, sizes);
  },
};

/** The words that run a tree. */
function wordsOf(tree: string): string[] {
  return [
    Deno.execPath(),
    ...["run", "--quiet", V8_FLAGS, `--config=${join(tree, "deno.json")}`, "--permission-set"],
    join(tree, "main.ts"),
  ];
}

async function measureAll(versions: readonly Version[], { starts }: Sizes): Promise<Figure[]> {
  const values = new Map<string, { unit: string; values: number[] }>();
  for (let start = 0; start < starts; start++) {
    for (const { name, words } of versions) {
      for (const { name: what, value, unit } of await measureOnce(words)) {
        const key = `${what}, ${name}`;
        const known = values.get(key) ?? { unit, values: [] };
        known.values.push(value);
        values.set(key, known);
      }
    }
  }
  return [...values].sort(([one], [other]) => one < other ? -1 : 1)
    .map(([name, { unit, values }]) => ({ name, value: median(values), unit }));
}

async function measureOnce(words: readonly string[]): Promise<Figure[]> {
  const started = performance.now();
  await using program = await startProgram({ words });
  const seconds = (performance.now() - started) / 1000;
  const { cpuSeconds } = await processUsage(program.pid);
  await delay(SETTLING);
  const passphrase = await register(program);
  const status = () => read(program, `Bearer ${program.token}`);
  await many(REQUESTS, status);
  const reading = await measure(program.pid, () => many(REQUESTS, status));
  const logins = await measure(
    program.pid,
    () => many(LOGINS, () => read(program, `Basic ${btoa(`bench:${passphrase}`)}`)),
  );
  return [
    { name: "start until it listens", value: seconds * 1000, unit: "ms" },
    { name: "start, CPU", value: cpuSeconds * 1000, unit: "ms" },
    { name: "status, CPU", value: reading.serverSeconds / REQUESTS * 1e6, unit: "µs" },
    { name: "status, per second", value: REQUESTS / reading.seconds, unit: "/s" },
    {
      name: "login with a passphrase, CPU",
      value: logins.serverSeconds / LOGINS * 1e6,
      unit: "µs",
    },
    { name: "logins per second", value: LOGINS / logins.seconds, unit: "/s" },
  ];
}

async function register(program: Program): Promise<string> {
  const response = await call(program, "POST", "/v1/agents/register", { nick: "bench" });
  return (await response.json()).credentials.passphrase;
}

async function many(times: number, act: () => Promise<void>): Promise<void> {
  await inParallel(Array.from({ length: times }), 16, act);
}

async function read({ api }: Program, authorization: string): Promise<void> {
  const response = await fetch(`${api}/v1/status`, { headers: { authorization } });
  await response.body?.cancel();
  if (response.status !== 200) throw new Error(`GET /v1/status: ${response.status}`);
}
