/** An agent that has nothing but a client of MCP. */
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Credentials } from "./api.ts";
import type { Program } from "./program.ts";
import type { Structured } from "./tool_steps.ts";

/** A connection of an agent to the MCP endpoint. */
export class McpAgent implements AsyncDisposable {
  readonly #client: Client;
  readonly nick: string;

  private constructor(client: Client, nick: string) {
    this.#client = client;
    this.nick = nick;
  }

  /** Connects with the agent's passphrase. */
  static async connect(
    { mcp }: Pick<Program, "mcp">,
    { nick, passphrase }: Credentials,
  ): Promise<McpAgent> {
    const client = new Client({ name: "model", version: "1" });
    const requestInit = { headers: { authorization: `Basic ${btoa(`${nick}:${passphrase}`)}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit }));
    return new McpAgent(client, nick);
  }

  /** What the server told the client about itself and its user. */
  get instructions(): string {
    return this.#client.getInstructions() ?? "";
  }

  /** Calls a tool, which must succeed; gives the texts of its result. */
  async texts(tool: string, input: Record<string, unknown> = {}): Promise<string[]> {
    const { content, isError } = await this.#client.callTool({ name: tool, arguments: input });
    const texts = content.map((part) => part.type === "text" ? part.text : "");
    assert.equal(isError, false, `${tool}: ${texts.join("\n")}`);
    return texts;
  }

  /** Calls a tool, which must succeed; gives its structured result. */
  async call(tool: string, input: Record<string, unknown> = {}): Promise<Structured> {
    const result = await this.#client.callTool({ name: tool, arguments: input });
    assert.equal(result.isError, false, `${tool}: ${JSON.stringify(result.content)}`);
    return (result.structuredContent ?? {}) as Structured;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
  }
}
