import { type Command, Option } from "commander";
import {
  checkDate,
  collect,
  jsonOption,
  limitOption,
  offsetOption,
  userOption,
} from "./options.ts";

/** Commands that write into a repository. */
export function addWritingCommands(fossil: Command): void {
  addCommit(fossil);
  addMerge(fossil);
  addNames(fossil);
  addAmend(fossil);
  addDocuments(fossil);
}

function addCommit(fossil: Command): void {
  fossil.command("commit <file>")
    .description("make a check-in whose files are those of a folder")
    .requiredOption("--from <folder>", "the whole new tree; .git and the like are passed over")
    .requiredOption("-m, --message <text>", "what was done")
    .addOption(userOption())
    .option("--branch <name>", "the branch; a new one starts at --parent (default: trunk)")
    .option("--parent <name>", "the check-in before (default: the tip of the branch, or of trunk)")
    .option("--tag <name>", "a name for the check-in; can be given several times", collect)
    .option("--close", "end the branch with this check-in")
    .option("--allow-empty", "even where nothing has changed")
    .option("--allow-fork", "even where the parent has a child on its branch")
    .addOption(jsonOption())
    .action(async (file, options) => await (await import("./commit.ts")).commit(file, options));
}

function addMerge(fossil: Command): void {
  fossil.command("merge <file> <name>")
    .description("merge a branch or check-in, or nothing at all where files are in conflict")
    .option("--into <branch>", "the branch that is merged into (default: trunk)")
    .option("-m, --message <text>", "instead of a sentence that names what is merged")
    .addOption(new Option("--integrate", "close the merged branch"))
    .addOption(
      new Option("--cherrypick", "take the changes of that check-in alone").conflicts("integrate"),
    )
    .addOption(
      new Option("--backout", "take the changes of that check-in away")
        .conflicts(["integrate", "cherrypick"]),
    )
    .option("--dry-run", "only say what would be done")
    .addOption(userOption())
    .addOption(jsonOption())
    .action(async (file, name, options) => {
      await (await import("./merge.ts")).merge(file, name, options);
    });
}

function addNames(fossil: Command): void {
  fossil.command("tag <file> <name> [checkin]")
    .description("give a check-in a name (default: the tip of trunk)")
    .option("-m, --message <text>", "what it stands for")
    .option("--move", "take the name from the check-in that has it")
    .option("--cancel", "take the name away from every check-in")
    .addOption(userOption())
    .addOption(jsonOption())
    .action(async (file, name, checkin, options) => {
      await (await import("./branches.ts")).tag(file, name, checkin, options);
    });
  fossil.command("branch <file> <name>")
    .description("start a branch, close it or open it again")
    .addOption(
      new Option("--from <checkin>", "where it starts (default: the tip of trunk)")
        .conflicts(["close", "reopen"]),
    )
    .option("--color <color>", "its colour in Fossil's own pages")
    .addOption(new Option("--close", "end it").conflicts("reopen"))
    .option("--reopen", "open it again")
    .addOption(userOption())
    .addOption(jsonOption())
    .action(async (file, name, options) => {
      await (await import("./branches.ts")).branch(file, name, options);
    });
}

function addAmend(fossil: Command): void {
  fossil.command("amend <file> <checkin>")
    .description("change what is shown of a check-in")
    .option("-m, --message <text>", "another comment")
    .option("--author <login>", "another author")
    .option("--date <date>", "another date, UTC", checkDate)
    .option("--branch <name>", "move it, and what follows on its branch, to another branch")
    .option("--color <color>", "a background colour; an empty one takes it away")
    .addOption(new Option("--close", "end its branch here").conflicts("reopen"))
    .option("--reopen", "open its branch again")
    .addOption(new Option("--hide", "leave it out of timelines").conflicts("show"))
    .option("--show", "show it again")
    .addOption(userOption())
    .addOption(jsonOption())
    .action(async (file, checkin, options) => {
      await (await import("./amend.ts")).amend(file, checkin, options);
    });
}

function addDocuments(fossil: Command): void {
  fossil.command("wiki <file> [page]")
    .description("list the wiki pages, show one, or write one from standard input")
    .addOption(new Option("--write", "read the page's new text").conflicts(["delete", "history"]))
    .addOption(new Option("--delete", "delete the page").conflicts("history"))
    .option("--history", "list the page's versions")
    .option("--at <hash>", "show an older version")
    .option("--mimetype <type>", 'such as "text/x-markdown" (default: Fossil\'s own markup)')
    .option("-m, --message <text>", "what was changed")
    .addOption(userOption())
    .addOption(jsonOption())
    .action(async (file, page, options) => {
      await (await import("./wiki.ts")).wiki(file, page, options);
    });
  fossil.command("ticket <file> [id]")
    .description("list the tickets, show one, make one or change one")
    .option("--new", "make a ticket")
    .option("--set <name=value>", "set a field; can be given several times", collect)
    .option("--append <name=value>", "append to a field; can be given several times", collect)
    .option("--status <status>", "list only those with a status")
    .addOption(limitOption())
    .addOption(offsetOption())
    .addOption(userOption())
    .addOption(jsonOption())
    .action(async (file, id, options) => {
      await (await import("./ticket.ts")).ticket(file, id, options);
    });
}
