/** The runner that a server starts beside itself, as a process of its own. */
import { createHash } from "node:crypto";
import { join, resolve } from "node:path";
import type { Log } from "../services/kernel/log.ts";
import { pause } from "../services/kernel/pause.ts";
import { ownProgram } from "../services/kernel/version.ts";
import { programArguments } from "./program_arguments.ts";

/** What a process of Deno needs of the environment; the runner gets nothing else. */
const ENVIRONMENT = ["DENO_DIR", "HOME", "LANG", "TMPDIR", "XDG_CACHE_HOME"];

/** Pauses before it starts again, in milliseconds. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;
/** A runner that lasts this long starts again after the first pause, in milliseconds. */
const WELL = 60_000;

/** How long it may take to give its jobs back, in milliseconds. */
const END_LIMIT = 8000;

export interface OwnRunnerOptions {
  /** Where the server answers. */
  readonly url: string;
  readonly token: string;
  /** The server's data folder. */
  readonly folder: string;
  readonly jobs: number;
  /** Whether checks may run as this account if nothing keeps them apart. */
  readonly allowUnisolated: boolean;
  readonly log: Log;
}

/** Keeps the runner running until it is stopped. It ends with the server, however that ends. */
export class OwnRunner {
  readonly #options: OwnRunnerOptions;
  readonly #running: Promise<void>;
  readonly #stopped = new AbortController();
  #process: Deno.ChildProcess | null = null;

  constructor(options: OwnRunnerOptions) {
    this.#options = options;
    this.#running = this.#keepRunning();
  }

  /** Ends it. Its jobs run again when the server is back, or elsewhere. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    const process = this.#process;
    const timer = setTimeout(() => {
      try {
        process?.kill("SIGKILL");
      } catch {
        // It has ended.
      }
    }, END_LIMIT);
    await this.#running;
    clearTimeout(timer);
  }

  async #keepRunning(): Promise<void> {
    const { log } = this.#options;
    const { signal } = this.#stopped;
    let wait = FIRST_PAUSE;
    while (!signal.aborted) {
      const start = performance.now();
      let reason = "";
      try {
        reason = await this.#runOnce();
      } catch (error) {
        log.warn("The runner beside this server cannot start", { error });
      }
      if (signal.aborted) return;
      wait = performance.now() - start > WELL ? FIRST_PAUSE : Math.min(2 * wait, LONGEST_PAUSE);
      const seconds = wait / 1000;
      log.warn("The runner beside this server ended, and starts again", { reason, seconds });
      await pause(wait, signal);
    }
  }

  /** @returns the last line that it said */
  async #runOnce(): Promise<string> {
    const { log } = this.#options;
    const process = this.#spawn();
    this.#process = process;
    const input = process.stdin.getWriter();
    const end = () => void input.close().catch(() => {});
    this.#stopped.signal.addEventListener("abort", end);
    try {
      const lines = process.stderr.pipeThrough(new TextDecoderStream());
      let [rest, last] = ["", ""];
      for await (const text of lines) {
        const all = (rest + text).split("\n");
        rest = all.pop() ?? "";
        for (const line of all) {
          last = withoutTime(line);
          log.info("Runner", { line: last });
        }
      }
      await process.status;
      return last;
    } finally {
      this.#stopped.signal.removeEventListener("abort", end);
      end();
      this.#process = null;
    }
  }

  #spawn(): Deno.ChildProcess {
    const { url, token, folder, jobs, allowUnisolated } = this.#options;
    const place = ["--work-dir", placeOf(resolve(folder))];
    return new Deno.Command(ownProgram(), {
      args: [
        ...programArguments(),
        ...["runner", "start", "--supervised", "--url", url, "--jobs", String(jobs), ...place],
        ...allowUnisolated ? ["--allow-unisolated"] : [],
      ],
      clearEnv: true,
      env: {
        MUSTER_RUNNER_TOKEN: token,
        ...Object.fromEntries(ENVIRONMENT.flatMap((name) => {
          const value = Deno.env.get(name);
          return value === undefined ? [] : [[name, value]];
        })),
      },
      stdin: "piped",
      stdout: "null",
      stderr: "piped",
    }).spawn();
  }
}

/** The folder of jobs. The account that runs those of root cannot enter the server's data folder. */
function placeOf(folder: string): string {
  if (Deno.uid() !== 0) return join(folder, "runner");
  const digest = createHash("sha256").update(folder).digest("hex");
  return `/var/tmp/muster-runner-${digest.slice(0, 12)}`;
}

/** The log has times of its own. */
function withoutTime(line: string): string {
  return line.replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z /, "");
}
