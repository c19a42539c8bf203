/** The official clients of MCP, over HTTP and over standard input and output. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OlderStdio } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  StreamableHTTPClientTransport as OlderHttp,
} from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { LineClient } from "./line_client.ts";
import { mcpClients } from "./peers.ts";
import { musterWords, type Program } from "./program.ts";
import type { Structured } from "./tool_steps.ts";

const INFO = { name: "test", version: "1" };

/** What came of a call. */
export interface ToolOutcome {
  readonly failed: boolean;
  readonly text: string;
  readonly structured: Structured;
}

/** A connected client. */
export interface McpConnection extends AsyncDisposable {
  readonly revision: string | undefined;
  tools(): Promise<readonly string[]>;
  call(name: string, input: Record<string, unknown>): Promise<ToolOutcome>;
}

/** How a client reaches a program. */
export type Wire = "HTTP" | "stdio";

/** A kind of client. */
export interface ForeignClient {
  readonly name: string;
  /** The revision that it agrees on with muster. */
  readonly revision: string;
  /** The programs of other projects that it needs. */
  readonly peers: readonly string[];
  connect(program: Program, wire: Wire, token: string): Promise<McpConnection>;
}

export const FOREIGN_CLIENTS: readonly ForeignClient[] = [
  { name: "the older SDK", revision: "2025-11-25", peers: [], connect: connectOlder },
  newer("the SDK with initialize", "2025-11-25", "legacy"),
  newer("the SDK without a session", "2026-07-28", { pin: "2026-07-28" }),
  python("the Python SDK with initialize", "2025-11-25", "legacy"),
  python("the Python SDK without a session", "2026-07-28", "2026-07-28"),
];

/** The command line and the environment of `muster mcp` for a program. */
export function stdioLaunch(program: Program, token: string) {
  const [command, ...args] = musterWords();
  const inherited = Object.entries(Deno.env.toObject()).filter(([key]) =>
    !key.startsWith("MUSTER_")
  );
  const env = {
    ...Object.fromEntries(inherited),
    XDG_CACHE_HOME: join(program.folder, "cache"),
    MUSTER_URL: program.api,
    MUSTER_TOKEN: token,
  };
  return { command, args: [...args, "mcp", "--tools", "all"], env };
}

/** The address at which an agent lists all of its tools. */
export function everyTool({ mcp }: Pick<Program, "mcp">): URL {
  return new URL("?tools=all", mcp);
}

function headersOf(token: string) {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

async function connectOlder(program: Program, wire: Wire, token: string): Promise<McpConnection> {
  const client = new OlderClient(INFO);
  const transport: Transport = wire === "HTTP"
    ? new OlderHttp(everyTool(program), headersOf(token))
    : new OlderStdio(stdioLaunch(program, token));
  const revisions: string[] = [];
  const agreed = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version: string) => {
    revisions.push(version);
    agreed?.(version);
  };
  await client.connect(transport);
  return {
    revision: revisions[0],
    tools: async () => {
      const { tools } = await client.listTools();
      return tools.map(({ name }: { readonly name: string }) => name);
    },
    call: async (name, input) => outcomeOf(await client.callTool({ name, arguments: input })),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

type Mode = "legacy" | { readonly pin: string };

function newer(name: string, revision: string, mode: Mode): ForeignClient {
  return {
    name,
    revision,
    peers: [],
    async connect(program, wire, token) {
      const client = new Client(INFO, { versionNegotiation: { mode } });
      await client.connect(
        wire === "HTTP"
          ? new StreamableHTTPClientTransport(everyTool(program), headersOf(token))
          : new StdioClientTransport(stdioLaunch(program, token)),
      );
      return {
        revision: client.getNegotiatedProtocolVersion(),
        tools: async () => (await client.listTools()).tools.map(({ name }) => name),
        call: async (name, input) => outcomeOf(await client.callTool({ name, arguments: input })),
        [Symbol.asyncDispose]: () => client.close(),
      };
    },
  };
}

function outcomeOf(result: Record<string, unknown>): ToolOutcome {
  const { content, isError, structuredContent } = result;
  assert.ok(Array.isArray(content));
  const structured = (structuredContent ?? {}) as Structured;
  return { failed: isError === true, text: String(content[0]?.text), structured };
}

function python(name: string, revision: string, mode: string): ForeignClient {
  return {
    name,
    revision,
    peers: ["mcp clients"],
    async connect(program, wire, token) {
      const authorization = `Bearer ${token}`;
      const place = wire === "HTTP"
        ? { url: everyTool(program).href, authorization }
        : stdioLaunch(program, token);
      const process = new LineClient<PythonAnswer>(join(mcpClients(), "bin", "python"), [
        join(import.meta.dirname ?? ".", "mcp_client.py"),
      ]);
      await process.write({ mode, ...place });
      const first = await process.ask({});
      return {
        revision: first.revision,
        tools: async () => (await process.ask({})).tools ?? [],
        call: async (name, input) => {
          const { failed, text, structured } = await process.ask({ name, arguments: input });
          return { failed: failed === true, text: text ?? "", structured: structured ?? {} };
        },
        [Symbol.asyncDispose]: () => process.close(),
      };
    },
  };
}

/** An answer of `mcp_client.py`. */
interface PythonAnswer {
  readonly revision?: string;
  readonly tools?: readonly string[];
  readonly failed?: boolean;
  readonly text?: string;
  readonly structured?: Structured | null;
}
