import type { Config } from "./schemas.ts";

/** A configuration that cannot be used; the message names the source, the line and the key. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The sources of a configuration; later ones win. */
export interface ConfigSources {
  /** Path of the YAML file. */
  readonly file: string;
  /** Whether the file must exist, because it was named explicitly. */
  readonly fileRequired: boolean;
  /** The process environment; keys that begin with `MUSTER_` count. */
  readonly environment: Readonly<Record<string, string>>;
  /** Values from the command line by key path, such as `irc.listen`. */
  readonly flags: Readonly<Record<string, string>>;
}

/** A validated configuration, and warnings about its sources. */
export interface LoadedConfig {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/** `MUSTER_` variables that are not configuration keys. */
export const OTHER_VARIABLES: ReadonlySet<string> = new Set([
  "MUSTER_AGENT",
  "MUSTER_API_TOKEN",
  "MUSTER_ATTEMPT",
  "MUSTER_BENCH_BEFORE",
  "MUSTER_BENCH_ERGO",
  "MUSTER_BENCH_SCUTTLEBOT",
  "MUSTER_BRANCH",
  "MUSTER_CAUSE",
  "MUSTER_CHECK",
  "MUSTER_CHECKIN",
  "MUSTER_EXECUTABLE",
  "MUSTER_GIT_CLIENTS",
  "MUSTER_JOB_FOLDER",
  "MUSTER_MCP_CLIENTS",
  "MUSTER_NEWER_FOSSIL",
  "MUSTER_PEERS",
  "MUSTER_PEER_GITEA",
  "MUSTER_PROJECT",
  "MUSTER_PYTHON_CLIENTS",
  "MUSTER_RUN",
  "MUSTER_RUNNER_TOKEN",
  "MUSTER_TEST_DATABASE",
  "MUSTER_TEST_PORTS",
  "MUSTER_TEST_POSTGRES",
  "MUSTER_TEST_STATEMENTS",
  "MUSTER_TOKEN",
  "MUSTER_TOKEN_FILE",
  "MUSTER_URL",
]);
