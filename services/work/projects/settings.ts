import type { ProjectChange } from "./schemas.ts";

/** Settings that the server has for every project, and a project may have for itself. */
export interface WorkSettings {
  /** Time from the holder's last write to the end of a claim, in seconds. */
  readonly claim_seconds: number;
  /** Number of claims without a result after which a ticket waits for a person. */
  readonly strikes: number;
  readonly landing: {
    /** Landings of a queue that are tested at the same time. */
    readonly depth: number;
    /** Time limit of a candidate's checks. */
    readonly timeout_seconds: number;
  };
}

/** A project's own settings; null for the server's. */
export interface OwnSettings {
  readonly claim_seconds: number | null;
  readonly strikes: number | null;
  readonly landing: {
    readonly depth: number | null;
    readonly timeout_seconds: number | null;
  };
}

/** A project without settings of its own. */
export const NO_SETTINGS: OwnSettings = Object.freeze({
  claim_seconds: null,
  strikes: null,
  landing: Object.freeze({ depth: null, timeout_seconds: null }),
});

/** A project's own settings, as its row holds them. */
export function settingsOf(json: string): OwnSettings {
  const { claim_seconds = null, strikes = null, landing = {} } = JSON.parse(json);
  const { depth = null, timeout_seconds = null } = landing;
  return { claim_seconds, strikes, landing: { depth, timeout_seconds } };
}

/** The settings that hold in a project. */
export function effective(own: OwnSettings, server: WorkSettings): WorkSettings {
  return {
    claim_seconds: own.claim_seconds ?? server.claim_seconds,
    strikes: own.strikes ?? server.strikes,
    landing: {
      depth: own.landing.depth ?? server.landing.depth,
      timeout_seconds: own.landing.timeout_seconds ?? server.landing.timeout_seconds,
    },
  };
}

/** Settings after a change: what it does not name stays, and null removes. */
export function changed(
  own: OwnSettings,
  { claim_seconds, strikes, landing = {} }: Pick<
    ProjectChange,
    "claim_seconds" | "strikes" | "landing"
  >,
): OwnSettings {
  const { depth, timeout_seconds } = landing;
  return {
    claim_seconds: claim_seconds === undefined ? own.claim_seconds : claim_seconds,
    strikes: strikes === undefined ? own.strikes : strikes,
    landing: {
      depth: depth === undefined ? own.landing.depth : depth,
      timeout_seconds: timeout_seconds === undefined
        ? own.landing.timeout_seconds
        : timeout_seconds,
    },
  };
}

/** The names of the settings in which two differ. */
export function differences(one: OwnSettings, other: OwnSettings): string[] {
  const names = ["claim_seconds", "strikes", "landing"] as const;
  return names.filter((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}
