import assert from "node:assert/strict";
import { NotFound, Unavailable } from "../../../../services/kernel/errors.ts";
import {
  ReadsAnywhere,
  type ReadsAnywhereOptions,
} from "../../../../services/work/projects/reads_anywhere.ts";
import type { Project } from "../../../../services/work/projects/mod.ts";

const PROJECT = { slug: "demo" } as unknown as Project;

/** What a read of a project fails with, if the node that has it answers this. */
async function failure(response: Response): Promise<unknown> {
  const reads = new ReadsAnywhere({
    repositories: { homes: { elsewhere: () => ({ name: "two" }) } },
    client: { ask: () => Promise.resolve(response) },
  } as unknown as ReadsAnywhereOptions);
  const read = reads.read(PROJECT, (repository) => repository.branches(undefined));
  return await read.then(() => assert.fail(), (error: unknown) => error);
}

Deno.test("a node that dies while it answers a read is away, and no failure of this one", async () => {
  const cut = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
  assert.ok(await failure(new Response(cut)) instanceof Unavailable);
  assert.ok(await failure(new Response("{")) instanceof Unavailable);
  const missing = Response.json({ error: "There is no branch" }, { status: 404 });
  assert.ok(await failure(missing) instanceof NotFound);
});
