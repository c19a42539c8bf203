/** Handles the commands that users of the `fossil` program type out of habit. */
import { CommandFailed, commandName } from "../output.ts";

/** Commands of the program that work on a checkout, and what to use instead. */
const CHECKOUT_COMMANDS: ReadonlyMap<string, string> = new Map([
  ...["open", "checkout", "co", "update", "up", "close", "revert", "undo", "redo"]
    .map((name) => [name, '"muster fossil archive" writes the files of a check-in'] as const),
  ...["status", "changes", "extras", "clean", "gdiff", "stash", "bisect"]
    .map((name) => [name, '"muster fossil diff" compares check-ins'] as const),
  ...["add", "addremove", "rm", "delete", "forget", "mv", "rename", "touch"]
    .map((name) =>
      [name, '"muster fossil commit --from FOLDER" commits the files of a folder'] as const
    ),
]);

/** Commands of the program or of Git that muster lacks, and what to use instead. */
const OTHER_COMMANDS: ReadonlyMap<string, string> = new Map([
  ["log", '"muster fossil timeline" lists check-ins'],
  ["show", '"muster fossil info" shows a repository or a check-in'],
  ["grep", '"muster fossil search" searches a repository'],
  ...[
    ...["clone", "pull", "push", "sync", "remote", "server", "http", "ui", "chat"],
    ...["sql", "settings", "user", "all"],
  ].map((name) => [name, `do it with the fossil program: fossil ${name}`] as const),
]);

/** muster's commands for the program's subcommands of `branch` and `tag`. */
const SUBCOMMANDS: Readonly<Record<string, Readonly<Record<string, Meaning>>>> = {
  branch: {
    list: (file) => `branch ${file}`,
    ls: (file) => `branch ${file}`,
    lsh: (file) => `branch ${file}`,
    current: (file) => `branch ${file}`,
    new: (file, name, basis) => `branch ${file} ${name} --from ${basis}`,
    close: (file, name) => `branch ${file} ${name} --close`,
    reopen: (file, name) => `branch ${file} ${name} --reopen`,
    info: (file, name) => `timeline ${file} --branch ${name}`,
    hide: (file, name) => `amend ${file} ${name} --hide`,
    unhide: (file, name) => `amend ${file} ${name} --show`,
  },
  tag: {
    list: (file) => `tag ${file}`,
    ls: (file) => `tag ${file}`,
    add: (file, name, checkin) => `tag ${file} ${name} ${checkin}`,
    cancel: (file, name) => `tag ${file} ${name} --cancel`,
    find: (file, name) => `info ${file} --checkin tag:${name}`,
  },
};

type Meaning = (file: string, name: string, checkin: string) => string;

/**
 * Moves the file of the program's option `-R` to its place in muster: after the command.
 *
 * @param args all words of the command line.
 * @throws {CommandFailed} The words ask for a checkout, for a command that muster lacks, or for a
 * subcommand of the program.
 */
export function fossilWords(args: readonly string[]): readonly string[] {
  const [first, command] = args;
  if (first !== "fossil" || command === undefined) return args;
  const advice = CHECKOUT_COMMANDS.get(command);
  if (advice !== undefined) {
    throw new CommandFailed(
      `"${command}" needs a checkout; muster works on repository files without one: ${advice}`,
      2,
    );
  }
  const other = OTHER_COMMANDS.get(command);
  if (other !== undefined) {
    throw new CommandFailed(`muster fossil has no command "${command}"; ${other}`, 2);
  }
  const words = withFileFirst(args);
  const [, , file = "", name = "", ...rest] = words;
  refuseSubcommand(command, file, name, rest);
  return words;
}

function withFileFirst(args: readonly string[]): readonly string[] {
  const [fossil = "", command = "", ...rest] = args;
  const end = rest.indexOf("--");
  const options = end < 0 ? rest : rest.slice(0, end);
  const at = options.findIndex((word) => /^(?:-R|--repository)(?:=|$)/.test(word));
  if (at < 0) return args;
  const [option = "", next] = rest.slice(at);
  const equals = option.indexOf("=");
  const file = equals < 0 ? next : option.slice(equals + 1);
  if (file === undefined) throw new CommandFailed(`${option} needs a value: <file>`, 2);
  rest.splice(at, equals < 0 ? 2 : 1);
  return [fossil, command, file, ...rest];
}

/**
 * Refuses one of the program's subcommands in the place of a branch's or tag's name.
 *
 * @param words the words after the name.
 * @throws {CommandFailed} The name is such a subcommand; the message suggests a command of muster.
 */
export function refuseSubcommand(
  command: string,
  file: string,
  name: string,
  words: readonly string[],
): void {
  const meant = SUBCOMMANDS[command];
  if (meant === undefined || !Object.hasOwn(meant, name)) return;
  const [target = "NAME", checkin = "CHECKIN"] = words.filter((word) => !word.startsWith("-"));
  throw new CommandFailed(
    `"${name}" cannot be the name of a ${command}. Did you mean ` +
      `"${commandName()} fossil ${meant[name]?.(file, target, checkin)}"?`,
    2,
  );
}
