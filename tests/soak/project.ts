/** The project of a soak: its agents, and the work that they have in common. */
import assert from "node:assert/strict";
import { call, type Server } from "../support/api.ts";
import { API, type Shared } from "./worker.ts";

const WORKERS = 8;
const CONTESTED = 3;

/** Makes the project and its agents; gives the agents' tokens. */
export async function prepare(server: Server, workers = WORKERS): Promise<string[]> {
  await expect(call(server, "POST", "/v1/projects", { slug: "soak" }));
  const tokens: string[] = [];
  for (let index = 0; index < workers; index++) {
    const nick = nameOf(index);
    await expect(call(server, "POST", "/v1/agents/register", { nick }));
    const member = call(server, "PUT", `/v1/projects/soak/members/${nick}`, { role: "write" });
    await expect(member);
    const token = { owner: nick, name: "soak", scopes: ["read", "write"] };
    tokens.push((await expect<{ token: string }>(call(server, "POST", "/v1/tokens", token))).token);
  }
  return tokens;
}

/** Makes the tickets that all workers claim in the next round. */
export async function makeContested(
  server: Server,
  { contested }: Shared,
  round: number,
): Promise<void> {
  contested.length = 0;
  for (let index = 0; index < CONTESTED; index++) {
    const title = `Contested ${round}.${index}`;
    const made = call(server, "POST", `${API}/tickets`, { title });
    contested.push((await expect<{ uuid: string }>(made)).uuid);
  }
}

export async function expect<Body>(answer: Promise<Response>): Promise<Body> {
  const response = await answer;
  const text = await response.text();
  assert.ok(response.ok, text);
  return JSON.parse(text);
}

export function nameOf(index: number): string {
  return `worker${index}`;
}
