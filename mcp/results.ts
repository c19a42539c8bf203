import type { CallToolResult, Tool as ToolListing } from "@modelcontextprotocol/server";
import type { Log } from "../services/log.ts";
import type { Metrics } from "../services/metrics/mod.ts";
import { instructionsFor } from "./instructions.ts";
import { callTool, type Tool, type ToolContext } from "./tool.ts";
import { Toolbox } from "./toolbox.ts";

/** The revisions that a client may request with `initialize`. The first is the default. */
export const INITIALIZED_REVISIONS: readonly string[] = [
  "2024-11-05",
  "2025-03-26",
  "2025-06-18",
  "2025-11-25",
];
export const OLDEST_REVISION = "2024-11-05";
export const STATELESS_REVISION = "2026-07-28";
/** The first revision with structured results. */
const STRUCTURED_REVISION = "2025-06-18";

export const SERVER_INFO = { name: "muster", version: "0.1" };
export const CAPABILITIES = { tools: {} };

/** How much of an unknown name an error repeats. */
export const MAX_SHOWN_NAME = 100;

/** The caller, and the protocol revision of the answer. */
export interface Session {
  readonly context: ToolContext;
  readonly revision: string;
}

/** The results of the protocol's methods, for any transport. */
export class Results {
  readonly #tools: Toolbox;
  readonly #log: Log;
  readonly #metrics: Pick<Metrics, "toolCalled">;

  /** @param tools as for {@link Toolbox} */
  constructor(
    tools: readonly Tool[],
    services: { readonly log: Log; readonly metrics: Pick<Metrics, "toolCalled"> },
  ) {
    this.#tools = new Toolbox(tools);
    this.#log = services.log;
    this.#metrics = services.metrics;
  }

  /** The instructions for the client's model; the contract has none for the oldest revision. */
  instructions({ context, revision }: Session): string | undefined {
    return revision === OLDEST_REVISION ? undefined : instructionsFor(context.caller.principal);
  }

  /** The tools that the caller may call, as `tools/list` shows them. */
  list({ context, revision }: Session): ToolListing[] {
    return this.#tools.openTo(context.caller.principal).map(({ listing, outputSchema }) =>
      knowsStructure(revision) ? { ...listing, outputSchema } : listing
    );
  }

  /** The tool of this name as {@link Toolbox.find} finds it. */
  find(name: string, { context }: Session): Tool | null {
    return this.#tools.find(name, context.caller.principal);
  }

  /** Calls a tool. Never throws: a failure is also a result. */
  async call(
    tool: Tool,
    input: Record<string, unknown>,
    { context, revision }: Session,
  ): Promise<CallToolResult> {
    const started = performance.now();
    const result = await callTool(tool, input, context, this.#log);
    const seconds = (performance.now() - started) / 1000;
    this.#metrics.toolCalled(tool.name, result.isError === true ? "error" : "ok", seconds);
    if (knowsStructure(revision)) return result;
    const { structuredContent: _unknown, ...plain } = result;
    return plain;
  }
}

/** The error for a call of an unknown tool. */
export function unknownTool(name: string): string {
  return `There is no tool "${name.slice(0, MAX_SHOWN_NAME)}"; tools/list names all`;
}

/** Whether a revision, which is a date, has structured results and their schemas. */
function knowsStructure(revision: string): boolean {
  return revision >= STRUCTURED_REVISION;
}
