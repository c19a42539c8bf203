/**
 * Writes what follows from the tools of MCP: their rows in `docs/mcp.md`, and the index of those that
 * operations on the server are, so that the start loads no operation; the names of all, for clients'
 * permissions. Part of `deno task reference`.
 */
import { mayDo, type Principal, type Scope } from "../services/people/identity/mod.ts";
import { methodOf } from "../services/people/identity/server_operation.ts";
import { configSchema } from "../services/operation/config/schemas.ts";
import { SERVER_OPERATIONS } from "../services/operation/daemon/server_operations.ts";
import { coordinationTools } from "../mcp/coordination_tools.ts";
import { declaredTools } from "../mcp/declared_tools.ts";
import { TOOLS_FOR_PROJECTS } from "../mcp/projects/mod.ts";
import { namesOf } from "../mcp/names.ts";
import { inOrder, type Tool } from "../mcp/tool.ts";
import type { AnyServerOperation } from "../mcp/tool_call.ts";
import { USE_TOOL } from "../mcp/unlisted_calls.ts";

/** Arguments of the tools for projects that a sentence names, and not the table. */
const COMMON: ReadonlySet<string> = new Set(["slug", "max_chars"]);

/** The operations on the server that are tools, with their rooms. */
async function declaredOnServer(): Promise<[string, AnyServerOperation][]> {
  const rooms = Object.entries(SERVER_OPERATIONS).map(async ([room, load]) => {
    const operations: readonly AnyServerOperation[] = Object.values(await load());
    return operations.filter(({ declared: { mcp } }) => mcp !== undefined)
      .map((operation): [string, AnyServerOperation] => [room, operation]);
  });
  return (await Promise.all(rooms)).flat();
}

/** The index of the tools that operations on the server are, before it is formatted. */
export async function operationTools(): Promise<string> {
  const rows = (await declaredOnServer()).map(([room, { declared: { mcp, runsOn, input } }]) => {
    const takesSlug = "slug" in (mcp?.takes ?? input.shape) ? true : undefined;
    return `  ${JSON.stringify(mcp?.name)}: ${JSON.stringify({ room, runsOn, takesSlug })},`;
  });
  return [
    "/** Written by `deno task reference` from the operations of services/; do not change it. */",
    "",
    "/** The tools that operations on the server are, with their rooms. */",
    "export const OPERATION_TOOLS = {",
    ...rows.sort(),
    "} as const;",
    "",
  ].join("\n");
}

/** The names of all tools, for the permissions of clients, before they are formatted. */
export async function toolNames(): Promise<string> {
  const tools = [...await toolsOnServer(), ...TOOLS_FOR_PROJECTS];
  const names = new Set([...tools.flatMap(({ name }) => namesOf(name)), USE_TOOL]);
  return [
    "/** Written by `deno task reference` from the tools of MCP; do not change it. */",
    "",
    "/** The names of all tools. */",
    "export const TOOL_NAMES: readonly string[] = [",
    ...[...names].map((name) => `  "${name}",`),
    "];",
    "",
  ].join("\n");
}

async function toolsOnServer(): Promise<readonly Tool[]> {
  const declared = (await declaredOnServer()).map(([, operation]) => operation);
  return [
    ...coordinationTools(configSchema.parse({}).bridge.buffer_size),
    ...inOrder(declaredTools(declared)),
  ];
}

/** A page with the rows of all tools between its markers, before it is formatted. */
export async function withToolTables(page: string): Promise<string> {
  return between(
    between(page, "on the server", tableOf(await toolsOnServer())),
    "in projects",
    tableOf(TOOLS_FOR_PROJECTS),
  );
}

/** A page with a table between its markers. */
function between(page: string, name: string, table: string): string {
  const begin = `<!-- tools ${name}: written by \`deno task reference\` -->\n`;
  const end = `<!-- end of tools ${name} -->`;
  const [before, rest = ""] = page.split(begin);
  const after = rest.split(end)[1];
  if (after === undefined) throw new Error(`The page lacks the markers of tools ${name}`);
  return `${before}${begin}\n${table}\n\n${end}${after}`;
}

function tableOf(tools: readonly Tool[]): string {
  const names = [...new Set(tools.map(({ name }) => name))];
  const rows = names.map((name) => {
    const same = tools.filter((tool) => tool.name === name);
    const shown = new Set(
      same.flatMap(({ listing }) =>
        Object.keys(listing.inputSchema.properties ?? {}).filter((one) => !COMMON.has(one))
      ),
    );
    const words = [...shown].map((one) => `\`${one}\``).join(", ");
    return `| \`${name}\` | ${callersOf(same)} | ${words === "" ? "none" : words} |`;
  });
  return ["| tool | for | arguments |", "| --- | --- | --- |", ...rows].join("\n");
}

/** Who may call tools of one name. */
function callersOf(tools: readonly Tool[]): string {
  const [{ head } = { head: null }] = tools;
  if (head !== null && "needs" in head) {
    return head.needs === "status" ? "`status:write` or `write`" : `\`${head.needs}\``;
  }
  const sees = (kind: Principal["kind"], ...scopes: Scope[]) =>
    tools.some((tool) => {
      const principal = principalOf(kind, scopes);
      const { head } = tool;
      if ("needs" in head) return false;
      const action = methodOf(head) === "GET" ? "read" : "write";
      return tool.sees(principal, mayDo(principal, action, { kind: head.on }));
    });
  const agents = sees("agent", "read") ? "`read`" : sees("agent", "write") ? "`write`" : null;
  const people = sees("person", "read", "write");
  if (agents === null) return people ? "people and operators" : "operators";
  if (!sees("operator")) return `agents with ${agents}`;
  return people ? `${agents}, also people` : agents;
}

function principalOf(kind: Principal["kind"], scopes: readonly Scope[]): Principal {
  const none = { project: null, tokenId: null, sessionId: null };
  return { kind, id: kind, name: kind, scopes: new Set(scopes), ...none };
}

if (import.meta.main) {
  const at = (path: string) => new URL(`../${path}`, import.meta.url);
  await Deno.writeTextFile(at("mcp/operation_tools.ts"), await operationTools());
  await Deno.writeTextFile(at("cli/clients/tool_names.ts"), await toolNames());
  const page = at("docs/mcp.md");
  await Deno.writeTextFile(page, await withToolTables(await Deno.readTextFile(page)));
}
