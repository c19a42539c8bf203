import { type Command, Option } from "commander";
import { checkinOption, checkNumber, jsonOption, limitOption, offsetOption } from "./options.ts";

/** Commands that read a repository. */
export function addReadingCommands(fossil: Command): void {
  addLists(fossil);
  addFiles(fossil);
  addDifferences(fossil);
}

function addLists(fossil: Command): void {
  fossil.command("info <file>")
    .description("what a repository holds; with --checkin, what a check-in is")
    .option("--checkin <name>", "a check-in")
    .addOption(jsonOption())
    .action(async (file, options) => await (await import("./info.ts")).info(file, options));
  fossil.command("timeline <file>")
    .description("check-ins, newest first")
    .addOption(limitOption())
    .addOption(offsetOption())
    .option("--branch <name>", "only those of a branch")
    .option("--user <login>", "only those of a user")
    .option("--path <path>", "only those that change a file")
    .option("--before <date>", "only what is older than a date or a check-in")
    .option("--after <date>", "only what is newer than a date or a check-in")
    .addOption(
      new Option("--kind <kind...>", "everything of these kinds, instead of check-ins")
        .choices(["checkin", "wiki", "ticket", "technote", "forum", "tag"])
        .conflicts(["branch", "path"]),
    )
    .addOption(jsonOption())
    .action(async (file, options) => await (await import("./timeline.ts")).timeline(file, options));
  fossil.command("branches <file>")
    .description("all branches")
    .addOption(jsonOption())
    .action(async (file, options) => await (await import("./branches.ts")).branches(file, options));
  fossil.command("tags <file>")
    .description("all names of check-ins that are no branches")
    .addOption(jsonOption())
    .action(async (file, options) => await (await import("./branches.ts")).tags(file, options));
  fossil.command("search <file> <words...>")
    .description('search comments, tickets, wiki and files; "a phrase", prefix* and -without work')
    .addOption(limitOption())
    .addOption(offsetOption())
    .addOption(
      new Option("--kind <kind...>", "only these kinds")
        .choices(["checkin", "ticket", "wiki", "technote", "forum", "code"]),
    )
    .addOption(jsonOption())
    .action(async (file, words, options) => {
      await (await import("./search.ts")).search(file, words, options);
    });
}

function addFiles(fossil: Command): void {
  fossil.command("ls <file> [path]")
    .description("every file of a check-in, or of a folder in it")
    .addOption(checkinOption())
    .option("-l, --long", "with mode, size and last change")
    .addOption(jsonOption())
    .action(async (file, path, options) => {
      await (await import("./tree.ts")).listFiles(file, path, options);
    });
  fossil.command("cat <file> <path>")
    .description("the content of a file")
    .addOption(checkinOption())
    .action(async (file, path, options) => {
      await (await import("./tree.ts")).printFile(file, path, options);
    });
  fossil.command("archive <file>")
    .description("all files of a check-in in one file")
    .addOption(checkinOption())
    .addOption(
      new Option("--format <format>", "of the archive").choices(["zip", "tar.gz"]).default("zip"),
    )
    .option("--folder <name>", "the folder that everything is in")
    .option("-o, --output <file>", "where to write it (default: standard output)")
    .action(async (file, options) => await (await import("./tree.ts")).archive(file, options));
}

function addDifferences(fossil: Command): void {
  fossil.command("diff <file> [path]")
    .description("what differs between two check-ins, as unified diffs")
    .option("--from <name>", "the older check-in (default: the parent of the newer one)")
    .option("--to <name>", "the newer check-in (default: the tip of trunk)")
    .option("--context <lines>", "lines around each change", checkNumber, 3)
    .addOption(jsonOption())
    .action(async (file, path, options) => {
      await (await import("./changes.ts")).diff(file, path, options);
    });
  fossil.command("blame <file> <path>")
    .description("each line of a file with the check-in that last changed it")
    .addOption(checkinOption())
    .addOption(jsonOption())
    .action(async (file, path, options) => {
      await (await import("./changes.ts")).blame(file, path, options);
    });
  fossil.command("history <file> <path>")
    .description("the check-ins that changed a file, newest first")
    .addOption(checkinOption())
    .addOption(limitOption())
    .addOption(offsetOption())
    .addOption(jsonOption())
    .action(async (file, path, options) => {
      await (await import("./timeline.ts")).history(file, path, options);
    });
}
