/** Several nodes as real programs: list, drain, resume and remove, as operators see it. */
import assert from "node:assert/strict";
import { call, ChannelStream, orderNode } from "../support/api.ts";
import { Cluster, clusterPeers, readiness } from "../support/real_cluster.ts";
import { runWith } from "../support/running.ts";
import { asked } from "../support/until.ts";
import { run, succeed } from "../support/commands.ts";
import { peer } from "../support/peers.ts";
import type { Program } from "../support/program.ts";

interface NodeView {
  readonly name: string;
  readonly started_at: string;
  readonly state: string;
  readonly leader: boolean;
  readonly projects: number;
}

async function nodesOf(program: Program): Promise<readonly NodeView[]> {
  return await orderNode(program, "GET /v1/nodes") as readonly NodeView[];
}

/** Which node answers through the load balancer, as one of them knows. */
async function answering(url: string, knowing: Program): Promise<string> {
  const { status, text } = await readiness(url);
  if (status !== 200) return text;
  const { started_at: startedAt } = JSON.parse(text).node;
  return (await nodesOf(knowing)).find((node) => node.started_at === startedAt)?.name ?? text;
}

const stateIs = (name: string, state: string) => (nodes: readonly NodeView[]) =>
  nodes.find((node) => node.name === name)?.state === state;

const leads = (name: string) => (nodes: readonly NodeView[]) =>
  nodes.some((node) => node.name === name && node.leader);

Deno.test(
  "a drained node leads no more, gets no requests, and its readers leave",
  clusterPeers(),
  async () => {
    await using cluster = await Cluster.start({ nodes: ["a", "b"], balanced: true });
    const [a, b] = [cluster.node("a"), cluster.node("b")];
    await asked(() => nodesOf(a), stateIs("b", "running"));
    assert.match((await readiness(a.api)).text, /"node":{"started_at":"[^"]+","leader":true}/);
    await asked(() => answering(cluster.url, a), (name) => name === "b");
    await asked(() => answering(cluster.url, a), (name) => name === "a");

    await using stream = await ChannelStream.open(a, "general");
    await orderNode(a, "POST /v1/projects", { slug: "one" });
    await orderNode(a, "POST /v1/projects", { slug: "two" });
    const drained = await succeed(b, "node", "drain", "a", "--move-projects");
    assert.match(drained, /^a leads no more[^]*The project "(one|two)" is on the node "b"\n$/);
    assert.deepEqual(await readiness(a.api), {
      status: 503,
      text: '{"error":"Not ready: node (drained)"}',
    });
    const nodes = await asked(() => nodesOf(b), leads("b"));
    const shown = nodes.map(({ name, state, leader, projects }) => [name, state, leader, projects]);
    assert.deepEqual(shown, [["a", "draining", false, 0], ["b", "running", true, 2]]);
    assert.equal((await call(a, "GET", "/v1/status")).status, 200, "it still answers");
    const { stderr } = await run(b, "node", "drain", "b");
    assert.match(stderr, /No other node would do the work of "b"/);
    assert.equal(await stream.next(), null, "the reader is sent away");
    for (let time = 0; time < 20; time++) {
      // Where no node answers, b was away from the load balancer or from the database for a moment.
      const isOfNode = (name: string) => /^[ab]$|drained/.test(name);
      assert.equal(await asked(() => answering(cluster.url, a), isOfNode), "b");
    }

    await succeed(b, "node", "resume", "a");
    await asked(() => readiness(a.api), ({ status }) => status === 200);
    await asked(() => answering(cluster.url, a), (name) => name === "a");
  },
);

Deno.test("a stopped node is removed, and comes back by starting", clusterPeers(), async () => {
  await using cluster = await Cluster.start({ nodes: ["a", "b"] });
  const a = cluster.node("a");
  await asked(() => nodesOf(a), stateIs("b", "running"));
  const refused = await run(a, "node", "remove", "b");
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^Node "b" runs: stop it first /);

  await cluster.stopNode("b", "SIGKILL");
  await asked(() => nodesOf(a), stateIs("b", "stopped"));
  assert.match(await succeed(a, "node", "list"), /^b +stopped +0 /m);
  await succeed(a, "node", "remove", "b");
  assert.deepEqual((await nodesOf(a)).map(({ name }) => name), ["a"]);
  await cluster.startNode("b");
  await asked(() => nodesOf(a), stateIs("b", "running"));
});

Deno.test("promtool accepts a node's metrics", {
  ignore: clusterPeers().ignore || peer("promtool").ignore,
}, async () => {
  await using cluster = await Cluster.start({ nodes: ["a"] });
  const a = cluster.node("a");
  await asked(() => nodesOf(a), leads("a"));
  const text = await (await call(a, "GET", "/v1/metrics")).text();
  for (
    const line of [
      'muster_node_info{node="a"} 1',
      "muster_node_current 1",
      "muster_node_leader 1",
      'muster_nodes{state="running"} 1',
      'muster_nodes{state="draining"} 0',
      'muster_nodes{state="stopped"} 0',
    ]
  ) assert.ok(text.includes(`${line}\n`), `${line}\n${text}`);
  const { code, stdout, stderr } = await runWith("promtool", ["check", "metrics"], text);
  assert.equal(code, 0, stdout + stderr);
});

/** Makes projects until one is on a node; returns its slug. */
async function projectOn(program: Program, node: string): Promise<string> {
  for (let index = 0;; index++) {
    const slug = `demo-${index}`;
    const made = await orderNode(program, "POST /v1/projects", { slug }) as { node: string };
    if (made.node !== node) continue;
    await orderNode(program, `PATCH /v1/projects/${slug}`, { channel: "#general" });
    return slug;
  }
}

Deno.test("IRC misses nothing although the node that leads has died", clusterPeers(), async () => {
  const root = { username: "root", password: "correct-horse-battery" };
  const config = { irc: { admins: [root.username] } };
  await using cluster = await Cluster.start({ nodes: ["a", "b", "c"], config });
  const b = cluster.node("b");
  await asked(() => nodesOf(b), leads("a"));
  await orderNode(b, "POST /v1/admins", root);
  await orderNode(b, "POST /v1/agents/register", { nick: "scout" });
  const slug = await projectOn(b, "b");
  const tickets = `/projects/${slug}/fossil/api/tickets`;
  const { uuid } = await orderNode(b, `POST ${tickets}`, { title: "Hard" }) as { uuid: string };
  await cluster.network.register(root.username, root.password);
  await using client = await cluster.network.logIn(root.username, root.password);
  assert.ok(client !== null);
  await client.join("#general");
  const ask = (text: string) =>
    orderNode(b, "POST /v1/questions", { text, ticket: `${slug}/${uuid}` }) as Promise<
      { id: number }
    >;
  await ask("Before?");
  await client.expect(/ PRIVMSG #general :Question 1 from /);

  await cluster.stopNode("a", "SIGKILL");
  await client.send("PRIVMSG #general :!halt @scout wrong branch");
  await client.expect(/ PRIVMSG #general :Halted by root: scout\. Reason: wrong branch$/);
  for (const node of [b, cluster.node("c")]) {
    // A node that a busy machine keeps from the database for five seconds answers 503 meanwhile.
    const halts = async () => {
      const answer = await call(node, "GET", "/v1/halt");
      return await answer.json() as { agents?: { nick: string }[] };
    };
    await asked(halts, ({ agents = [] }) => agents.map(({ nick }) => nick).join() === "scout");
  }
  const { events } = await orderNode(b, "GET /v1/events?types=agents.halted") as {
    events: unknown[];
  };
  assert.equal(events.length, 1);
  const { id } = await ask("While nobody leads?");
  await client.send(`PRIVMSG #general :!answer ${id} yes`);
  await asked(
    () => orderNode(b, `GET /v1/questions/${id}`) as Promise<{ state: string }>,
    ({ state }) => state === "answered",
  );
  const { id: open } = await ask("Still nobody?");
  // What the new leader finds within a second is one line.
  await client.expect(
    new RegExp(` PRIVMSG #general :(?:Question ${open} from |… and \\d+ more questions: )`),
  );
  const told = client.lines.filter((line) => / PRIVMSG #general :Question \d+ from /.test(line));
  assert.equal(new Set(told).size, told.length, told.join("\n"));
});
