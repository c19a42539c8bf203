/** What a command is: data from which parsing, help, completion, manual and reference are made. */

/**
 * The code of a command. It gets the value of each parameter, in order, and then the options as one
 * object; an optional parameter that was left out is `undefined`.
 */
export type Action = (...values: never[]) => unknown;

/** A value after the command's name. */
export interface Parameter {
  /** `<name>`, `[name]` where it may be left out, `<name...>` where it takes all that follow. */
  readonly usage: string;
  /** Reads the text; throws {@linkcode InvalidValue} where it cannot. */
  readonly parse?: (text: string) => unknown;
  readonly choices?: readonly string[];
  readonly completes?: Completes;
}

/** What the shell offers for a value. */
export type Completes = "file" | "folder";

/** An option of a command, such as `--lines 20`. */
export interface Option {
  /** `-n, --lines <count>`; without `<…>` it is a flag; `<…...>` takes several values. */
  readonly flags: string;
  /** One clause, in lower case, without a period. */
  readonly summary: string;
  /** Reads the text; throws {@linkcode InvalidValue} where it cannot. */
  readonly parse?: (text: string) => unknown;
  readonly default?: unknown;
  readonly choices?: readonly string[];
  /** May be given several times; the command gets a list. */
  readonly repeatable?: boolean;
  readonly required?: boolean;
  /** Long names, without dashes, of options that cannot stand beside it. */
  readonly conflicts?: readonly string[];
  readonly completes?: Completes;
  /** Works, and is not listed. */
  readonly hidden?: boolean;
}

/** A command line to imitate. */
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

/** A command that only holds others. */
export interface Group extends Described {
  readonly commands: readonly Command[];
}

/** What a command is called. */
export interface Named {
  readonly name: string;
  /** Other names, such as those of earlier versions: they work, and are not listed. */
  readonly aliases?: readonly string[];
  /** One clause, in lower case, without a period. */
  readonly summary: string;
  /** Works, and is not listed. */
  readonly hidden?: boolean;
}

/** A command with its name. */
export type Command = Named & (Leaf | Group);

/** A command of the first level, imported when the command line names it. */
export interface Entry extends Named {
  /** It works without a configuration and without a server. */
  readonly standalone?: boolean;
  readonly load: () => Promise<Leaf | Group>;
}

/** Entries under a title, as the help shows them. */
export interface Section {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The whole command line. */
export interface CommandLine {
  readonly name: string;
  readonly summary: string;
  readonly version: string;
  /** Options that every command takes, except those that stand alone. */
  readonly options: readonly Option[];
  readonly sections: readonly Section[];
  /** The entry that runs where none is named. */
  readonly default: string;
  readonly examples: readonly Example[];
  readonly notes: readonly string[];
}

/** The text of a parameter or an option cannot be read; the message goes on after "must". */
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

/** The names by which an option is called, and what it takes. */
export interface Flags {
  /** One letter, or null. */
  readonly short: string | null;
  /** Without dashes. */
  readonly long: string;
  /** What stands between `<` and `>`; null for a flag. */
  readonly value: string | null;
  readonly isVariadic: boolean;
  /** The name of the property that the command gets, such as `dataDir`. */
  readonly key: string;
}

/** Takes the flags of an option apart. */
export function flagsOf({ flags }: Option): Flags {
  const match = /^(?:-(\w), )?--([a-z][a-z-]*)(?: <([^>.]+)(\.\.\.)?>)?$/.exec(flags);
  if (match === null) throw new TypeError(`Cannot read the flags "${flags}"`);
  const [, short = null, long = "", value = null, dots] = match;
  const key = long.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  return { short, long, value, isVariadic: dots !== undefined, key };
}

/** What the usage of a parameter says. */
export interface Place {
  readonly name: string;
  readonly isOptional: boolean;
  readonly isVariadic: boolean;
}

/** Takes the usage of a parameter apart. */
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
