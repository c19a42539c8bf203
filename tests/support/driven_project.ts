/** A running program with a project, for clients that call its tools. */
import assert from "node:assert/strict";
import { call, registerAgent } from "./api.ts";
import type { McpConnection } from "./foreign_mcp.ts";
import { type Program, type ProgramOptions, startProgram } from "./program.ts";
import { TOOL_STEPS, type ToolState } from "./tool_steps.ts";

/** The tools of the contract and of issue 13; there are more. */
const FEWEST_TOOLS = 47;

/** A program with the project `demo`, whose members `scout` and `other` may do everything in it. */
export async function startWithProject(
  options?: ProgramOptions,
): Promise<{ program: Program; token: string }> {
  const program = await startProgram(options);
  const body = { slug: "demo", name: "Demo", description: "", visibility: "private" };
  assert.equal((await call(program, "POST", "/v1/projects", body)).status, 201);
  for (const nick of ["scout", "other"]) {
    await registerAgent(program, nick, { channels: ["general"] });
    const path = `/v1/projects/demo/members/${nick}`;
    assert.ok((await call(program, "PUT", path, { role: "admin" })).ok);
  }
  const api = "/projects/demo/fossil/api/workspaces";
  const changes = [{ path: "seed.txt", content: "one\ntwo\n" }];
  const steps = [["create", { name: "seed" }], ["seed/commit", {
    message: "Seed",
    changes,
  }]] as const;
  for (const [path, sent] of [...steps, ["seed/merge", {}] as const]) {
    assert.ok((await call(program, "POST", `${api}/${path}`, sent)).ok, path);
  }
  const request = { owner: "scout", name: "test", scopes: ["read", "write"] };
  const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();
  return { program, token };
}

/**
 * Calls every tool that a client lists, in an order in which each finds what it needs.
 *
 * @param run a word that makes names unique
 * @param chosen the tools to call; by default, all that are listed
 */
export async function driveTools(
  connection: Pick<McpConnection, "tools" | "call">,
  run: string,
  chosen?: readonly string[],
): Promise<void> {
  const listed = new Set(await connection.tools());
  const steps = TOOL_STEPS.filter(({ tool }) => listed.has(tool));
  const known = new Set(steps.map(({ tool }) => tool));
  assert.ok(listed.size >= FEWEST_TOOLS, `${listed.size} tools are listed`);
  assert.deepEqual(known, listed, "Each tool needs an entry in tests/support/tool_steps.ts");
  const state: ToolState = { run, ticket: "", message: "", question: 0, review: 0, tip: "" };
  for (const { tool, input, learn, refusal } of steps) {
    if (chosen !== undefined && !chosen.includes(tool)) continue;
    const { failed, text, structured } = await connection.call(tool, input(state));
    if (failed && refusal !== undefined) assert.match(text, refusal, tool);
    else assert.equal(failed, false, `${tool}: ${text}`);
    if (!failed) learn?.(structured, state);
  }
}
