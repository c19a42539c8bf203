import { type BlameLine, readBlame, readDiff } from "../../services/fossil/mod.ts";
import { CommandFailed, print, printError, printText, visible } from "../output.ts";
import { printJson, shortHash } from "./format.ts";
import { reading } from "./session.ts";

interface DiffCommandOptions {
  readonly from?: string;
  readonly to?: string;
  readonly context?: number;
  readonly json?: boolean;
}

/** `muster fossil diff`: the differences between two check-ins, as unified diffs. */
export async function diff(
  file: string,
  path: string | undefined,
  { json = false, ...query }: DiffCommandOptions,
): Promise<void> {
  await reading(file, ({ reader }) => {
    const result = readDiff(reader, { ...query, ...path === undefined ? {} : { path } });
    if (json) return printJson(result);
    for (const { name, prev_name, change_type, diff, is_truncated, unreadable } of result.files) {
      if (unreadable !== null) printError(visible(`${name}: left out: ${unreadable}`));
      if (is_truncated) printError(`The diff of "${visible(name)}" is too large to be shown.`);
      if (change_type === "renamed") print(visible(`rename from ${prev_name} to ${name}`));
      printText(diff);
    }
    const leftOut = result.files.filter(({ unreadable }) => unreadable !== null).length;
    if (leftOut > 0) throw new CommandFailed(`Files left out of the diff: ${leftOut}`);
  });
}

interface BlameCommandOptions {
  readonly checkin?: string;
  readonly json?: boolean;
}

/** `muster fossil blame`: each line of a file with the check-in that last changed it. */
export async function blame(
  file: string,
  path: string,
  { json = false, ...query }: BlameCommandOptions,
): Promise<void> {
  await reading(file, ({ reader }) => {
    const result = readBlame(reader, { ...query, path });
    if (json) return printJson(result);
    const { lines } = result;
    const users = Math.max(0, ...lines.map(({ user }) => user.length));
    const numbers = String(lines.length).length;
    printText(lines.map((line) => `${blameLine(line, users, numbers)}\n`).join(""));
  });
}

function blameLine(line: BlameLine, users: number, numbers: number): string {
  const { uuid, user, timestamp, number, text } = line;
  const origin = `${shortHash(uuid)} ${visible(user).padEnd(users)} ${timestamp.slice(0, 10)}`;
  return `${origin} ${String(number).padStart(numbers)}  ${text}`;
}
