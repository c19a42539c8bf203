import { join } from "node:path";
import { namedExecutable } from "../../tests/support/executable.ts";
import { freePort } from "../../tests/support/free_port.ts";
import { delay } from "../parallel.ts";
import { median } from "../statistics.ts";
import type { Figure, Scenario } from "../scenario.ts";

const ROOT = join(import.meta.dirname ?? ".", "..", "..");

/** The aim from the start to the first answer, in milliseconds. */
const START_AIM = 300;

/** Time limit of a start, in milliseconds. */
const START_LIMIT = 30_000;

const POLL_MILLISECONDS = 2;

/** Given to the program, so that requests can come before it has written a token itself. */
const TOKEN = "a".repeat(64);

/** A way to start muster. */
interface Launcher {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** How soon the program answers. */
export const START: Scenario = {
  name: "start",
  anyIrcServer: false,
  describe: ({ starts }) =>
    `from the start of the process to the first 200 on /v1/status, ${starts} starts on a data ` +
    "folder that exists",
  measure: async ({ starts }) => {
    const figures: Figure[] = [];
    for (const launcher of launchers()) {
      const times = await startRepeatedly(launcher, starts);
      figures.push(
        { name: `${launcher.name}, median`, value: median(times), unit: "ms", aim: START_AIM },
        { name: `${launcher.name}, least`, value: Math.min(...times), unit: "ms" },
      );
    }
    return figures;
  },
};

/** The tree, and the executable that `MUSTER_EXECUTABLE` names. */
function launchers(): Launcher[] {
  const task = {
    name: "deno task start",
    command: Deno.execPath(),
    args: ["task", "--quiet", "start", "serve"],
  };
  const executable = namedExecutable();
  if (executable === undefined) return [task];
  return [task, { name: "executable", command: executable, args: ["serve"] }];
}

/** Times of the starts in milliseconds, without a first one that fills caches. */
async function startRepeatedly(launcher: Launcher, starts: number): Promise<number[]> {
  const folder = await Deno.makeTempDir({ prefix: "muster-bench-" });
  try {
    await startOnce(launcher, folder);
    const times: number[] = [];
    for (let start = 0; start < starts; start++) times.push(await startOnce(launcher, folder));
    return times;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function startOnce({ command, args }: Launcher, folder: string): Promise<number> {
  const port = freePort();
  const startedAt = performance.now();
  const process = new Deno.Command(command, {
    args: [...args],
    cwd: ROOT,
    env: {
      MUSTER_DATA_DIR: folder,
      MUSTER_API_ADDR: `127.0.0.1:${port}`,
      MUSTER_MCP_ADDR: "127.0.0.1:0",
      MUSTER_IRC_LISTEN: "127.0.0.1:0",
      MUSTER_API_TOKEN: TOKEN,
    },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let ended = false;
  const status = process.status.then(() => ended = true);
  try {
    while (!await answers(port)) {
      if (ended || performance.now() - startedAt > START_LIMIT) {
        throw new Error(`muster does not start by "${command}"`);
      }
      await delay(POLL_MILLISECONDS);
    }
    return performance.now() - startedAt;
  } finally {
    if (!ended) process.kill("SIGTERM");
    await status;
  }
}

async function answers(port: number): Promise<boolean> {
  try {
    const response = await fetch(`http://127.0.0.1:${port}/v1/status`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    await response.body?.cancel();
    return response.status === 200;
  } catch {
    return false;
  }
}
