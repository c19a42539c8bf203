import type { Group } from "./command_line/mod.ts";
import type { CommandOptions } from "./options.ts";
import { print } from "./output.ts";
import { readSettings } from "./settings.ts";

/** `muster config check`: reads the configuration and says that it can be used. */
async function checkConfig(options: CommandOptions): Promise<void> {
  await readSettings(options);
  print("The configuration is valid");
}

/** `muster config`: the configuration. */
export const CONFIG: Group = {
  commands: [
    {
      name: "check",
      summary: "say whether the configuration can be used, without starting",
      run: checkConfig,
    },
  ],
  examples: [
    { line: "config check --config /etc/muster/config.yaml", purpose: "Check a file" },
  ],
};
