/** Documents from the table of commands: completion scripts, the manual page, the reference. */
import type { CommandLine, Leaf } from "../command_line/mod.ts";
import { completionFor, type Shell, SHELLS } from "./completion.ts";
import { configurationPage, referenceOf } from "./reference.ts";
import { manualOf } from "./man.ts";
import { printBytes } from "../output.ts";
import { referenceFile } from "../../services/operation/config/reference/mod.ts";

/** `muster completion`: prints the script that completes commands in a shell. */
export function completion(line: CommandLine): Leaf {
  return {
    parameters: [{ usage: "<shell>", choices: SHELLS }],
    examples: [
      { line: "completion bash >> ~/.bash_completion", purpose: "Complete in bash" },
      { line: 'completion zsh > "${fpath[1]}/_muster"', purpose: "Complete in zsh" },
      {
        line: "completion fish > ~/.config/fish/completions/muster.fish",
        purpose: "Complete in fish",
      },
    ],
    run: async (shell: Shell) => write(await completionFor(line, shell)),
  };
}

/** `muster man`: prints the manual page. */
export function manual(line: CommandLine): Leaf {
  return {
    examples: [
      {
        line: "man > /usr/local/share/man/man1/muster.1",
        purpose: "Install the manual page",
      },
    ],
    run: async () => write(await manualOf(line)),
  };
}

/** The documents that `muster reference` writes. */
const DOCUMENTS = ["commands", "configuration", "config.example.yaml"] as const;

type Document = (typeof DOCUMENTS)[number];

/** `muster reference`: prints a page of `docs/`, or `config.example.yaml`. */
export function reference(line: CommandLine): Leaf {
  return {
    parameters: [{ usage: "<document>", choices: DOCUMENTS }],
    run: async (document: Document) => {
      switch (document) {
        case "commands":
          return write(await referenceOf(line));
        case "configuration":
          return write(configurationPage());
        case "config.example.yaml":
          return write(referenceFile());
      }
    },
  };
}

function write(text: string): void {
  printBytes(new TextEncoder().encode(text));
}
