import { type Command, lazy } from "../command_line/mod.ts";
import {
  checkEventKind,
  CHECKIN_OPTION,
  checkNumber,
  EVENT_KINDS,
  FILE,
  JSON_OPTION,
  LIMIT_OPTION,
  OFFSET_OPTION,
} from "./options.ts";

const LISTS: readonly Command[] = [
  {
    name: "info",
    summary: "describe a repository or, with --checkin, a check-in",
    parameters: [FILE],
    options: [{ flags: "-r, --checkin <name>", summary: "a check-in" }, JSON_OPTION],
    run: lazy(async () => (await import("./info.ts")).info),
  },
  {
    name: "timeline",
    summary: "list check-ins, newest first",
    parameters: [FILE],
    options: [
      LIMIT_OPTION,
      OFFSET_OPTION,
      { flags: "-b, --branch <name>", summary: "only those on a branch" },
      { flags: "--user <login>", summary: "only those by a user" },
      { flags: "-p, --path <path>", summary: "only those that change a file" },
      { flags: "--before <date>", summary: "only those older than a date or a check-in" },
      { flags: "--after <date>", summary: "only those newer than a date or a check-in" },
      {
        flags: "-t, --kind <kind...>",
        summary: `events of these kinds, instead of check-ins: ${EVENT_KINDS.join(", ")}`,
        parse: checkEventKind,
        conflicts: ["branch", "path"],
      },
      JSON_OPTION,
    ],
    run: lazy(async () => (await import("./timeline.ts")).timeline),
  },
  {
    name: "branches",
    summary: "list all branches",
    parameters: [FILE],
    options: [JSON_OPTION],
    run: lazy(async () => (await import("./branches.ts")).branches),
  },
  {
    name: "tags",
    summary: "list all tags, except for names of branches",
    parameters: [FILE],
    options: [JSON_OPTION],
    run: lazy(async () => (await import("./branches.ts")).tags),
  },
  {
    name: "search",
    summary: 'search comments, tickets, wiki and files; "a phrase", prefix* and -without work',
    parameters: [FILE, { usage: "<words...>" }],
    options: [
      LIMIT_OPTION,
      OFFSET_OPTION,
      {
        flags: "--kind <kind...>",
        summary: "only these kinds",
        choices: ["checkin", "ticket", "wiki", "technote", "forum", "code"],
      },
      JSON_OPTION,
    ],
    run: lazy(async () => (await import("./search.ts")).search),
  },
];

const FILES: readonly Command[] = [
  {
    name: "ls",
    summary: "list the files of a check-in, or of a folder in it",
    parameters: [FILE, { usage: "[path]" }],
    options: [
      CHECKIN_OPTION,
      { flags: "-l, --long", summary: "add mode, size and last change" },
      JSON_OPTION,
    ],
    run: lazy(async () => (await import("./tree.ts")).listFiles),
  },
  {
    name: "cat",
    summary: "print a file",
    parameters: [FILE, { usage: "<path>" }],
    options: [CHECKIN_OPTION],
    run: lazy(async () => (await import("./tree.ts")).printFile),
  },
  {
    name: "archive",
    summary: "write all files of a check-in into one file",
    parameters: [FILE],
    options: [
      CHECKIN_OPTION,
      {
        flags: "--format <format>",
        summary: "the kind of archive",
        choices: ["zip", "tar.gz"],
        default: "zip",
      },
      { flags: "--folder <name>", summary: "the archive's top folder" },
      {
        flags: "-o, --output <file>",
        summary: "the file to write (default: standard output)",
        completes: "file",
      },
    ],
    run: lazy(async () => (await import("./tree.ts")).archive),
  },
];

/** Archives as the program makes them. */
const PROGRAM_ARCHIVES = ([["zip", "zip"], ["tarball", "tar.gz"]] as const)
  .map(([name, format]): Command => ({
    name,
    summary: `write a ${format} archive, like archive --format ${format}`,
    hidden: true,
    parameters: [FILE, { usage: "[checkin]" }, { usage: "[output]", completes: "file" }],
    options: [{ flags: "--name <folder>", summary: "the archive's top folder" }],
    run: lazy(async () => (await import("./tree.ts")).archiveAs(format)),
  }));

const DOCUMENTS: readonly Command[] = [
  {
    name: "technote",
    aliases: ["technotes"],
    summary: "list the technotes, or print one",
    parameters: [FILE, { usage: "[id]" }],
    options: [LIMIT_OPTION, OFFSET_OPTION, JSON_OPTION],
    run: lazy(async () => (await import("./documents.ts")).technote),
  },
  {
    name: "forum",
    summary: "list the threads of the forum, or print one",
    parameters: [FILE, { usage: "[post]" }],
    options: [LIMIT_OPTION, OFFSET_OPTION, JSON_OPTION],
    run: lazy(async () => (await import("./documents.ts")).forum),
  },
  {
    name: "attachment",
    aliases: ["attachments"],
    summary: "list the attachments of a wiki page, ticket or technote, or print one",
    parameters: [FILE, { usage: "<target>" }, { usage: "[name]" }],
    options: [JSON_OPTION],
    run: lazy(async () => (await import("./documents.ts")).attachment),
  },
  {
    name: "unversioned",
    aliases: ["uv"],
    summary: "list the unversioned files, or print one",
    parameters: [FILE, { usage: "[name]" }],
    options: [JSON_OPTION],
    run: lazy(async () => (await import("./documents.ts")).unversioned),
  },
];

const DIFFERENCES: readonly Command[] = [
  {
    name: "diff",
    summary: "show the differences between two check-ins, as unified diffs",
    parameters: [FILE, { usage: "[path]" }],
    options: [
      {
        flags: "-r, --from <name>",
        summary: "the older check-in (default: the parent of the newer one)",
      },
      { flags: "--to <name>", summary: "the newer check-in (default: the tip of the main branch)" },
      {
        flags: "--context <lines>",
        summary: "lines of context around each change",
        parse: checkNumber,
        default: 3,
      },
      JSON_OPTION,
    ],
    run: lazy(async () => (await import("./changes.ts")).diff),
  },
  {
    name: "blame",
    aliases: ["annotate", "praise"],
    summary: "show each line of a file with the check-in that last changed it",
    parameters: [FILE, { usage: "<path>" }],
    options: [CHECKIN_OPTION, JSON_OPTION],
    run: lazy(async () => (await import("./changes.ts")).blame),
  },
  {
    name: "history",
    aliases: ["finfo"],
    summary: "list the check-ins that changed a file, newest first",
    parameters: [FILE, { usage: "<path>" }],
    options: [CHECKIN_OPTION, LIMIT_OPTION, OFFSET_OPTION, JSON_OPTION],
    run: lazy(async () => (await import("./timeline.ts")).history),
  },
];

/** Commands that read a repository. */
export const READING_COMMANDS: readonly Command[] = [
  ...LISTS,
  ...FILES,
  ...DIFFERENCES,
  ...DOCUMENTS,
  ...PROGRAM_ARCHIVES,
];
