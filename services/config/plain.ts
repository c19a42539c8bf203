import { LOG_LEVELS } from "../log.ts";
import { parseAddress } from "./address.ts";
import { DEFAULTS } from "./defaults.ts";
import type { Config } from "./schemas.ts";
import { type ConfigSources, OTHER_VARIABLES } from "./sources.ts";

/** Sets a key; false if its value is wrong. */
type Setter = (config: Config, text: string) => boolean;

/** The keys that a start without a file commonly sets, with what the schema says of them. */
const SETTERS: Readonly<Record<string, Setter>> = {
  "data_dir": (config, text) => {
    config.data_dir = text;
    return text !== "";
  },
  "api_addr": (config, text) => {
    config.api_addr = text;
    return parseAddress(text) !== null;
  },
  "mcp_addr": (config, text) => {
    config.mcp_addr = text;
    return parseAddress(text) !== null;
  },
  "irc.listen": (config, text) => {
    config.irc.listen = text;
    return text === "" || parseAddress(text) !== null;
  },
  "log.level": (config, text) => {
    const level = LOG_LEVELS.find((name) => name === text);
    if (level !== undefined) config.log.level = level;
    return level !== undefined;
  },
};

/**
 * The configuration of a program without a file, where environment and command line set nothing but
 * addresses, the folder and the log level. It needs no schema, whose loading takes longer than the
 * rest of many commands.
 *
 * @returns null if there are other keys, or a value is wrong: the schema then says what
 */
export function plainConfig(
  { environment, flags }: Pick<ConfigSources, "environment" | "flags">,
): Config | null {
  const config: Config = structuredClone(DEFAULTS);
  const names = new Map(Object.keys(SETTERS).map((key) => [variableOf(key), key]));
  const set = (key: string | undefined, text: string) =>
    key !== undefined && SETTERS[key]?.(config, text) === true;
  for (const [variable, text] of Object.entries(environment)) {
    if (!variable.startsWith("MUSTER_") || OTHER_VARIABLES.has(variable)) continue;
    if (!set(names.get(variable), text)) return null;
  }
  return Object.entries(flags).every(([key, text]) => set(key, text)) ? config : null;
}

/** The variable of the environment that sets a key. */
function variableOf(key: string): string {
  return `MUSTER_${key.toUpperCase().replace(".", "_")}`;
}
