/** The commands that set up clients of MCP. */
import { type Command, lazy, type Option } from "../command_line/mod.ts";
import { URL_OPTION } from "../options.ts";
import { CLIENT_NAMES } from "./client.ts";

const CLIENT = {
  usage: "<client>",
  choices: CLIENT_NAMES,
};

const NAME_OPTION: Option = {
  flags: "--name <name>",
  summary: "the entry's name in the client",
  default: "muster",
};

const PROJECT_OPTION: Option = {
  flags: "--project",
  summary: "in the files of this folder, which its members share, instead of your own",
};

const YES_OPTION: Option = { flags: "--yes", summary: "write without a question" };

/** `muster mcp install` and `muster mcp uninstall`. */
export const CLIENT_COMMANDS: readonly Command[] = [
  {
    name: "install",
    summary: "add muster to a client: shows the change, asks, and keeps a copy of the file",
    parameters: [CLIENT],
    options: [
      {
        flags: "--agent <nick>",
        summary: "the agent that the client acts as; the operator registers it and its token",
      },
      { flags: "--channels <names>", summary: "channels of a new agent, separated by commas" },
      { flags: "--token-stdin", summary: "read the agent's token from standard input" },
      PROJECT_OPTION,
      { flags: "--http", summary: "let the client call /mcp itself, instead of starting muster" },
      {
        flags: "--mcp-url <url>",
        summary: "the URL of the tools (default: that of this data folder's server, or /mcp)",
      },
      { flags: "--hooks", summary: "also show the agent its inbox, with the client's hooks" },
      {
        flags: "--allow",
        summary: "let the client use the tools without asking, but for operators' and final ones",
      },
      {
        flags: "--gateway",
        summary: "let the client call its models through the server: claude and codex",
      },
      NAME_OPTION,
      { flags: "--print", summary: "print the entry and change nothing", conflicts: ["yes"] },
      YES_OPTION,
      URL_OPTION,
    ],
    examples: [
      { line: "mcp install claude --agent scout --hooks", purpose: "Claude Code works as scout" },
      {
        line: "mcp install claude --agent scout --hooks --allow",
        purpose: "The same, where nobody watches",
      },
      { line: "mcp install codex --agent scout --http", purpose: "Codex, over HTTP" },
      {
        line: "mcp install codex --agent scout --gateway",
        purpose: "Codex, whose models are counted and limited too",
      },
      { line: "mcp install vscode --project", purpose: "For everybody who opens this folder" },
    ],
    notes: [
      "No file of a client ever contains a token. A program that the client starts reads the token " +
      "from a file that only you can read. With --http or --project, the entry refers to the " +
      "variable MUSTER_TOKEN; Visual Studio Code asks for the token.",
    ],
    run: lazy(async () => (await import("./install.ts")).install),
  },
  {
    name: "uninstall",
    summary: "remove muster and all that came with it; the agent's token stays valid",
    parameters: [CLIENT],
    options: [PROJECT_OPTION, NAME_OPTION, YES_OPTION],
    run: lazy(async () => (await import("./install.ts")).uninstall),
  },
];
