import { devNull } from "node:os";
import {
  type Config,
  ConfigError,
  loadConfig,
  type LoadedConfig,
} from "../services/operation/config/mod.ts";
import { CommandFailed, printError } from "./output.ts";
import type { CommandOptions } from "./options.ts";

/** The default configuration file. */
const DEFAULT_FILE = "config.yaml";

/** The exit code if the configuration is wrong. */
const WRONG_USAGE = 2;

/** The options that are configuration keys. */
export interface SettingsOptions extends CommandOptions {
  readonly apiAddr?: string;
  readonly mcpAddr?: string;
  readonly ircListen?: string;
  readonly logLevel?: string;
}

/** The options of the command line that set configuration keys. */
const FLAGS = [
  ["dataDir", "data_dir"],
  ["apiAddr", "api_addr"],
  ["mcpAddr", "mcp_addr"],
  ["ircListen", "irc.listen"],
  ["logLevel", "log.level"],
] as const;

/**
 * Reads the configuration of a command, and prints its warnings.
 *
 * @throws CommandFailed if it is invalid
 */
export async function readSettings(options: SettingsOptions): Promise<Config> {
  const flags = Object.fromEntries(
    FLAGS.flatMap(([option, key]) => {
      const value = options[option];
      return value === undefined ? [] : [[key, value]];
    }),
  );
  const { config, warnings } = await load(options, flags);
  for (const warning of warnings) printError(`warning: ${warning}`);
  return config;
}

/** The options that are configuration keys, as variables of the environment. */
export function settingsEnvironment(options: SettingsOptions): Record<string, string> {
  return Object.fromEntries(
    FLAGS.flatMap(([option, key]) => {
      const value = options[option];
      return value === undefined ? [] : [[`MUSTER_${key.toUpperCase().replace(".", "_")}`, value]];
    }),
  );
}

/**
 * Like {@linkcode readSettings}, for a command that may call a server by its URL. With a URL, a file
 * `config.yaml` that is not muster's does no harm: clients start commands in any folder.
 *
 * @throws CommandFailed if it is invalid
 */
export async function readClientSettings(options: SettingsOptions): Promise<Config> {
  const hasUrl = (options.url ?? Deno.env.get("MUSTER_URL")) !== undefined;
  if (!hasUrl || options.config !== undefined) return await readSettings(options);
  try {
    return await readSettings(options);
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error;
    return await readSettings({ ...options, config: devNull });
  }
}

async function load(
  { config }: SettingsOptions,
  flags: Readonly<Record<string, string>>,
): Promise<LoadedConfig> {
  try {
    return await loadConfig({
      file: config ?? DEFAULT_FILE,
      fileRequired: config !== undefined,
      environment: Deno.env.toObject(),
      flags,
    });
  } catch (error) {
    throw error instanceof ConfigError ? new CommandFailed(error.message, WRONG_USAGE) : error;
  }
}
