import assert from "node:assert/strict";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { NodeCopy, type NodeCopyOptions } from "../../../../services/cluster/moves/node_copy.ts";

/** A copy on a node that refuses it with a body. */
function refusing(body: BodyInit): NodeCopy {
  const options: Pick<NodeCopyOptions, "client" | "signal"> = {
    client: { ask: () => Promise.resolve(new Response(body, { status: 502 })) },
    signal: new AbortController().signal,
  };
  const names = { node: { name: "two" }, project: { slug: "demo" } };
  return new NodeCopy({ ...options, ...names } as unknown as NodeCopyOptions);
}

Deno.test("a node that refuses a copy is away for now, whatever it says", async () => {
  const refusal = (body: BodyInit) =>
    refusing(body).begin().then(() => assert.fail(), (error: unknown) => error);
  const told = await refusal(JSON.stringify({ error: "the disk is full" }));
  assert.ok(told instanceof Unavailable);
  assert.match(told.message, /"two" refuses the copy: the disk is full$/);
  assert.ok(await refusal("<html>") instanceof Unavailable);
  const cut = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
  assert.ok(await refusal(cut) instanceof Unavailable);
});
