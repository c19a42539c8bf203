/** The reference of all commands, as Markdown. */
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
