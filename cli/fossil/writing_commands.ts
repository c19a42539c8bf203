import { type Command, lazy } from "../command_line/mod.ts";
import {
  checkDate,
  FILE,
  JSON_OPTION,
  LIMIT_OPTION,
  OFFSET_OPTION,
  USER_OPTION,
} from "./options.ts";

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
  run: lazy(async () => (await import("./amend.ts")).amend),
};

const DOCUMENTS: readonly Command[] = [
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
export const WRITING_COMMANDS: readonly Command[] = [COMMIT, MERGE, ...NAMES, AMEND, ...DOCUMENTS];
