import { CLIENT_COMMANDS } from "./clients/mod.ts";
import { type Group, lazy } from "./command_line/mod.ts";
import { URL_OPTION } from "./options.ts";

/** `muster mcp`: the tools for agents' clients. */
export const MCP: Group = {
  default: "serve",
  commands: [
    {
      name: "serve",
      summary: 'answer a client on standard input and output; "muster mcp" alone does this',
      options: [URL_OPTION, {
        flags: "--tools <sets>",
        summary:
          "list these sets of tools, such as work,review, or all (default: work for an agent, else all)",
      }],
      notes: [
        "Without a server, the services of the data folder run in this process and listen nowhere. " +
        "No server can start with this folder meanwhile.",
        "MUSTER_TOKEN decides who calls, or else the file that MUSTER_TOKEN_FILE names. Without " +
        "both, the operator of the data folder calls.",
      ],
      examples: [
        { line: "mcp", purpose: "For a client's configuration: the server of this data folder" },
        { line: "mcp --url https://muster.example", purpose: "A server elsewhere" },
        { line: "mcp --tools all", purpose: "Every tool, for a client that searches tools" },
      ],
      run: lazy(async () => (await import("./mcp_serve.ts")).serveMcp),
    },
    ...CLIENT_COMMANDS,
  ],
};
