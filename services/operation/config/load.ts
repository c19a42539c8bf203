import { LOG_LEVELS } from "../../kernel/log.ts";
import { parseAddress } from "./address.ts";
import { DEFAULTS } from "./defaults.ts";
import type { Config } from "./schemas.ts";
import { ConfigError, type ConfigSources, type LoadedConfig, OTHER_VARIABLES } from "./sources.ts";

/**
 * Reads the configuration: defaults, file, environment, flags, in this order.
 *
 * @throws ConfigError if a source cannot be read, or a key is unknown or has a wrong value
 */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const text = await readFile(sources);
  const plain = text === null ? plainConfig(sources) : null;
  if (plain !== null) return { config: plain, warnings: [] };
  const { validateConfig } = await import("./validate.ts");
  return await validateConfig(sources, text);
}

/** The text of the file; null if it need not be there, and is not. */
async function readFile({ file, fileRequired }: ConfigSources): Promise<string | null> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound && !fileRequired) return null;
    throw new ConfigError(`${file}: cannot be read: ${reason(error)}`);
  }
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

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

/** The paths of the keys whose values differ, such as `irc.motd`; a list counts as one value. */
export function changedKeys(before: Config, after: Config): string[] {
  const earlier = leaves(before);
  return [...leaves(after)].filter(([key, value]) => earlier.get(key) !== value)
    .map(([key]) => key);
}

/** Each value of a configuration as JSON, by the path of its key. */
function leaves(tree: object, prefix = ""): Map<string, string> {
  return new Map(
    Object.entries(tree).flatMap(([key, value]: [string, unknown]) =>
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? [...leaves(value, `${prefix}${key}.`)]
        : [[`${prefix}${key}`, JSON.stringify(value)]]
    ),
  );
}
