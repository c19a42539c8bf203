import { TimedOut, Unavailable } from "../../kernel/errors.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Finding } from "./report_schema.ts";

/** The longest examination, in milliseconds. */
const LIMIT = 60_000;

/** Findings that are kept: a disk that is gone makes one for each repository. */
const MAX_FINDINGS = 200;

/** A process that examines the data of this program. */
export interface ExaminationProcess {
  /** What it prints: the report of `muster doctor --json`. */
  readonly output: Promise<string>;
  /** Ends the process at once, whatever it does. */
  kill(): void;
}

/** Starts the process of an examination. */
export type StartExamination = () => ExaminationProcess;

/** What an examination found. */
export interface Examination {
  /** Its end, in Unix milliseconds. */
  readonly at: number;
  /** Whether nothing needs to be done: notes alone ask for nothing. */
  readonly healthy: boolean;
  /** The first of them. */
  readonly findings: readonly Finding[];
  /** How many more there are. */
  readonly more: number;
}

export interface SelfExaminationOptions {
  /** Null: this program cannot start the process. */
  readonly start: StartExamination | null;
  readonly scheduler: Scheduler;
}

/**
 * Examinations of this program by `muster doctor`. They run in a process of their own: the system
 * drops all locks that a process has on a file once that process closes the file, so this one must
 * not open its databases a second time. There is at most one process, with a time limit.
 */
export class SelfExamination {
  readonly #options: SelfExaminationOptions;
  #running: Promise<Examination> | null = null;
  #process: ExaminationProcess | null = null;
  #last: Examination | null = null;

  constructor(options: SelfExaminationOptions) {
    this.#options = options;
  }

  /** The last examination since the start; null before the first. */
  get last(): Examination | null {
    return this.#last;
  }

  /**
   * Examines the configuration, the data and the machine, without what takes minutes. Callers that
   * come during an examination get its result.
   *
   * @throws Unavailable if the process cannot be started or fails
   * @throws TimedOut if it takes too long
   */
  run(): Promise<Examination> {
    return this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
  }

  /** Ends the examination that runs, if there is one. */
  close(): void {
    this.#process?.kill();
  }

  async #run(): Promise<Examination> {
    const { scheduler } = this.#options;
    const process = this.#process = this.#start();
    let isLate = false;
    const cancel = scheduler.after(LIMIT, () => {
      isLate = true;
      process.kill();
    });
    try {
      const { reportSchema } = await import("./report_schema.ts");
      const { findings } = reportSchema.parse(JSON.parse(await process.output));
      const healthy = findings.every(({ level }) => level === "note");
      const shown = findings.slice(0, MAX_FINDINGS);
      const more = findings.length - shown.length;
      return this.#last = { at: scheduler.now(), healthy, findings: shown, more };
    } catch {
      const advice = 'run "muster doctor" on the machine of the server';
      if (isLate) throw new TimedOut(`The examination took more than ${LIMIT / 1000} s: ${advice}`);
      throw new Unavailable(`The examination ended without a report: ${advice}`);
    } finally {
      cancel();
      this.#process = null;
    }
  }

  #start(): ExaminationProcess {
    const { start } = this.#options;
    if (start === null) throw new Unavailable("This program does not examine itself");
    try {
      return start();
    } catch {
      throw new Unavailable('This program may not start itself: run "muster doctor" beside it');
    }
  }
}
