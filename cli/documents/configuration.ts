/** The reference of all configuration keys, as Markdown and as a configuration file. */
import { type Key, listKeys } from "../../services/config/reference/mod.ts";

const INTRODUCTION = `# Configuration

<!-- "deno task reference" writes this page from the schema of the configuration. -->

muster reads \`config.yaml\` in the folder where it starts, or the file that \`--config\` names.
\`muster init\` writes such a file. A key that is absent has its default, so the file needs only the
keys that you change. [config.example.yaml](../config.example.yaml) is a file with every key and its default.

Each key can also be an environment variable: \`MUSTER_\`, then the key in capitals with \`_\` for each
dot, such as \`MUSTER_IRC_LISTEN\` for \`irc.listen\`. The environment overrides the file, and flags of
the command line override both.

An unknown key or a wrong value stops the start, and the error names the line. An unknown \`MUSTER_…\`
variable of the environment causes only a warning, because container platforms set such variables of
their own. \`muster config check\` tells you whether muster could start with the configuration. SIGHUP
reads the file again; [Operating](operating.md#reload) lists the keys that take effect without a
restart. [Install](install.md#open-muster-to-a-network) opens muster to a network, and
[Existing networks](networks.md) explains the keys for an external IRC network.

Three variables are not configuration keys. \`MUSTER_API_TOKEN\` pins the API token of the server.
Commands read \`MUSTER_URL\` (the API of the server) and \`MUSTER_TOKEN\` (the token to use).`;

/** Writes \`docs/configuration.md\`. */
export function configurationPage(): string {
  const keys = listKeys();
  const parts = [INTRODUCTION, "## Keys outside of groups", tableOf(keys.filter(isOutside))];
  for (const group of keys.filter(({ preset }) => preset === undefined)) {
    const level = group.path.split(".").length + 1;
    parts.push(
      `${"#".repeat(level)} \`${group.path}\``,
      `${group.description.slice(0, 1).toUpperCase()}${escape(group.description.slice(1))}.`,
    );
    const own = keys.filter((key) => key.preset !== undefined && groupOf(key) === group.path);
    if (own.length > 0) parts.push(tableOf(own));
  }
  return `${parts.join("\n\n")}\n`;
}

function isOutside(key: Key): boolean {
  return key.preset !== undefined && groupOf(key) === "";
}

/** The group that holds a key. */
function groupOf({ path }: Key): string {
  return path.slice(0, Math.max(0, path.lastIndexOf(".")));
}

function tableOf(keys: readonly Key[]): string {
  const rows = keys.map(({ path, preset, values, description }) =>
    `| \`${path}\` | \`${JSON.stringify(preset)}\` | ${escape(values)} | ${escape(description)} |`
  );
  return ["| key | default | values | what it does |", "| --- | --- | --- | --- |", ...rows]
    .join("\n");
}

/** Makes a text safe for a cell of a table. */
function escape(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("*", "\\*").replaceAll("<", "\\<");
}
