import { plainConfig } from "./plain.ts";
import { ConfigError, type ConfigSources, type LoadedConfig } from "./sources.ts";

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
