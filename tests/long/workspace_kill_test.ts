/** After `kill -9` in the middle of commits, merges and abandonments, database and repository agree. */
import assert from "node:assert/strict";
import { Scratch } from "../services/engines/fossil/support/fossil.ts";
import { judges } from "../services/engines/fossil/support/judges.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";

/** After how many answers of a round the program is killed. */
const ROUNDS = [0, 1, 4];

interface Listed {
  readonly name: string;
  readonly status: string;
  readonly tip: string;
  readonly commits_made: number;
  readonly merged_as: string | null;
}

/** An answer, or null if the program was killed before it. */
type Answer = { readonly status: number; readonly uuid?: string } | null;

async function send(program: Program, request: string, body: unknown = {}): Promise<Answer> {
  const [method = "", path] = request.split(" ");
  try {
    const response = await fetch(`${program.api}${path}`, {
      method,
      headers: { authorization: `Bearer ${program.token}` },
      ...(method === "GET" ? {} : { body: JSON.stringify(body) }),
    });
    return { ...await response.json(), status: response.status };
  } catch {
    return null;
  }
}

const BASE = "/projects/demo/fossil/api";

function commit(program: Program, name: string, path: string): Promise<Answer> {
  return send(program, `POST ${BASE}/workspaces/${name}/commit`, {
    message: `Write ${path}`,
    changes: [{ path: `${name}/${path}`, content: `${path}\n` }],
  });
}

/** Begins workspaces, then changes all of them at once and kills the program in between. */
async function disturb(program: Program, round: number, killAfter: number) {
  const names = Array.from({ length: 6 }, (_, number) => `w${round}-${number}`);
  for (const name of names) {
    assert.equal((await send(program, `POST ${BASE}/workspaces/create`, { name }))?.status, 201);
    assert.equal((await commit(program, name, "first"))?.status, 200);
  }
  let answers = 0;
  let killed: Promise<number> | null = null;
  const works = names.map(async (name, number): Promise<[string, Answer]> => {
    const work = number < 2
      ? send(program, `POST ${BASE}/workspaces/${name}/merge`)
      : number < 4
      ? send(program, `DELETE ${BASE}/workspaces/${name}/abandon`)
      : commit(program, name, "second");
    if (killAfter === 0) killed ??= program.stop("SIGKILL");
    const answer = await work;
    if (++answers >= killAfter) killed ??= program.stop("SIGKILL");
    return [name, answer];
  });
  const done = new Map(await Promise.all(works));
  await killed;
  return done;
}

/** Each judge reads a repository as the workspaces say. */
function assertSame(file: string, workspaces: readonly Listed[]): void {
  for (const program of judges()) {
    using judge = new Scratch(program);
    judge.fossil(["test-integrity", file]);
    const timeline = judge.fossil(["timeline", "-R", file, "-n", "0", "-t", "ci"]);
    for (const { name, status } of workspaces) {
      assert.equal(timeline.includes(`Merge workspace/${name} into trunk`), status === "merged");
    }
    const leaves = judge.fossil(["leaves", "-R", file, "--closed"]);
    assert.equal(
      leaves.match(/workspace\/w/g)?.length ?? 0,
      workspaces.filter(({ status }) => status !== "active").length,
    );
  }
}

const TITLE = "after a kill, workspaces are in the repository as the database says";

Deno.test(TITLE, peer("fossil"), async () => {
  using scratch = new Scratch();
  const done = new Map<string, Answer>();
  let program = await startProgram({ folder: scratch.folder });
  try {
    await send(program, "POST /v1/projects", { slug: "demo" });
    for (const [round, killAfter] of ROUNDS.entries()) {
      for (const [name, answer] of await disturb(program, round, killAfter)) {
        done.set(name, answer);
      }
      program = await startProgram({ folder: scratch.folder });
    }
    const get = async (path: string) => {
      const response = await fetch(`${program.api}${BASE}${path}`, {
        headers: { authorization: `Bearer ${program.token}` },
      });
      return await response.json();
    };
    const { workspaces } = await get("/workspaces?status=all&per_page=100");
    const { checkins } = await get("/timeline?branch=trunk&per_page=100");
    const { branches } = await get("/branches");
    assert.equal(workspaces.length, done.size);
    for (const { name, status, tip, commits_made, merged_as } of workspaces as Listed[]) {
      const merges = checkins.filter(({ parents }: { parents: string[] }) => parents.includes(tip));
      const branch = branches.find((one: { name: string }) => one.name === `workspace/${name}`);
      assert.deepEqual(
        merges.map(({ uuid }: { uuid: string }) => uuid),
        status === "merged" ? [merged_as] : [],
        name,
      );
      assert.equal(branch.status, status === "active" ? "open" : "closed", name);
      const answer = done.get(name);
      if (answer?.status !== 200) continue;
      const number = Number(name.split("-")[1]);
      assert.equal(status, number < 2 ? "merged" : number < 4 ? "abandoned" : "active", name);
      if (number >= 4) assert.deepEqual([tip, commits_made], [answer.uuid, 2], name);
    }
    await program.stop();
    assertSame(scratch.path("data/projects/demo.fossil"), workspaces);
  } finally {
    await program.stop();
  }
});
