/** The reference of all commands, as Markdown. */
import { type Key, listKeys } from "../../services/operation/config/reference/mod.ts";
import {
  choicesOf,
  type CommandLine,
  type Group,
  isGroup,
  type Leaf,
  type Option,
  optionRow,
  usageOf,
} from "../command_line/mod.ts";

/** Writes the page that lists every command with its options; loads all commands. */
export async function referenceOf(line: CommandLine): Promise<string> {
  const parts = [
    "# Commands",
    '<!-- "deno task reference" writes this page from the table of commands. -->',
    line.notes.join("\n\n"),
    `Every command except \`fossil\` takes the options below, and every command takes \`--help\`.`,
    optionTable(line.options),
  ];
  for (const { title, entries } of line.sections) {
    parts.push(`## ${title}`);
    for (const entry of entries.filter(isListed)) {
      parts.push(
        ...commandParts(3, `${line.name} ${entry.name}`, entry.summary, await entry.load()),
      );
    }
  }
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** A command under a heading of this level, and its subcommands under headings of the next. */
function commandParts(
  level: number,
  path: string,
  summary: string,
  command: Leaf | Group,
): string[] {
  const parts = [`${"#".repeat(level)} ${path}`, sentence(summary)];
  if (!isGroup(command)) return [...parts, ...leafParts(path, command)];
  const [program = ""] = path.split(" ", 1);
  parts.push(...command.notes ?? [], exampleBlock(program, command));
  for (const inner of command.commands.filter(isListed)) {
    parts.push(...commandParts(level + 1, `${path} ${inner.name}`, inner.summary, inner));
  }
  return parts;
}

function leafParts(path: string, command: Leaf): string[] {
  const [name = ""] = path.split(" ", 1);
  return [
    `\`\`\`text\n${usageOf(path, command)}\n\`\`\``,
    ...choicesOf(command),
    optionTable((command.options ?? []).filter(isListed)),
    ...command.notes ?? [],
    exampleBlock(name, command),
  ];
}

function optionTable(options: readonly Option[]): string {
  if (options.length === 0) return "";
  const rows = options.map(optionRow).map(([flags, meaning]) =>
    `| \`${flags.trim()}\` | ${meaning.replaceAll("|", "\\|").replaceAll("*", "\\*")} |`
  );
  return ["| option | what it does |", "| --- | --- |", ...rows].join("\n");
}

function exampleBlock(name: string, { examples = [] }: Leaf | Group): string {
  if (examples.length === 0) return "";
  const lines = examples.map(({ line, purpose }) => `# ${purpose}\n${name} ${line}`);
  return `\`\`\`sh\n${lines.join("\n")}\n\`\`\``;
}

function sentence(summary: string): string {
  return `${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`.replaceAll("*", "\\*");
}

function isListed({ hidden }: { readonly hidden?: boolean }): boolean {
  return hidden !== true;
}

/** The reference of all configuration keys, as Markdown and as a configuration file. */

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
