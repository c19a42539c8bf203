/** The help of a command, as text for a terminal. */
import {
  type Command,
  type CommandLine,
  type Example,
  flagsOf,
  isGroup,
  type Leaf,
  type Option,
  type Parameter,
  placeOf,
} from "./command.ts";
import { HELP_OPTION, type Target, VERSION_OPTION } from "./parse.ts";
import { widthOf, wrap } from "./text.ts";

/** How help is laid out. */
export interface HelpStyle {
  /** Columns. */
  readonly width: number;
  /** Marks a title. */
  readonly title: (text: string) => string;
  /** How the person calls the program, in examples. */
  readonly program: string;
}

type Row = readonly [term: string, meaning: string];

/** The widest column of terms. */
const MAX_TERM = 34;

/** Formats the help of a command, or of the program if the target names none. */
export function helpOf(line: CommandLine, target: Target, style: HelpStyle): string {
  const blocks = target.command === null
    ? programHelp(line, style)
    : commandHelp(line, target, style);
  return blocks.filter((block) => block !== "").join("\n\n");
}

function programHelp(line: CommandLine, style: HelpStyle): string[] {
  const listed = line.sections.map(({ title, entries }) => ({
    title,
    rows: entries.filter(isListed).map(({ name, summary }): Row => [name, summary]),
  }));
  const options = [...line.options, HELP_OPTION, VERSION_OPTION].map(optionRow);
  const terms = widest([...listed.flatMap(({ rows }) => rows), ...options]);
  return [
    wrap(line.summary, style.width),
    `${style.title("Usage:")} ${line.name} [command] [options]`,
    ...listed.map(({ title, rows }) => block(title, rows, terms, style)),
    block("Options", options, terms, style),
    examplesBlock(line.examples, style),
    ...line.notes.map((note) => wrap(note, style.width)),
  ];
}

function commandHelp(line: CommandLine, target: Target, style: HelpStyle): string[] {
  const { command, path, entry, summary } = target;
  if (command === null) return [];
  const commands = isGroup(command)
    ? command.commands.filter(isListed).map((inner): Row => [commandUsage(inner), inner.summary])
    : [];
  const own = isGroup(command) ? [] : (command.options ?? []).filter(isListed).map(optionRow);
  const shared = [...entry?.standalone === true ? [] : line.options, HELP_OPTION].map(optionRow);
  const terms = widest([...commands, ...own, ...shared]);
  const name = [line.name, ...path].join(" ");
  return [
    wrap(`${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`, style.width),
    `${style.title("Usage:")} ${usageOf(name, command)}`,
    ...(isGroup(command) ? [] : choicesOf(command)).map((text) => wrap(text, style.width)),
    block("Commands", commands, terms, style),
    block("Options", own, terms, style),
    block("Options of every command", shared, terms, style),
    examplesBlock(command.examples ?? [], style),
    ...(command.notes ?? []).map((note) => wrap(note, style.width)),
  ];
}

/** `muster agent show [options] <nick>` */
export function usageOf(name: string, command: NonNullable<Target["command"]>): string {
  if (isGroup(command)) return `${name} <command>`;
  const { options = [], parameters = [] } = command;
  const required = options.filter((option) => option.required === true)
    .map((option) => `--${flagsOf(option).long} <${flagsOf(option).value}>`);
  const isOptional = options.some((option) => option.required !== true);
  return [
    name,
    ...parameters.map(({ usage }) => usage),
    ...required,
    ...isOptional ? ["[options]"] : [],
  ].join(" ");
}

/** A sentence for each value after the command's name that must be one of a few. */
export function choicesOf({ parameters = [] }: Leaf): string[] {
  return parameters.flatMap((parameter) => {
    const { choices = [] } = parameter;
    if (choices.length === 0) return [];
    return [`The ${placeOf(parameter).name} is one of: ${choices.join(", ")}.`];
  });
}

function commandUsage(command: Command): string {
  const parameters = isGroup(command) ? [] : command.parameters ?? [];
  return [command.name, ...parameters.map(({ usage }: Parameter) => usage)].join(" ");
}

/** An option with its values. */
export function optionRow(option: Option): Row {
  const { flags, summary, choices, default: preset } = option;
  const notes = [
    ...choices === undefined ? [] : [choices.join(", ")],
    ...preset === undefined ? [] : [`default: ${preset}`],
  ];
  const indent = flags.startsWith("--") ? "    " : "";
  return [indent + flags, notes.length === 0 ? summary : `${summary} (${notes.join("; ")})`];
}

function isListed({ hidden }: { readonly hidden?: boolean }): boolean {
  return hidden !== true;
}

function widest(rows: readonly Row[]): number {
  return Math.min(MAX_TERM, Math.max(0, ...rows.map(([term]) => widthOf(term))));
}

function block(title: string, rows: readonly Row[], terms: number, style: HelpStyle): string {
  if (rows.length === 0) return "";
  const indent = terms + 4;
  const lines = rows.map(([term, meaning]) => {
    const text = wrap(meaning, Math.max(20, style.width - indent))
      .replaceAll("\n", `\n${" ".repeat(indent)}`);
    if (widthOf(term) > terms) return `  ${term}\n${" ".repeat(indent)}${text}`;
    return `  ${term}${" ".repeat(terms - widthOf(term))}  ${text}`;
  });
  return [style.title(`${title}:`), ...lines].join("\n");
}

function examplesBlock(examples: readonly Example[], { title, program }: HelpStyle): string {
  if (examples.length === 0) return "";
  const lines = examples.flatMap(({ line, purpose }) => [`  # ${purpose}`, `  ${program} ${line}`]);
  return [title("Examples:"), ...lines].join("\n");
}
