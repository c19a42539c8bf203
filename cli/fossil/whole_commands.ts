import { type Command, lazy } from "../command_line/mod.ts";
import { FILE, JSON_OPTION, USER_OPTION } from "./options.ts";

/** Commands that make a repository or process the whole of one. */
export const WHOLE_COMMANDS: readonly Command[] = [
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
      "--signed-tags=verbatim --reencode=yes.",
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
