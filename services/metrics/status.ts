/** How the service is, in the words of the contract's status object. */
export interface StatusReport {
  /** `ok`, or `degraded` while the disk refuses writes. */
  readonly status: string;
  /** A duration in the form `3h2m1s`. */
  readonly uptime: string;
  readonly agents: number;
  /** ISO 8601, UTC. */
  readonly started: string;
}

/** What the report counts. */
export interface StatusSources {
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** How many agent records there are, revoked ones included. */
  readonly agents: () => number;
  /** Whether what was written lately could be written. */
  readonly healthy: () => boolean;
  /** Tries again whatever failed; it must not throw. */
  readonly recheck: () => Promise<void>;
  /**
   * The parts that must be up before the service is ready, each with whether it is, or with what is
   * wrong with it, in words.
   */
  readonly parts: Readonly<Record<string, () => boolean | string>>;
}

/** Tells how long the service runs and whether each of its parts is up. */
export class Status {
  readonly #sources: StatusSources;
  readonly #started: number;

  constructor(sources: StatusSources) {
    this.#sources = sources;
    this.#started = sources.clock();
  }

  read(): StatusReport {
    const { clock, agents, healthy } = this.#sources;
    return {
      status: healthy() ? "ok" : "degraded",
      uptime: formatDuration(clock() - this.#started),
      agents: agents(),
      started: new Date(this.#started).toISOString(),
    };
  }

  /** Tries again what failed, so that {@link missing} tells how it is now. */
  recheck(): Promise<void> {
    return this.#sources.recheck();
  }

  /** The parts that are not up yet, or not any more. */
  missing(): string[] {
    return Object.entries(this.#sources.parts).flatMap(([name, state]) => {
      const up = state();
      if (up === true) return [];
      return up === false ? [name] : [`${name} (${up})`];
    });
  }
}

/** Writes milliseconds as hours, minutes and seconds: `3h2m1s`, `2m0s`, `42s`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}
