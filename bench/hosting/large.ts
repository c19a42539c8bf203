import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { HttpClient } from "../client/mod.ts";
import { isFile } from "../fossil/scenario.ts";
import type { Figure, Scenario } from "../scenario.ts";
import { median } from "../statistics.ts";
import { LARGE, largeStream, pathOf } from "./large_stream.ts";
import { BASE, HostedProject } from "./project.ts";

/** Repetitions of each read; their median counts. */
const CALLS = 20;
/** The aims for the first and for later answers, in milliseconds. */
const [FIRST_AIM_MS, WARM_AIM_MS] = [1000, 100];

/** Check-ins of one file; the medians of them, and of the reads after them, count. */
const CHECKINS = 15;
/** The aim for them, as a multiple of the time with the smaller project. */
const GROWTH_AIM = 2;

/**
 * Every read of a large project: the first answer after the start, and the next ones; then check-ins
 * of one file and the first reads after each, against the same with a smaller project.
 */
export const HOSTING_LARGE: Scenario = {
  name: "hosting-large",
  anyIrcServer: false,
  describe: ({ repository }) =>
    `reads of a project of ${LARGE.checkins} check-ins and ${LARGE.files} files, and check-ins ` +
    `against ${repository}`,
  obstacle: ({ repository }) =>
    isFile(repository) ? null : `there is no ${repository}; --repository names one`,
  measure: async ({ repository }) => {
    const kept = await keptFolder();
    const folder = await Deno.makeTempDir({ prefix: "muster-bench-" });
    try {
      await copyFolder(kept, folder);
      const token = await Deno.readTextFile(join(folder, TOKEN));
      await using project = await HostedProject.resume(folder, token);
      const reads = await figuresOf(project);
      await using smaller = await HostedProject.start({ path: repository });
      return [...reads, ...growthOf(await timesAfter(project), await timesAfter(smaller))];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

/** The file in a kept folder that has the agent's token. */
const TOKEN = "token";

/**
 * The folder of a server that has imported the project and indexed it. The import takes minutes, so
 * the folder stays among the temporary files, for later runs.
 */
async function keptFolder(): Promise<string> {
  const kept = join(tmpdir(), `muster-bench-large-${LARGE.version}`);
  if (existsSync(kept)) return kept;
  const folder = await Deno.makeTempDir({ prefix: "muster-bench-" });
  const path = join(folder, "large.git");
  await writeStream(path);
  const project = await HostedProject.start({ path }, folder);
  try {
    await project.server.stop();
  } finally {
    await project[Symbol.asyncDispose]();
  }
  await Deno.remove(path);
  await Deno.writeTextFile(join(folder, TOKEN), project.token);
  await Deno.rename(folder, kept);
  return kept;
}

async function copyFolder(from: string, to: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const [source, target] = [join(from, name), join(to, name)];
    if (!isDirectory) await Deno.copyFile(source, target);
    else {
      await Deno.mkdir(target, { mode: 0o700 });
      await copyFolder(source, target);
    }
  }
}

async function figuresOf({ server, token }: HostedProject): Promise<Figure[]> {
  const figures: Figure[] = [];
  using client = await HttpClient.open(server.api);
  for (const [name, path] of READS) {
    const ask = async (round: number) => {
      const request = { method: "GET", path: BASE + path(round), token } as const;
      const startedAt = performance.now();
      const { status } = await client.ask(HttpClient.format(request));
      if (status !== 200) throw new Error(`${name} was answered ${status}`);
      return performance.now() - startedAt;
    };
    const [first, next]: number[] = [await ask(0), await ask(0)];
    const others: number[] = [];
    for (let round = 1; round <= CALLS; round++) others.push(await ask(round));
    figures.push(
      { name: `${name}: first`, value: first ?? NaN, unit: "ms", aim: FIRST_AIM_MS },
      { name: `${name}: the same again`, value: next ?? NaN, unit: "ms", aim: WARM_AIM_MS },
      { name: `${name}: another`, value: median(others), unit: "ms", aim: WARM_AIM_MS },
    );
  }
  return figures;
}

/** The first reads after a check-in. */
const READS_AFTER: readonly (readonly [name: string, path: (round: number) => string])[] = [
  ["tree, all files", () => "/api/tree?recursive=true"],
  ["search", (round) => `/api/search?q=change+${round}`],
  ["branches", () => "/api/branches"],
  ["timeline", () => "/api/timeline?per_page=50"],
];

/** What a check-in of one file takes, and each first read after it: medians in milliseconds. */
async function timesAfter(project: HostedProject): Promise<ReadonlyMap<string, number>> {
  await project.ask("POST", "/api/workspaces/create", { name: WORKSPACE });
  const { entries } = JSON.parse(await project.ask("GET", "/api/tree?recursive=true"));
  const times = new Map<string, number[]>();
  const timed = async (name: string, work: () => Promise<unknown>) => {
    const startedAt = performance.now();
    await work();
    times.set(name, [...times.get(name) ?? [], performance.now() - startedAt]);
  };
  for (let round = 0; round < CHECKINS; round++) {
    const changes = [{ path: entries[round].name, content: `Round ${round}\n` }];
    const body = { message: `Round ${round}`, changes };
    await timed(
      "check-in",
      () => project.ask("POST", `/api/workspaces/${WORKSPACE}/commit`, body),
    );
    for (const [name, path] of READS_AFTER) {
      await timed(`${name} after it`, () => project.ask("GET", path(round)));
    }
  }
  return new Map(times.entries().map(([name, all]) => [name, median(all)]));
}

/** The workspace that takes the check-ins. */
const WORKSPACE = "bench";

function growthOf(
  large: ReadonlyMap<string, number>,
  smaller: ReadonlyMap<string, number>,
): Figure[] {
  return large.entries().toArray().flatMap(([name, value]): Figure[] => {
    const before = smaller.get(name) ?? NaN;
    const growth = `${name}: part of the smaller project's`;
    return [
      { name, value, unit: "ms" },
      { name: `${name}, smaller project`, value: before, unit: "ms" },
      { name: growth, value: value / before, unit: "×", aim: GROWTH_AIM },
    ];
  });
}

/** Each read, with its path in each round. */
const READS: readonly (readonly [name: string, path: (round: number) => string])[] = [
  ["timeline of 50", (round) => `/api/timeline?per_page=50&page=${round + 1}`],
  ["timeline of a branch", (round) => `/api/timeline?branch=master&page=${round + 1}`],
  ["branches", () => "/api/branches"],
  ["tags", () => "/api/tags"],
  ["check-in", (round) => `/api/checkin/2017-08-17T18:${20 + round}:00`],
  ["tree, root", (round) => `/api/tree?path=${"/".repeat(round)}`],
  ["tree, a folder", (round) => `/api/tree?path=lib/part${round}`],
  ["tree, all files", (round) => `/api/tree?recursive=true&path=${"/".repeat(round)}`],
  ["file", (round) => `/api/file?path=${pathOf(round * 997)}`],
  ["diff", (round) => `/api/diff?to=tip&context=${round}`],
  ["blame", (round) => `/api/blame?path=${pathOf(round)}`],
  ["history", (round) => `/api/history?path=${pathOf(round)}`],
  ["search", (round) => `/api/search?q=change+${round}`],
  ["search in code", (round) => `/api/search?kind=code&q=change+${49_900 + round}`],
];

async function writeStream(path: string): Promise<void> {
  using file = await Deno.open(path, { write: true, createNew: true });
  const encoder = new TextEncoder();
  for (const text of largeStream()) {
    const bytes = encoder.encode(text);
    for (let written = 0; written < bytes.length;) {
      written += await file.write(bytes.subarray(written));
    }
  }
}
