/** The manual page, for `man`. */
import {
  choicesOf,
  type CommandLine,
  type Example,
  HELP_OPTION,
  type Option,
  optionRow,
  usageOf,
  VERSION_OPTION,
} from "../command_line/mod.ts";
import { type Word, wordsOf } from "./words.ts";

/**
 * Writes the manual page of the program, in the macros of `man`; loads all commands.
 *
 * @see {@link https://man7.org/linux/man-pages/man7/man.7.html}
 */
export async function manualOf(line: CommandLine): Promise<string> {
  const words = await wordsOf(line);
  const commands = words.filter(({ leaf }) => leaf !== null);
  return [
    `.TH ${line.name.toUpperCase()} 1 "" "${line.name} ${line.version}" "User commands"`,
    ".SH NAME",
    `${line.name} \\- ${escape(lowerFirst(line.summary.replace(/\.$/, "")))}`,
    ".SH SYNOPSIS",
    `.B ${line.name}`,
    escape("[command] [options]"),
    ".SH DESCRIPTION",
    ...paragraphs(line.notes),
    ".SH OPTIONS",
    ...[...line.options, HELP_OPTION, VERSION_OPTION].flatMap(optionLines),
    ".SH COMMANDS",
    ...commands.flatMap((word) => commandLines(line.name, word)),
    ".SH EXAMPLES",
    // The first paragraph of a section needs no macro.
    ...line.examples.flatMap((example) => exampleLines(line.name, example)).slice(1),
    "",
  ].join("\n");
}

/** Paragraphs at the begin of a section, where the first needs no macro. */
function paragraphs(texts: readonly string[]): string[] {
  return texts.flatMap((text) => [".PP", escape(text)]).slice(1);
}

function commandLines(name: string, { path, summary, leaf }: Word): string[] {
  if (leaf === null) return [];
  const { options = [], notes = [], examples = [] } = leaf;
  return [
    `.SS ${escape(usageOf([name, ...path].join(" "), leaf))}`,
    escape(`${summary.slice(0, 1).toUpperCase()}${summary.slice(1)}.`),
    ...choicesOf(leaf).flatMap((text) => [".PP", escape(text)]),
    ...options.filter(({ hidden }) => hidden !== true).flatMap(optionLines),
    ...notes.flatMap((note) => [".PP", escape(note)]),
    ...examples.flatMap((example) => exampleLines(name, example)),
  ];
}

function optionLines(option: Option): string[] {
  const [flags, meaning] = optionRow(option);
  return [".TP", `\\fB${escape(flags.trim())}\\fR`, escape(meaning)];
}

function exampleLines(name: string, { line, purpose }: Example): string[] {
  return [
    ".PP",
    `${escape(purpose)}:`,
    ".PP",
    ".nf",
    ".RS",
    escape(`${name} ${line}`),
    ".RE",
    ".fi",
  ];
}

/** Makes a text safe for troff: backslashes, hyphens, and dots and quotes at the start. */
function escape(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replace(/^([.'])/gm, "\\&$1");
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
