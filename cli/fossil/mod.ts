/** `muster fossil`: the Fossil engine on any repository file, without a server. */
import type { Group } from "../command_line/mod.ts";
import { READING_COMMANDS } from "./reading_commands.ts";
import { WHOLE_COMMANDS } from "./whole_commands.ts";
import { WRITING_COMMANDS } from "./writing_commands.ts";

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
