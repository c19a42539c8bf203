import type { Config } from "../config/mod.ts";
import type { PasswordCosts } from "../../people/identity/mod.ts";
import type { Log, LogThreshold } from "../../kernel/log.ts";
import type { HttpStats } from "../metrics/mod.ts";
import type { StartExamination } from "../control/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";

/** The program cannot start; the message says why in one sentence. */
export class StartError extends Error {
  override readonly name = "StartError";
}

/** A certificate chain and its key, as PEM texts. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

export interface DaemonOptions {
  readonly config: Config;
  readonly log: Log;
  /** The level of the log, which operators can change; default: one that has no effect. */
  readonly logThreshold?: LogThreshold;
  /** For every listener with TLS, or null. */
  readonly certificate: Certificate | null;
  /** The API token that the environment pins, or null. */
  readonly pinnedToken: string | null;
  /**
   * Returns the client's address from the socket's and `X-Forwarded-For`; default: the socket's.
   */
  readonly clientAddress?: (socket: string, forwardedFor: string | null) => string;
  /**
   * What tells which handshakes of WebSockets are for a host that this server is not, given the
   * configured address of a listener; default: none are.
   */
  readonly foreignHost?: (
    listens: string,
  ) => (request: Pick<Request, "url" | "headers">, socket: string) => boolean;
  /** Starts `muster doctor` on this program's data; default: this program does not examine itself. */
  readonly startExamination?: StartExamination;
  /** The HTTP connections of the program. */
  readonly http?: { stats(): HttpStats };
  /** Is told when there are no file descriptors for more connections. */
  readonly onExhausted?: () => void;
  /**
   * Reads an environment variable, for the keys of LLM backends; default: the process's
   * environment.
   */
  readonly environment?: (variable: string) => string | undefined;
  /** The clock and the timers; default: the process's. */
  readonly scheduler?: Scheduler;
  /** Whether processes, and not threads, do what strangers can make heavy; default: threads. */
  readonly startsProcesses?: boolean;
  /** What a guess at a password costs; default: what is safe. */
  readonly passwordCosts?: PasswordCosts;
}
