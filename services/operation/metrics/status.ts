import type { Nodes } from "../../cluster/nodes/mod.ts";
import { buildId } from "../../kernel/version.ts";

/** The status object of the contract. */
export interface StatusReport {
  /** `ok`, or `degraded` while the disk refuses writes. */
  readonly status: string;
  /** A duration in the form `3h2m1s`. */
  readonly uptime: string;
  readonly agents: number;
  /** ISO 8601, UTC. */
  readonly started: string;
  /** Whether any agent is halted. */
  readonly halted: boolean;
  /** How many active agents are halted. */
  readonly agents_halted: number;
  /** Which build of the program this is. */
  readonly build: string;
}

/** The sources of the status. */
export interface StatusSources {
  /** Unix milliseconds. */
  readonly clock: () => number;
  /** How many agent records there are, revoked ones included. */
  readonly agents: () => number;
  /** Whether any agent is halted. */
  readonly halted: () => boolean;
  /** How many active agents are halted. */
  readonly agentsHalted: () => number;
  /** Whether recent writes succeeded. */
  readonly healthy: () => boolean;
  /** Repeats failed checks; must not throw. */
  readonly recheck: () => Promise<void>;
  /**
   * The parts that must be up before the service is ready, each with its state, or with an error
   * text.
   */
  readonly parts: Readonly<Record<string, () => boolean | string>>;
  /** The servers that share the database; null if this one is alone. */
  readonly node: Pick<Nodes, "self" | "leader" | "find"> | null;
}

/** This server among those that share its database, without what strangers need not know. */
export interface NodeStatus {
  /** ISO 8601, UTC: by this, those who may list the nodes know which one it is. */
  readonly started_at: string;
  /** Whether it does what only one of them does. */
  readonly leader: boolean;
}

/** Reports the uptime and whether each part of the service is up. */
export class Status {
  readonly #sources: StatusSources;
  readonly #started: number;
  /** The same in ISO 8601. */
  readonly #startedText: string;
  readonly #build = buildId();

  constructor(sources: StatusSources) {
    this.#sources = sources;
    this.#started = sources.clock();
    this.#startedText = new Date(this.#started).toISOString();
  }

  read(): StatusReport {
    const { clock, agents, agentsHalted, healthy } = this.#sources;
    return {
      status: healthy() ? "ok" : "degraded",
      uptime: formatDuration(clock() - this.#started),
      agents: agents(),
      started: this.#startedText,
      halted: this.halted,
      agents_halted: agentsHalted(),
      build: this.#build,
    };
  }

  /** Whether any agent is halted. */
  get halted(): boolean {
    return this.#sources.halted();
  }

  /** Which node this is; undefined if the server is alone. */
  get node(): NodeStatus | undefined {
    const { node } = this.#sources;
    if (node === null || node.self === null) return undefined;
    const startedAt = node.find(node.self)?.startedAt ?? this.#started;
    return {
      started_at: new Date(startedAt).toISOString(),
      leader: node.leader?.name === node.self,
    };
  }

  /** Repeats failed checks, so that {@link missing} is up to date. */
  recheck(): Promise<void> {
    return this.#sources.recheck();
  }

  /** The parts that are not up. */
  missing(): string[] {
    return Object.entries(this.#sources.parts).flatMap(([name, state]) => {
      const up = state();
      if (up === true) return [];
      return up === false ? [name] : [`${name} (${up})`];
    });
  }
}

/** Formats milliseconds as hours, minutes and seconds: `3h2m1s`, `2m0s`, `42s`. */
function formatDuration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}
