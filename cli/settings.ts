import { type Config, loadConfig } from "../services/config/mod.ts";
import { printError } from "./output.ts";
import type { CommandOptions } from "./options.ts";

/** The configuration file that is read where no other is named. */
const DEFAULT_FILE = "config.yaml";

/** Which option of the command line sets which key. */
const FLAGS = [
  ["dataDir", "data_dir"],
  ["apiAddr", "api_addr"],
  ["mcpAddr", "mcp_addr"],
  ["ircListen", "irc.listen"],
  ["logLevel", "log.level"],
] as const;

/**
 * Reads the configuration that a command works with, and prints its warnings.
 *
 * @throws ConfigError where it cannot be used
 */
export async function readSettings(options: CommandOptions): Promise<Config> {
  const flags = Object.fromEntries(
    FLAGS.flatMap(([option, key]) => {
      const value = options[option];
      return value === undefined ? [] : [[key, value]];
    }),
  );
  const { config, warnings } = await loadConfig({
    file: options.config ?? DEFAULT_FILE,
    fileRequired: options.config !== undefined,
    environment: Deno.env.toObject(),
    flags,
  });
  for (const warning of warnings) printError(`warning: ${warning}`);
  return config;
}
