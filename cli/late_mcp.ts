import type { McpHandler, McpServices } from "../mcp/mod.ts";

/**
 * The MCP server, which is loaded after the start, or by the first call: its schemas are many, and
 * the start needs none of them.
 */
export class LateMcp {
  readonly #services: McpServices;
  readonly #listens: string;
  #loading: Promise<McpHandler> | null = null;

  /** @param listens the configured address of the listener */
  constructor(services: McpServices, listens: string) {
    this.#services = services;
    this.#listens = listens;
  }

  /** Answers a request, as the handler of MCP does. */
  async handle(...request: Parameters<McpHandler>): Promise<Response> {
    return await (await this.#load())(...request);
  }

  /** Loads and prepares what the first call would otherwise wait for. */
  async prepare(): Promise<void> {
    await (await this.#load()).prepare();
  }

  #load(): Promise<McpHandler> {
    return this.#loading ??= this.#create();
  }

  async #create(): Promise<McpHandler> {
    const { createMcpHandler } = await import("../mcp/mod.ts");
    return createMcpHandler(this.#services, this.#listens);
  }
}
