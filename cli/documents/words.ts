/** The whole table of commands, loaded and flattened. */
import {
  type CommandLine,
  type Completes,
  flagsOf,
  type Group,
  HELP_OPTION,
  isGroup,
  type Leaf,
  type Option,
  placeOf,
  VERSION_OPTION,
} from "../command_line/mod.ts";

/** A command as a shell sees it. */
export interface Word {
  /** The words after the program's name; none for the program itself. */
  readonly path: readonly string[];
  readonly summary: string;
  /** The subcommands: names and summaries. */
  readonly commands: readonly (readonly [name: string, summary: string])[];
  readonly options: readonly Choice[];
  /** The shell's completions of the parameters. */
  readonly completes: Completes | null;
  /** The parameters' fixed values. */
  readonly choices: readonly string[];
  readonly leaf: Leaf | null;
}

/** An option as a shell sees it. */
export interface Choice {
  readonly short: string | null;
  readonly long: string;
  readonly summary: string;
  readonly takesValue: boolean;
  readonly choices: readonly string[];
  readonly completes: Completes | null;
}

/** Loads every command and lists it before its subcommands; leaves hidden ones out. */
export async function wordsOf(line: CommandLine): Promise<Word[]> {
  const entries = line.sections.flatMap((section) => section.entries).filter(isListed);
  const shared = [...line.options, HELP_OPTION];
  const words: Word[] = [{
    path: [],
    summary: line.summary,
    commands: entries.map(({ name, summary }) => [name, summary]),
    options: [...shared, VERSION_OPTION].map(choiceOf),
    completes: null,
    choices: [],
    leaf: null,
  }];
  for (const entry of entries) {
    const options = entry.standalone === true ? [HELP_OPTION] : shared;
    words.push(...commandWords([entry.name], entry.summary, await entry.load(), options));
  }
  return words;
}

/** A command and, if it is a group, its subcommands. */
function commandWords(
  path: readonly string[],
  summary: string,
  command: Leaf | Group,
  shared: readonly Option[],
): Word[] {
  if (!isGroup(command)) return [leafWord(path, summary, command, shared)];
  const inner = command.commands.filter(isListed);
  const group: Word = {
    path,
    summary,
    commands: inner.map(({ name, summary }) => [name, summary]),
    options: shared.map(choiceOf),
    completes: null,
    choices: [],
    leaf: null,
  };
  return [
    group,
    ...inner.flatMap((one) => commandWords([...path, one.name], one.summary, one, shared)),
  ];
}

function leafWord(
  path: readonly string[],
  summary: string,
  leaf: Leaf,
  shared: readonly Option[],
): Word {
  const parameters = leaf.parameters ?? [];
  return {
    path,
    summary,
    commands: [],
    options: [...leaf.options ?? [], ...shared].filter(isListed).map(choiceOf),
    completes: parameters.find(({ completes }) => completes !== undefined)?.completes ?? null,
    choices: parameters.filter((one) => !placeOf(one).isOptional)
      .flatMap(({ choices = [] }) => choices),
    leaf,
  };
}

function choiceOf(option: Option): Choice {
  const { short, long, value } = flagsOf(option);
  const { summary, choices = [], completes = null } = option;
  return { short, long, summary, takesValue: value !== null, choices, completes };
}

function isListed({ hidden }: { readonly hidden?: boolean }): boolean {
  return hidden !== true;
}
