/** Several nodes become one server on SQLite again. */
import assert from "node:assert/strict";
import { callAs, order, registerAgent } from "../support/api.ts";
import { moveProject, reaches, testCluster } from "../support/cluster.ts";
import { type Program, runMuster } from "../support/program.ts";
import { asked } from "../support/until.ts";

const ALONE = { MUSTER_NODE_NAME: "", MUSTER_NODE_URL: "", MUSTER_DATABASE_URL: "" };

testCluster("several nodes go back to one server on SQLite, with everything", async (cluster) => {
  const one = await cluster.start("one");
  const two = await cluster.start("two");
  const scout = await registerAgent(one, "scout");
  const filed = new Map<string, string>();
  for (const slug of ["first", "second", "third"]) {
    await order(two, "POST /v1/projects", { slug });
    await order(two, `PUT /v1/projects/${slug}/members/scout`, { role: "write" });
    for (const node of [one, two]) await reaches(node, slug);
    const base = `/projects/${slug}/fossil/api/tickets`;
    const answer = await callAs(one, scout, "POST", base, { title: `In ${slug}` });
    const { uuid } = await answer.json();
    await callAs(two, scout, "POST", `${base}/${uuid}/claim`, {});
    filed.set(slug, uuid);
  }
  const question = await callAs(two, scout, "POST", "/v1/questions", { text: "Still there?" });
  assert.equal(question.status, 201, await question.text());
  const told = await inboxOf(one, scout);
  const nodes = () => order(one, "GET /v1/projects") as Promise<{ slug: string; node: string }[]>;
  for (const { slug, node } of await nodes()) {
    if (node === "two") await moveProject(one, slug, "one");
  }
  await two.stop();
  const views = () => order(one, "GET /v1/nodes") as Promise<{ name: string; state: string }[]>;
  await asked(views, (all) => all.some(({ name, state }) => name === "two" && state === "stopped"));
  await order(one, "DELETE /v1/nodes/two");
  const { cursor } = await order(one, "GET /v1/events?limit=1") as { cursor: number };
  await one.stop();

  const folder = cluster.folderOf("one");
  const environment = { MUSTER_DATABASE_URL: cluster.database };
  const moved = await runMuster(["migrate", "--from", "postgres", "--to", "sqlite"], {
    folder,
    environment,
  });
  assert.equal(moved.code, 0, moved.stdout + moved.stderr);
  const alone = await cluster.start("one", ALONE);
  for (const [slug, uuid] of filed) {
    const base = `/projects/${slug}/fossil/api/tickets`;
    const ticket = await (await callAs(alone, scout, "GET", `${base}/${uuid}`)).json();
    assert.deepEqual([ticket.title, ticket.claim?.agent_id], [`In ${slug}`, "scout"]);
    const again = await callAs(alone, scout, "POST", base, { title: "Goes on" });
    assert.equal(again.status, 201, await again.text());
  }
  const { events } = await order(alone, `GET /v1/events?after=${cursor}&limit=1000`) as {
    events: { seq: number }[];
  };
  assert.equal(events[0]?.seq, cursor + 1);
  assert.deepEqual((await inboxOf(alone, scout)).slice(0, told.length), told);
  assert.equal((await order(alone, "GET /v1/questions") as unknown[]).length, 1);
  assert.equal(await alone.stop(), 0);
  const { stdout, stderr } = await runMuster(["doctor", "log"], { folder, environment: ALONE });
  const found = (stdout + stderr).split("\n").filter((line) => /^At row/.test(line));
  // These nodes began with a key that belonged to no log.
  assert.deepEqual(found.map((line) => /^At row \d+/.exec(line)?.[0]), ["At row 1"], stdout);
});

async function inboxOf(node: Program, agent: Parameters<typeof callAs>[1]): Promise<string[]> {
  const answer = await callAs(node, agent, "GET", `/v1/agents/${agent.nick}/messages`);
  return (await answer.json() as { id: string }[]).map(({ id }) => id);
}
