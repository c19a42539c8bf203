/** The command line of the MCP Inspector. */
import { join } from "node:path";
import { everyTool, type McpConnection, stdioLaunch, type Wire } from "./foreign_mcp.ts";
import { LineClient } from "./line_client.ts";
import { mcpClients } from "./peers.ts";
import type { Program } from "./program.ts";

/** What one run of the command line wrote, and why it failed. */
interface Run {
  readonly output: string;
  readonly error: string | null;
}

/** The versions of the protocol: with a session, and without. */
export type Era = "legacy" | "modern";

export interface InspectorOptions {
  readonly program: Program;
  readonly wire: Wire;
  readonly token: string;
  readonly era: Era;
  /** Where the Inspector keeps its files. */
  readonly home: string;
}

/** The folder of the Inspector's package. */
export function inspectorFolder(): string {
  return join(mcpClients(), "node_modules", "@modelcontextprotocol", "inspector");
}

/** A run of the Inspector's command line for each list and call, each with a connection of its own. */
export function openInspector(options: InspectorOptions): Omit<McpConnection, "revision"> {
  const { home, era } = options;
  const script = join(import.meta.dirname ?? ".", "inspector.mjs");
  const module = join(inspectorFolder(), "clients", "cli", "build", "index.js");
  const environment = { HOME: home, NO_COLOR: "1", MCP_INSPECTOR_SECRET_STORE: "memory" };
  const cli = new LineClient<Run>("node", [script, module], environment);
  const run = (...args: string[]) => cli.ask([...args, "--protocol-era", era, ...placeOf(options)]);
  return {
    tools: async () => {
      const { output, error } = await run("--method", "tools/list");
      if (error !== null) throw new Error(error);
      const { tools }: { tools: { name: string }[] } = JSON.parse(output);
      return tools.map(({ name }) => name);
    },
    call: async (name, input) => {
      const pairs = Object.entries(input).flatMap((
        [key, value],
      ) => ["--tool-arg", `${key}=${typeof value === "string" ? value : JSON.stringify(value)}`]);
      const { output, error } = await run("--method", "tools/call", "--tool-name", name, ...pairs);
      if (output === "") throw new Error(`${name}: ${error}`);
      const { content, structuredContent, isError } = JSON.parse(output);
      const text = String(content[0]?.text);
      return { failed: isError === true, text, structured: structuredContent ?? {} };
    },
    [Symbol.asyncDispose]: () => cli.close(),
  };
}

/** The arguments that name the server; they come last, because of the words behind `--`. */
function placeOf({ program, wire, token }: InspectorOptions): string[] {
  if (wire === "HTTP") {
    return [
      everyTool(program).href,
      "--transport",
      "http",
      "--header",
      `Authorization: Bearer ${token}`,
    ];
  }
  const { command, args, env } = stdioLaunch(program, token);
  const settings = { MUSTER_URL: env.MUSTER_URL, MUSTER_TOKEN: env.MUSTER_TOKEN };
  // The runtime's cache is in the home of the test, not in the Inspector's.
  const all = { ...settings, HOME: Deno.env.get("HOME") ?? "" };
  const pairs = Object.entries(all).flatMap(([name, value]) => ["-e", `${name}=${value}`]);
  return [...pairs, "--", command, ...args];
}
