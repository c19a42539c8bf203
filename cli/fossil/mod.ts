/** `muster fossil`: the Fossil engine on any repository file, without a server. */
import { type Command, type Group, lazy } from "../command_line/mod.ts";
import {
  checkDate,
  checkEventKind,
  CHECKIN_OPTION,
  checkNumber,
  EVENT_KINDS,
  FILE,
  JSON_OPTION,
  LIMIT_OPTION,
  OFFSET_OPTION,
  USER_OPTION,
} from "./options.ts";

const LISTS: readonly Command[] = [
  {
    name: "info",
    summary: "describe a repository or, with --checkin, a check-in",
    parameters: [FILE],
    options: [{ flags: "-r, --checkin <name>", summary: "a check-in" }, JSON_OPTION],
    run: lazy(async () => (await import("./maintenance.ts")).info),
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
    run: lazy(async () => (await import("./timeline.ts")).diff),
  },
  {
    name: "blame",
    aliases: ["annotate", "praise"],
    summary: "show each line of a file with the check-in that last changed it",
    parameters: [FILE, { usage: "<path>" }],
    options: [CHECKIN_OPTION, JSON_OPTION],
    run: lazy(async () => (await import("./timeline.ts")).blame),
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
const READING_COMMANDS: readonly Command[] = [
  ...LISTS,
  ...FILES,
  ...DIFFERENCES,
  ...DOCUMENTS,
  ...PROGRAM_ARCHIVES,
];

const COMMIT: Command = {
  name: "commit",
  aliases: ["ci"],
  summary: "make a check-in from the files in a folder",
  parameters: [FILE],
  options: [
    {
      flags: "--from <folder>",
      summary: "the whole new tree; .git, .hg and .svn are skipped",
      required: true,
      completes: "folder",
    },
    { flags: "-m, --message <text>", summary: "what was done", required: true },
    USER_OPTION,
    {
      flags: "--branch <name>",
      summary: "the branch; a new one starts at --parent (default: the main branch)",
    },
    {
      flags: "--parent <name>",
      summary: "the parent check-in (default: the tip of the branch, or of the main branch)",
    },
    {
      flags: "--tag <name>",
      summary: "a name for the check-in; can be given several times",
      repeatable: true,
    },
    { flags: "--close", summary: "end the branch with this check-in" },
    { flags: "--allow-empty", summary: "commit even if nothing changed" },
    {
      flags: "--allow-fork",
      summary: "commit even if the parent already has a child on its branch",
    },
    JSON_OPTION,
  ],
  run: lazy(async () => (await import("./commit.ts")).commit),
};

const MERGE: Command = {
  name: "merge",
  summary: "merge a branch or check-in; nothing is changed if files conflict",
  parameters: [FILE, { usage: "<name>" }],
  options: [
    { flags: "--into <branch>", summary: "the branch to merge into (default: the main branch)" },
    {
      flags: "-m, --message <text>",
      summary: "the comment (default: names the merged branch or check-in)",
    },
    { flags: "--integrate", summary: "close the merged branch" },
    {
      flags: "--cherrypick",
      summary: "merge only the changes of that check-in",
      conflicts: ["integrate"],
    },
    {
      flags: "--backout",
      summary: "undo the changes of that check-in",
      conflicts: ["integrate", "cherrypick"],
    },
    { flags: "--dry-run", summary: "only print the result" },
    USER_OPTION,
    JSON_OPTION,
  ],
  run: lazy(async () => (await import("./merge.ts")).merge),
};

const NAMES: readonly Command[] = [
  {
    name: "tag",
    summary: "list the tags, or tag a check-in",
    parameters: [FILE, { usage: "[name]" }, { usage: "[checkin]" }],
    options: [
      { flags: "-m, --message <text>", summary: "the tag's comment" },
      { flags: "--move", summary: "move the tag from another check-in" },
      { flags: "--cancel", summary: "remove the tag from every check-in" },
      USER_OPTION,
      JSON_OPTION,
    ],
    notes: ["Without a check-in, the tip of the main branch gets the tag."],
    run: lazy(async () => (await import("./branches.ts")).tag),
  },
  {
    name: "branch",
    summary: "list the branches, or start one, close it or open it again",
    parameters: [FILE, { usage: "[name]" }],
    options: [
      {
        flags: "--from <checkin>",
        summary: "the check-in where it starts (default: the tip of the main branch)",
        conflicts: ["close", "reopen"],
      },
      { flags: "--color <color>", summary: "its color in Fossil's own pages" },
      { flags: "--close", summary: "end it", conflicts: ["reopen"] },
      { flags: "--reopen", summary: "open it again" },
      USER_OPTION,
      JSON_OPTION,
    ],
    run: lazy(async () => (await import("./branches.ts")).branch),
  },
];

const AMEND: Command = {
  name: "amend",
  summary: "change the displayed properties of a check-in",
  parameters: [FILE, { usage: "<checkin>" }],
  options: [
    { flags: "-m, --message <text>", summary: "another comment" },
    { flags: "--author <login>", summary: "another author" },
    { flags: "--date <date>", summary: "another date, UTC", parse: checkDate },
    {
      flags: "--branch <name>",
      summary: "move it and its descendants on the branch to another branch",
    },
    { flags: "--color <color>", summary: "a background color; an empty one removes it" },
    { flags: "--close", summary: "end its branch here", conflicts: ["reopen"] },
    { flags: "--reopen", summary: "open its branch again" },
    { flags: "--hide", summary: "hide it from timelines", conflicts: ["show"] },
    { flags: "--show", summary: "show it again" },
    USER_OPTION,
    JSON_OPTION,
  ],
  run: lazy(async () => (await import("./commit.ts")).amend),
};

const WRITTEN_DOCUMENTS: readonly Command[] = [
  {
    name: "wiki",
    summary: "list the wiki pages, show one, or write one from standard input",
    parameters: [FILE, { usage: "[page]" }],
    options: [
      {
        flags: "--write",
        summary: "read the page's new text",
        conflicts: ["delete", "history"],
      },
      { flags: "--delete", summary: "delete the page", conflicts: ["history"] },
      { flags: "--history", summary: "list the page's versions" },
      { flags: "--at <hash>", summary: "show an older version" },
      {
        flags: "--mimetype <type>",
        summary: 'such as "text/x-markdown" (default: Fossil\'s own markup)',
      },
      { flags: "-m, --message <text>", summary: "what was changed" },
      {
        flags: "-a, --show-associated",
        summary: "also list the pages of branches and check-ins",
      },
      { flags: "--all", summary: "also list deleted pages" },
      USER_OPTION,
      JSON_OPTION,
    ],
    run: lazy(async () => (await import("./wiki.ts")).wiki),
  },
  {
    name: "ticket",
    summary: "list the tickets, show one, make one or change one",
    parameters: [FILE, { usage: "[id]" }],
    options: [
      { flags: "--new", summary: "make a ticket" },
      {
        flags: "--set <name=value>",
        summary: "set a field; can be given several times",
        repeatable: true,
      },
      {
        flags: "--append <name=value>",
        summary: "append to a field; can be given several times",
        repeatable: true,
      },
      { flags: "--status <status>", summary: "list only those with a status" },
      LIMIT_OPTION,
      OFFSET_OPTION,
      USER_OPTION,
      JSON_OPTION,
    ],
    run: lazy(async () => (await import("./ticket.ts")).ticket),
  },
];

/** Commands that write into a repository. */
const WRITING_COMMANDS: readonly Command[] = [COMMIT, MERGE, ...NAMES, AMEND, ...WRITTEN_DOCUMENTS];

/** Commands that make a repository or process the whole of one. */
const WHOLE_COMMANDS: readonly Command[] = [
  {
    name: "init",
    aliases: ["new"],
    summary: "make a repository with its first, empty check-in",
    parameters: [FILE],
    options: [
      USER_OPTION,
      { flags: "--project-name <name>", summary: "the project's name" },
      { flags: "--description <text>", summary: "the project's description" },
      JSON_OPTION,
    ],
    run: lazy(async () => (await import("./maintenance.ts")).init),
  },
  {
    name: "import",
    summary: 'make a repository from the "git fast-export" stream on standard input',
    parameters: [FILE],
    options: [
      USER_OPTION,
      { flags: "--main-branch <name>", summary: "the main branch, if it has an unusual name" },
      { flags: "--project-name <name>", summary: "the project's name" },
      { flags: "--partial", summary: "import a stream that seems to be cut short" },
      JSON_OPTION,
    ],
    notes: [
      "In a Git repository, send the output of git for-each-ref --format='%(refname)' refs/heads " +
      "refs/tags | git fast-export --stdin --mark-tags --use-done-feature " +
      "--signed-tags=verbatim --reencode=no.",
    ],
    run: lazy(async () => (await import("./import.ts")).importStream),
  },
  {
    name: "export",
    summary: 'write a stream for "git fast-import" to standard output',
    parameters: [FILE],
    options: [
      { flags: "--main-branch <name>", summary: "the name of the main branch in Git" },
    ],
    run: lazy(async () => (await import("./import.ts")).exportStream),
  },
  {
    name: "verify",
    summary: "check the file, and decode and hash every artifact",
    parameters: [FILE],
    options: [JSON_OPTION],
    run: lazy(async () => (await import("./maintenance.ts")).verify),
  },
  {
    name: "rebuild",
    summary: "recompute every derived table",
    parameters: [FILE],
    options: [
      {
        flags: "--drop-missing",
        summary: "delete deltas of contents that the file lacks, and names that no artifact has",
      },
      JSON_OPTION,
    ],
    run: lazy(async () => (await import("./maintenance.ts")).rebuild),
  },
];

export const FOSSIL: Group = {
  commands: [...READING_COMMANDS, ...WRITING_COMMANDS, ...WHOLE_COMMANDS],
  examples: [
    { line: "fossil init work.fossil", purpose: "Make a repository" },
    {
      line: 'fossil commit work.fossil --from folder -m "First files"',
      purpose: "Commit the files of a folder",
    },
    { line: "fossil timeline work.fossil -n 5", purpose: "Show the newest check-ins" },
    { line: "fossil cat work.fossil README.md", purpose: "Print a file" },
  ],
  notes: [
    "The fossil program is not needed, and works on the same files.",
  ],
};
