/** `muster fossil`: the Fossil engine on any repository file, without a server. */
import type { Command } from "commander";
import { addReadingCommands } from "./reading_commands.ts";
import { addWholeCommands } from "./whole_commands.ts";
import { addWritingCommands } from "./writing_commands.ts";

/** Adds the command and everything below it; each is imported when it is asked for. */
export function addFossil(program: Command): void {
  const fossil = program.command("fossil").description("read and write Fossil repository files");
  addReadingCommands(fossil);
  addWritingCommands(fossil);
  addWholeCommands(fossil);
}
