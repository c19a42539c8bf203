/** Parses words to a command with its values. */
import {
  type Command,
  type CommandLine,
  findCommand,
  type Flags,
  flagsOf,
  type Group,
  InvalidValue,
  isGroup,
  type Leaf,
  type Named,
  type Option,
  type Parameter,
  placeOf,
  type TopLevelCommand,
} from "./command.ts";
import { suggest } from "../../services/kernel/suggest.ts";

/** The command line is wrong. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  /** The words of the intended command, such as `agent add`; empty if none was found. */
  readonly path: readonly string[];

  constructor(message: string, path: readonly string[]) {
    super(message);
    this.path = path;
  }
}

/** A parsed command line. */
export type Request =
  | { readonly kind: "version" }
  | { readonly kind: "help"; readonly target: Target; readonly isMisuse: boolean }
  | {
    readonly kind: "run";
    readonly command: Leaf;
    /** The values of its parameters, then its options. */
    readonly values: readonly unknown[];
  };

/** A command and its words; null stands for the program itself. */
export interface Target {
  readonly path: readonly string[];
  readonly entry: TopLevelCommand | null;
  readonly command: Leaf | Group | null;
  readonly summary: string;
}

export const HELP_OPTION: Option = { flags: "-h, --help", summary: "print this help" };
export const VERSION_OPTION: Option = { flags: "-V, --version", summary: "print the version" };

/**
 * Parses a command line; imports the command that it names.
 *
 * @throws UsageError
 */
export async function parse(line: CommandLine, words: readonly string[]): Promise<Request> {
  return await new Parser(line, words).parse();
}

class Parser {
  readonly #line: CommandLine;
  readonly #words: string[];
  readonly #values = new Map<Option, unknown>();
  readonly #operands: string[] = [];
  #path: string[] = [];

  constructor(line: CommandLine, words: readonly string[]) {
    this.#line = line;
    this.#words = [...words];
  }

  async parse(): Promise<Request> {
    const root: Target = { path: [], entry: null, command: null, summary: this.#line.summary };
    const first = this.#skipOptions(this.#line.options);
    if (first === "--version" || first === "-V") return { kind: "version" };
    if (isHelp(first)) return { kind: "help", target: root, isMisuse: false };
    if (first === "help") return await this.#help(root);
    const isUnnamed = first === undefined || first.startsWith("-");
    if (!isUnnamed) this.#words.shift();
    const entries = this.#line.sections.flatMap((section) => section.entries);
    const entry = this.#find(entries, isUnnamed ? this.#line.default : first);
    return await this.#inside({
      path: this.#path,
      entry,
      command: await entry.load(),
      summary: entry.summary,
    });
  }

  /** `help agent add` is `agent add --help`. */
  async #help(root: Target): Promise<Request> {
    const [, ...names] = this.#words;
    if (names.length === 0 || names[0]?.startsWith("-") === true) {
      return { kind: "help", target: root, isMisuse: false };
    }
    const target = await findTarget(this.#line, names);
    if (target !== null) return { kind: "help", target, isMisuse: false };
    throw new UsageError(`There is no command "${names.join(" ")}"`, []);
  }

  #inside(target: Target): Request {
    const command = target.command;
    if (command === null) throw new TypeError("A target without a command has no inside");
    if (!isGroup(command)) return this.#leaf(target, command);
    const first = this.#skipOptions(this.#optionsOf(target, []));
    if (isHelp(first)) return { kind: "help", target, isMisuse: false };
    if (command.default !== undefined && (first === undefined || first.startsWith("-"))) {
      return this.#enter(target, command, command.default);
    }
    if (first === undefined) return { kind: "help", target, isMisuse: true };
    if (first.startsWith("-")) throw this.#unknownOption(first, [HELP_OPTION]);
    this.#words.shift();
    return this.#enter(target, command, first);
  }

  #enter(target: Target, group: Group, name: string): Request {
    const inner: Command = this.#find(group.commands, name);
    return this.#inside({ ...target, path: this.#path, command: inner, summary: inner.summary });
  }

  #leaf(target: Target, command: Leaf): Request {
    const options = this.#optionsOf(target, command.options ?? []);
    for (;;) {
      const word = this.#skipOptions(options);
      if (word === undefined) break;
      if (isHelp(word)) return { kind: "help", target, isMisuse: false };
      this.#words.shift();
      if (word === "--") {
        this.#operands.push(...this.#words.splice(0));
        break;
      }
      if (word.startsWith("-") && word !== "-") throw this.#unknownOption(word, options);
      this.#operands.push(word);
    }
    const values = this.#parameters(command.parameters ?? []);
    return { kind: "run", command, values: [...values, this.#finish(options)] };
  }

  #optionsOf({ entry }: Target, own: readonly Option[]): readonly Option[] {
    return entry?.standalone === true ? own : [...own, ...this.#line.options];
  }

  #find<T extends Named>(commands: readonly T[], name: string): T {
    const found = findCommand(commands, name);
    if (found !== undefined) {
      this.#path = [...this.#path, found.name];
      return found;
    }
    const listed = commands.filter(({ hidden }) => hidden !== true);
    const names = listed.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    const near = findCommand(listed, suggest(name, names) ?? "")?.name ?? null;
    throw this.#error(`Unknown command "${[...this.#path, name].join(" ")}"`, near);
  }

  /** Removes known options; returns the first other word, without removing it. */
  #skipOptions(options: readonly Option[]): string | undefined {
    for (;;) {
      const [word] = this.#words;
      if (word === undefined || !word.startsWith("-") || word === "-" || word === "--") return word;
      if (!this.#takeOption(word, options)) return word;
    }
  }

  #takeOption(word: string, options: readonly Option[]): boolean {
    const isLong = word.startsWith("--");
    const equals = word.indexOf("=");
    const name = !isLong ? word.slice(1, 2) : word.slice(2, equals < 0 ? undefined : equals);
    const option = options.find((one) => {
      const { short, long } = flagsOf(one);
      return isLong ? long === name : short === name;
    });
    if (option === undefined) return false;
    this.#words.shift();
    const flags = flagsOf(option);
    const rest = isLong ? (equals < 0 ? null : word.slice(equals + 1)) : word.slice(2) || null;
    if (flags.value === null) {
      if (rest !== null && isLong) throw this.#error(`--${flags.long} takes no value`);
      if (rest !== null) this.#words.unshift(`-${rest}`);
      this.#values.set(option, true);
      return true;
    }
    const text = rest ?? this.#words.shift();
    if (text === undefined) throw this.#error(`--${flags.long} needs a value: <${flags.value}>`);
    this.#setValue(option, flags, text);
    while (flags.isVariadic && this.#words[0]?.startsWith("-") === false) {
      this.#setValue(option, flags, this.#words.shift() ?? "");
    }
    return true;
  }

  #setValue(option: Option, { long, isVariadic }: Flags, text: string): void {
    const value = this.#read(option, `--${long}`, text);
    if (!isVariadic && option.repeatable !== true) return void this.#values.set(option, value);
    const before = this.#values.get(option);
    this.#values.set(option, [...Array.isArray(before) ? before : [], value]);
  }

  #read({ parse, choices }: Option | Parameter, name: string, text: string): unknown {
    const fail = (what: string) => this.#error(`The value "${text}" of ${name} must ${what}`);
    if (choices !== undefined && !choices.includes(text)) {
      throw fail(`be one of ${choices.join(", ")}`);
    }
    try {
      return parse === undefined ? text : parse(text);
    } catch (error) {
      throw error instanceof InvalidValue ? fail(error.message) : error;
    }
  }

  #parameters(parameters: readonly Parameter[]): unknown[] {
    const values = parameters.map((parameter) => {
      const { name, isOptional, isVariadic } = placeOf(parameter);
      if (this.#operands.length === 0 && !isOptional) {
        const { choices = [] } = parameter;
        const hint = choices.length === 0 ? "" : `: one of ${choices.join(", ")}`;
        throw this.#error(`<${name}> is missing${hint}`);
      }
      if (isVariadic) {
        return this.#operands.splice(0).map((text) => this.#read(parameter, `<${name}>`, text));
      }
      const text = this.#operands.shift();
      return text === undefined ? undefined : this.#read(parameter, `<${name}>`, text);
    });
    const [excess] = this.#operands;
    if (excess !== undefined) throw this.#error(`"${excess}" is one argument too many`);
    return values;
  }

  /** Checks for conflicting options, and returns the options by their keys. */
  #finish(options: readonly Option[]): Readonly<Record<string, unknown>> {
    const result: Record<string, unknown> = {};
    const given = [...this.#values.keys()];
    for (const option of given) {
      const { long } = flagsOf(option);
      const other = given.find((one) => option.conflicts?.includes(flagsOf(one).long) === true);
      if (other !== undefined) {
        throw this.#error(`--${long} and --${flagsOf(other).long} exclude each other`);
      }
    }
    for (const option of options) {
      const { long, key } = flagsOf(option);
      const value = this.#values.get(option) ?? option.default;
      if (value !== undefined) result[key] ??= value;
      else if (option.required === true) throw this.#error(`--${long} is missing`);
    }
    return result;
  }

  #unknownOption(word: string, options: readonly Option[]): UsageError {
    const [name = word] = word.split("=", 1);
    const names = [...options.filter(({ hidden }) => hidden !== true), HELP_OPTION]
      .map((option) => `--${flagsOf(option).long}`);
    return this.#error(`Unknown option "${name}"`, suggest(name, names));
  }

  #error(message: string, suggestion: string | null = null): UsageError {
    const question = suggestion === null ? "" : `; did you mean "${suggestion}"?`;
    return new UsageError(`${message}${question}`, this.#path);
  }
}

function isHelp(word: string | undefined): boolean {
  return word === "--help" || word === "-h";
}

/** Finds a command by its words; null if there is none. */
export async function findTarget(
  line: CommandLine,
  names: readonly string[],
): Promise<Target | null> {
  const [first = "", ...rest] = names;
  const entry = findCommand(line.sections.flatMap(({ entries }) => entries), first);
  if (entry === undefined) return null;
  let target: Target = {
    path: [entry.name],
    entry,
    command: await entry.load(),
    summary: entry.summary,
  };
  for (const name of rest) {
    if (target.command === null || !isGroup(target.command)) return null;
    const inner: Command | undefined = findCommand(target.command.commands, name);
    if (inner === undefined) return null;
    target = {
      ...target,
      path: [...target.path, inner.name],
      command: inner,
      summary: inner.summary,
    };
  }
  return target;
}
