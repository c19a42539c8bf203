/** The reference of all commands, as Markdown. */
import {
  type Command,
  type CommandLine,
  type Entry,
  type Group,
  isGroup,
  type Leaf,
  type Option,
  optionRow,
  usageOf,
} from "../command_line/mod.ts";

/** Writes the page that lists every command with its options; loads all of them. */
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
    for (const entry of entries.filter(isListed)) parts.push(...await entryParts(line, entry));
  }
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

async function entryParts({ name }: CommandLine, entry: Entry): Promise<string[]> {
  const command = await entry.load();
  const parts = [`### ${name} ${entry.name}`, sentence(entry.summary)];
  if (!isGroup(command)) return [...parts, ...leafParts(`${name} ${entry.name}`, command)];
  parts.push(...command.notes ?? [], exampleBlock(name, command));
  for (const inner of command.commands.filter(isListed)) {
    parts.push(...commandParts(`${name} ${entry.name}`, inner));
  }
  return parts;
}

function commandParts(parent: string, command: Command): string[] {
  const parts = [`#### ${parent} ${command.name}`, sentence(command.summary)];
  if (isGroup(command)) return parts;
  return [...parts, ...leafParts(`${parent} ${command.name}`, command)];
}

function leafParts(path: string, command: Leaf): string[] {
  const [name = ""] = path.split(" ", 1);
  return [
    `\`\`\`text\n${usageOf(path, command)}\n\`\`\``,
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
