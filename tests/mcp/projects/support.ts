/** Calls of the tools for projects, over HTTP. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import assert from "node:assert/strict";
import { join } from "node:path";
import { ownName } from "../../../mcp/names.ts";
import { createMcpHandler, type McpHandler } from "../../../mcp/mod.ts";
import { createApi } from "../../../routes/app.ts";
import { type TestProject, withProject } from "../../support/projects.ts";
import type { TokenRequest } from "../../../services/people/identity/mod.ts";
import { BY_OPERATOR, type TestServicesOptions } from "../../support/services.ts";

/** The revision of these tests: it has structured results. */
const REVISION = "2025-06-18";

export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: {
    readonly properties: Readonly<Record<string, { readonly description?: string }>>;
    readonly required?: readonly string[];
  };
  readonly outputSchema: object;
  readonly annotations: Readonly<Record<string, boolean>>;
}

/** The result of a call that a test looks at. */
export interface ToolResult {
  readonly text: string;
  readonly data: ReturnType<typeof JSON.parse>;
}

/** A project with the tools of the MCP server. */
export interface ToolTest extends TestProject {
  /** `Authorization` of the operator. */
  readonly operator: string;
  /** Sends JSON-RPC; returns the result. The caller is the agent `caller` by default. */
  rpc(
    method: string,
    params: object,
    as?: string,
    revision?: string,
    asked?: AskedTools,
  ): Promise<unknown>;
  /** Every tool that a caller may list. */
  tools(as?: string): Promise<readonly ListedTool[]>;
  /** `Authorization` of a new token: of an account, or for a project. */
  token(request: Partial<TokenRequest>): Promise<string>;
  /**
   * Calls a tool that must succeed. Compares the text with the structured result, and that with the
   * tool's schema.
   */
  use(name: string, input?: object, as?: string): Promise<ToolResult>;
  /** Calls a tool that must fail; returns the error. */
  fail(name: string, input?: object, as?: string): Promise<string>;
}

interface CallResult {
  readonly content: readonly { readonly type: string; readonly text: string }[];
  readonly structuredContent?: unknown;
  readonly isError: boolean;
}

/** Runs a test on the tools of a new private project, `demo`. */
export async function withTools(
  run: (test: ToolTest) => Promise<void>,
  options?: TestServicesOptions,
): Promise<void> {
  await withProject(async (project) => {
    const { services, metrics } = project.api;
    const { projects: projectApi } = createApi({ ...services, metrics });
    const handler = createMcpHandler({ ...services, all: services, metrics, projectApi });
    const token = await Deno.readTextFile(join(services.folder, "api_token"));
    await run(new Tools(project, handler, `Bearer ${token}`).test());
  }, options);
}

/** Which tools a client asks to list. */
interface AskedTools {
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A result without what texts say shorter: whole hashes, and times. */
function shortened(result: unknown): unknown {
  const text = JSON.stringify(result, (field, value) => {
    if (/_(?:at|time)$|^(?:created|last_modified|timestamp|date)$/.test(field)) return null;
    const isHash = typeof value === "string" && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value);
    return isHash ? value.slice(0, 12) : value;
  });
  return JSON.parse(text ?? "null");
}

class Tools {
  readonly #project: TestProject;
  readonly #handler: McpHandler;
  readonly #operator: string;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(project: TestProject, handler: McpHandler, operator: string) {
    this.#project = project;
    this.#handler = handler;
    this.#operator = operator;
  }

  test(): ToolTest {
    return {
      ...this.#project,
      operator: this.#operator,
      rpc: (...request) => this.#rpc(...request),
      tools: (as) => this.#tools(as),
      token: (request) => this.#token(request),
      use: async (name, input = {}, as) => {
        const result = await this.#call(name, input, as);
        const [{ text = "" } = {}] = result.content;
        assert.equal(result.isError, false, `${name}: ${text}`);
        assert.deepEqual(shortened(JSON.parse(text)), shortened(result.structuredContent));
        await this.#check(name, result.structuredContent);
        return { text, data: result.structuredContent };
      },
      fail: async (name, input = {}, as) => {
        const result = await this.#call(name, input, as);
        const [{ text = "" } = {}] = result.content;
        assert.equal(result.isError, true, `${name}: ${text}`);
        assert.equal(result.structuredContent, undefined);
        return text;
      },
    };
  }

  async #rpc(
    method: string,
    params: object,
    as = this.#project.caller,
    revision = REVISION,
    { query = "", headers = {} }: AskedTools = {},
  ) {
    const request = new Request(`http://127.0.0.1:8081/mcp${query}`, {
      method: "POST",
      headers: { authorization: as, "mcp-protocol-version": revision, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    const response = await this.#handler(request, "127.0.0.1");
    const { result, error } = await response.json();
    assert.equal(error, undefined, JSON.stringify(error));
    return result;
  }

  async #tools(as?: string): Promise<readonly ListedTool[]> {
    const { tools } = await this.#rpc("tools/list", {}, as, REVISION, { query: "?tools=all" });
    return tools;
  }

  async #token(request: Partial<TokenRequest>): Promise<string> {
    const absent = { owner: null, project: null, expires_at: null };
    const { tokens, hosting: { projects } } = this.#project.api.services;
    const { token } = await tokens.create(
      { ...absent, name: "test", scopes: ["read"], ...request },
      BY_OPERATOR,
      (slug) => projects.find(slug)?.project.id ?? null,
    );
    return `Bearer ${token}`;
  }

  async #call(name: string, input: object, as?: string): Promise<CallResult> {
    return await this.#rpc("tools/call", { name, arguments: input }, as);
  }

  /** Compares an answer with the schema that the operator sees. */
  async #check(name: string, data: unknown): Promise<void> {
    if (this.#validators.size === 0) {
      const ajv = new Ajv2020({ strict: false, validateFormats: false });
      const few = { query: "?tools=work" };
      const work = await this.#rpc("tools/list", {}, this.#operator, REVISION, few);
      for (const { name, outputSchema } of [...await this.#tools(this.#operator), ...work.tools]) {
        this.#validators.set(ownName(name), ajv.compile(outputSchema));
      }
    }
    const validate = this.#validators.get(ownName(name));
    assert.ok(validate !== undefined, `${name} is listed`);
    assert.ok(validate(data), `${name}: ${JSON.stringify(validate.errors)}`);
  }
}
