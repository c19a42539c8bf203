import {
  type BlameLine,
  type EventKind,
  type Paging,
  readActivity,
  readBlame,
  readDiff,
  readHistory,
  readTimeline,
  type TimelineOptions,
} from "../../services/engines/fossil/mod.ts";
import { CommandFailed, print, printError, printText, table, visible } from "../output.ts";
import {
  onOneLine,
  printJson,
  printRest,
  reading,
  readPages,
  shortHash,
  shortTime,
} from "./session.ts";

interface ListOptions extends Paging {
  readonly json?: boolean;
}

interface TimelineCommandOptions extends ListOptions, TimelineOptions {
  readonly kind?: readonly EventKind[];
}

/** `muster fossil timeline`: check-ins or, with `kind`, other events, newest first. */
export async function timeline(file: string, options: TimelineCommandOptions): Promise<void> {
  const { json = false, kind, ...query } = options;
  await reading(file, ({ reader }) => {
    if (kind !== undefined) {
      const activity = reader.read(() =>
        readPages(
          query,
          "events",
          (page) => readActivity(reader, { ...query, ...page, kinds: kind }),
        )
      );
      if (json) return printJson(activity);
      const rows = activity.events.map((event) => [
        shortTime(event.timestamp),
        shortHash(event.uuid),
        event.kind,
        event.user,
        onOneLine(event.comment),
      ]);
      print(table(["TIME", "HASH", "KIND", "USER", "COMMENT"], rows));
      return printRest(rows.length, activity.total);
    }
    const result = reader.read(() =>
      readPages(query, "checkins", (page) => readTimeline(reader, { ...query, ...page }))
    );
    if (json) return printJson(result);
    for (const checkin of result.checkins) {
      const { timestamp, uuid, branch, tags, user, comment } = checkin;
      const notes = [
        branch,
        ...tags,
        ...checkin.is_merge ? ["merge"] : [],
        ...checkin.is_closed ? ["closed"] : checkin.is_leaf ? ["leaf"] : [],
      ];
      print(`${shortTime(timestamp)} [${shortHash(uuid)}] ${visible(onOneLine(comment))}`);
      print(`                 ${visible(user)} (${visible(notes.join(", "))})`);
    }
    printRest(result.checkins.length, result.total);
  });
}

/** `muster fossil history`: the check-ins that changed a file, newest first. */
export async function history(
  file: string,
  path: string,
  options: ListOptions & { readonly checkin?: string },
): Promise<void> {
  const { json = false, ...query } = options;
  await reading(file, ({ reader }) => {
    const result = reader.read(() =>
      readPages(query, "checkins", (page) => readHistory(reader, { ...query, ...page, path }))
    );
    if (json) return printJson(result);
    const rows = result.checkins.map((version) => [
      shortTime(version.timestamp),
      shortHash(version.uuid),
      version.change_type,
      version.prev_name === null ? version.name : `${version.prev_name} -> ${version.name}`,
      version.user,
      onOneLine(version.comment),
    ]);
    print(table(["TIME", "HASH", "CHANGE", "FILE", "USER", "COMMENT"], rows));
    printRest(rows.length, result.total);
  });
}

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
