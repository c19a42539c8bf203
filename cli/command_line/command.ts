/** The definition of commands: data for parsing, help, completion, the manual and the reference. */

/**
 * The code of a command. It receives the value of each parameter, in order, and then the options as
 * one object; a missing optional parameter is `undefined`.
 */
export type Action = (...values: never[]) => unknown;

/** A value after the command's name. */
export interface Parameter {
  /** `<name>`, `[name]` if it is optional, `<name...>` if it takes all remaining words. */
  readonly usage: string;
  /** Parses the text; throws {@linkcode InvalidValue} if it is invalid. */
  readonly parse?: (text: string) => unknown;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
}

/** The shell's completions of a value. */
export type Completes = "file" | "folder";

/** An option of a command, such as `--lines 20`. */
export interface Option {
  /** `-n, --lines <count>`; without `<…>` it is a flag; `<…...>` takes several values. */
  readonly flags: string;
  /** One clause, in lower case, without a period. */
  readonly summary: string;
  /** Parses the text; throws {@linkcode InvalidValue} if it is invalid. */
  readonly parse?: (text: string) => unknown;
  readonly default?: unknown;
  readonly choices?: readonly string[];
  /** May be repeated; the command receives a list. */
  readonly repeatable?: boolean;
  readonly required?: boolean;
  /** Long names, without dashes, of conflicting options. */
  readonly conflicts?: readonly string[];
  readonly completes?: Completes;
  /** Works, but is not listed. */
  readonly hidden?: boolean;
}

/** An example command line. */
export interface Example {
  /** Without the program's name. */
  readonly line: string;
  readonly purpose: string;
}

interface Described {
  readonly examples?: readonly Example[];
  /** Paragraphs after the options. */
  readonly notes?: readonly string[];
}

/** A command that runs. */
export interface Leaf extends Described {
  readonly parameters?: readonly Parameter[];
  readonly options?: readonly Option[];
  readonly run: Action;
}

/** A group of commands. */
export interface Group extends Described {
  readonly commands: readonly Command[];
  /** The name of the command that runs if no word follows; absent: the help is shown. */
  readonly default?: string;
}

/** The name of a command. */
export interface Named {
  readonly name: string;
  /** Aliases, such as names from earlier versions: they work, but are not listed. */
  readonly aliases?: readonly string[];
  /** One clause, in lower case, without a period. */
  readonly summary: string;
  /** Works, but is not listed. */
  readonly hidden?: boolean;
}

/** A command with its name. */
export type Command = Named & (Leaf | Group);

/** A top-level command, imported when the command line names it. */
export interface TopLevelCommand extends Named {
  /** It works without a configuration and without a server. */
  readonly standalone?: boolean;
  readonly load: () => Promise<Leaf | Group>;
}

/** Entries under a title, as the help shows them. */
export interface Section {
  readonly title: string;
  readonly entries: readonly TopLevelCommand[];
}

/** The whole command line. */
export interface CommandLine {
  readonly name: string;
  readonly summary: string;
  readonly version: string;
  /** Options of every command, except for standalone ones. */
  readonly options: readonly Option[];
  readonly sections: readonly Section[];
  /** The entry that runs by default. */
  readonly default: string;
  readonly examples: readonly Example[];
  readonly notes: readonly string[];
}

/** The value of a parameter or an option is invalid; the message continues after "must". */
export class InvalidValue extends Error {
  override readonly name = "InvalidValue";
}

/** Code that is imported when its command runs. */
export function lazy(load: () => Promise<Action>): Action {
  return async (...values) => await (await load())(...values);
}

export function isGroup<T extends Leaf | Group>(command: T): command is Extract<T, Group> {
  return "commands" in command;
}

/** The names of an option, and its value. */
export interface Flags {
  /** One letter, or null. */
  readonly short: string | null;
  /** Without dashes. */
  readonly long: string;
  /** The text between `<` and `>`; null for a flag. */
  readonly value: string | null;
  readonly isVariadic: boolean;
  /** The name of its property, such as `dataDir`. */
  readonly key: string;
}

/** Parses the flags of an option. */
export function flagsOf({ flags }: Option): Flags {
  const match = /^(?:-(\w), )?--([a-z][a-z-]*)(?: <([^>.]+)(\.\.\.)?>)?$/.exec(flags);
  if (match === null) throw new TypeError(`Cannot read the flags "${flags}"`);
  const [, short = null, long = "", value = null, dots] = match;
  const key = long.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return { short, long, value, isVariadic: dots !== undefined, key };
}

/** The parts of a parameter's usage. */
export interface Place {
  readonly name: string;
  readonly isOptional: boolean;
  readonly isVariadic: boolean;
}

/** Parses the usage of a parameter. */
export function placeOf({ usage }: Parameter): Place {
  const match = /^[<[]([^\].>]+)(\.\.\.)?[>\]]$/.exec(usage);
  if (match === null) throw new TypeError(`Cannot read the parameter "${usage}"`);
  return {
    name: match[1] ?? "",
    isOptional: usage.startsWith("["),
    isVariadic: match[2] !== undefined,
  };
}

/** Finds a command by its name or an alias. */
export function findCommand<T extends Named>(commands: readonly T[], name: string): T | undefined {
  return commands.find((command) => command.name === name) ??
    commands.find((command) => command.aliases?.includes(name) === true);
}
