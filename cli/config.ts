import type { CommandOptions } from "./options.ts";
import { print } from "./output.ts";
import { readSettings } from "./settings.ts";

/** `muster config check`: reads the configuration and says that it can be used. */
export async function checkConfig(options: CommandOptions): Promise<void> {
  await readSettings(options);
  print("The configuration is valid");
}
