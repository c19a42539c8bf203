/** Agents that wait for what happens in a project while the server is killed and started again. */
import assert from "node:assert/strict";
import { call, callAs, type Credentials, registerAgent } from "../support/api.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

const BASE = "/projects/demo/fossil/api";

interface Entry {
  readonly id: string;
  readonly text: string;
}

/** Waits for entries after one. */
async function wait(program: Program, agent: Credentials, since: string): Promise<Entry[]> {
  const query = `wait_seconds=60${since === "" ? "" : `&since=${since}`}`;
  const path = `/v1/agents/${agent.nick}/messages?${query}`;
  const response = await callAs(program, agent, "GET", path);
  assert.equal(response.status, 200);
  return await response.json();
}

async function post(program: Program, path: string, body: unknown): Promise<void> {
  const response = await call(program, "POST", `${BASE}${path}`, body);
  assert.ok(response.ok, await response.text());
}

Deno.test("an agent that waits across kills of the server learns of each event once (W-48)", async () => {
  await withFolder(async (folder) => {
    let author: Credentials | null = null;
    let since = "";
    const seen: Entry[] = [];
    const rounds = 3;
    for (let round = 0; round <= rounds; round++) {
      await using program = await startProgram({ folder });
      if (author === null) {
        author = await registerAgent(program, "author");
        await call(program, "POST", "/v1/projects", { slug: "demo" });
        await call(program, "PUT", "/v1/projects/demo/members/author", { role: "write" });
        const made = await callAs(program, author, "POST", `${BASE}/reviews/create`, {
          title: "Fix",
          diff: "x",
        });
        assert.equal(made.status, 201, await made.text());
      }
      // The comment of the last round, whose server was killed once it was acknowledged.
      if (round > 0) {
        const entries = await wait(program, author, since);
        seen.push(...entries);
        since = entries.at(-1)?.id ?? since;
      }
      if (round === rounds) break;
      const waiting = wait(program, author, since).then(() => "answered", () => "broken");
      await post(program, "/reviews/1/comment", { body: `Comment ${round}` });
      await program.stop("SIGKILL");
      await waiting;
    }
    const told = seen.map(({ text }) => /Comment \d/.exec(text)?.[0]);
    assert.deepEqual(told, ["Comment 0", "Comment 1", "Comment 2"]);
    assert.equal(new Set(seen.map(({ id }) => id)).size, rounds);
  });
});
