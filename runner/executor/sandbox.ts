/** The ways to keep a job apart from the machine, and which of them work here. */
import type { Assignment, Isolation } from "../../services/work/runs/assignment.ts";

/** What decides how a job is kept apart. */
export type Bounds = Pick<Assignment, "network" | "image" | "limits">;

/** The two folders that a job can write; the account of jobs owns what is in them. */
export interface Places {
  readonly checkout: string;
  readonly home: string;
}

/** One way to keep a job apart. */
export interface Sandbox {
  readonly kind: Isolation;
  /** What it promises, in a sentence without its end. */
  readonly about: string;
  /** What `kill` calls all processes of the job, from inside. */
  readonly all: "-1" | "0";
  /** What the command line needs of the runner's own environment; the job gets nothing of it. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Where the job sees its folders. */
  inside(places: Places): Places;
  /** The user and the group that run the job, if it is not the runner's own. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /**
   * The command line that runs another one apart.
   *
   * @param name unique to the job, of letters and digits
   */
  command(bounds: Bounds, job: Places & { readonly name: string }, inner: readonly string[]):
    | Promise<readonly string[]>
    | readonly string[];
  /** Ends what is left of a job, by its name and its first process, if that alone ends nothing. */
  sweep?(name: string, pid: number): Promise<void>;
  /** Ends what an earlier run of this runner left, whose jobs' names begin so. */
  sweepAll?(key: string): Promise<void>;
}

/** Why a way to keep jobs apart does not work here. */
export interface Missing {
  readonly kind: Isolation;
  /** A sentence without its end. */
  readonly why: string;
}

/** The variable that every process of a job begins with, so that one that went its own way is found. */
export const JOB_VARIABLE = "MUSTER_JOB_FOLDER";
