import type { Command } from "commander";
import { jsonOption, userOption } from "./options.ts";

/** Commands that make a repository or go over the whole of one. */
export function addWholeCommands(fossil: Command): void {
  fossil.command("init <file>")
    .description("make a repository with its first, empty check-in")
    .addOption(userOption())
    .option("--project-name <name>", "the project's name")
    .option("--description <text>", "what the project is")
    .addOption(jsonOption())
    .action(async (file, options) => await (await import("./maintenance.ts")).init(file, options));
  fossil.command("import <file>")
    .description('make a repository of the "git fast-export" stream on standard input')
    .addOption(userOption())
    .option("--main-branch <name>", 'the Git branch that becomes "trunk"')
    .option("--project-name <name>", "the project's name")
    .addOption(jsonOption())
    .action(async (file, options) => {
      await (await import("./import.ts")).importStream(file, options);
    });
  fossil.command("export <file>")
    .description('write a stream for "git fast-import" to standard output')
    .option("--main-branch <name>", 'the Git branch that "trunk" becomes')
    .action(async (file, options) => {
      await (await import("./import.ts")).exportStream(file, options);
    });
  fossil.command("verify <file>")
    .description("decode and hash every artifact")
    .addOption(jsonOption())
    .action(async (file, options) => {
      await (await import("./maintenance.ts")).verify(file, options);
    });
  fossil.command("rebuild <file>")
    .description("compute every derived table anew")
    .addOption(jsonOption())
    .action(async (file, options) => {
      await (await import("./maintenance.ts")).rebuild(file, options);
    });
}
