/** People push and merge while their project moves from node to node. */
import assert from "node:assert/strict";
import { type Credentials, order, registerAgent } from "../support/api.ts";
import { insist, moveProject, reaches, TestCluster } from "../support/cluster.ts";
import { peer } from "../support/peers.ts";
import type { Program } from "../support/program.ts";
import { FossilClient } from "../support/sync.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";

const BASE = "/projects/demo/fossil/api";

interface World {
  readonly nodes: readonly Program[];
  readonly scout: Credentials;
  readonly critic: Credentials;
  /** The check-ins whose push succeeded. */
  readonly pushed: string[];
  /** The check-ins of merges that succeeded. */
  readonly merged: string[];
  isOver: boolean;
}

/** The URLs of the project on each node, with a token. */
function urlsOf({ nodes }: World, token: string): string[] {
  return nodes.map(({ api }) => `http://scout:${token}@${new URL(api).host}/projects/demo/fossil`);
}

/** Pushes with the fossil program, from a checkout in a folder. */
async function push(
  world: World,
  client: FossilClient,
  { folder, urls }: { readonly folder: string; readonly urls: readonly string[] },
): Promise<void> {
  let waiting: string[] = [];
  for (let turn = 0; !world.isOver; turn++) {
    client.write("work/file.txt", "x".repeat(turn + 1));
    if (turn === 0) await client.fossil(["add", "file.txt"], folder);
    const message = ["-m", `Push ${turn}`, "--no-warnings"];
    const text = await client.fossil(["commit", ...message, "--branch", `b${turn}`], folder);
    waiting.push(/New_Version: ([0-9a-f]{40,64})/.exec(text)?.[1] ?? assert.fail(text));
    const url = urls[turn % urls.length] ?? "";
    const { code, stdout, stderr } = await client.run(["push", url, "--once"], folder);
    if (code !== 0 || /error|failed|unavailable/i.test(stdout + stderr)) continue;
    world.pushed.push(...waiting);
    waiting = [];
  }
}

/** Lets reviews be made, approved and merged. */
async function merge(world: World): Promise<void> {
  const { scout, critic } = world;
  for (let turn = 0; !world.isOver; turn++) {
    const workspace = `w${turn}`;
    await insist(world.nodes, scout, `${BASE}/workspaces/create`, { name: workspace });
    const changes = [{ path: `${turn}.txt`, content: "x" }];
    await insist(world.nodes, scout, `${BASE}/workspaces/${workspace}/commit`, {
      message: "Work",
      changes,
    });
    const { id } = await insist(world.nodes, scout, `${BASE}/reviews/create`, {
      title: "Look",
      workspace,
    });
    await insist(world.nodes, critic, `${BASE}/reviews/${id}/approve`, {});
    const { checkin } = await insist(world.nodes, scout, `${BASE}/reviews/${id}/merge`, {});
    world.merged.push(String(checkin));
  }
}

/** Moves the project to and fro, until there were pushes and merges meanwhile. */
async function move({ nodes: [, one], pushed, merged }: World): Promise<void> {
  assert.ok(one !== undefined);
  const moveBoth = async () => {
    for (const node of ["two", "one"]) {
      await moveProject(one, "demo", node);
      await reaches(one, "demo");
    }
  };
  await moveBoth();
  await asked(moveBoth, () => pushed.length > 0 && merged.length > 0);
}

Deno.test(
  "pushes and merges that succeed while a project moves are there after it",
  { ignore: peer("fossil").ignore || peer("postgres server").ignore },
  () =>
    withFolder(async (folder) => {
      await using cluster = await TestCluster.create(folder);
      const one = await cluster.start("one");
      const [scout, critic] = [
        await registerAgent(one, "scout"),
        await registerAgent(one, "critic"),
      ];
      await order(one, "POST /v1/projects", { slug: "demo" });
      for (const { nick } of [scout, critic]) {
        await order(one, `PUT /v1/projects/demo/members/${nick}`, { role: "write" });
      }
      const two = await cluster.start("two");
      await reaches(two, "demo");
      const body = { owner: "scout", name: "sync", scopes: ["read", "write"] };
      const { token } = await order(two, "POST /v1/tokens", body) as { token: string };
      using client = new FossilClient("fossil");
      const [pushed, merged]: [string[], string[]] = [[], []];
      const nodes = [two, one];
      const world: World = { nodes, scout, critic, pushed, merged, isOver: false };
      const urls = urlsOf(world, token);
      const checkout = await client.checkout(urls[0] ?? "");
      await client.fossil(["settings", "autosync", "off"], checkout);
      const work = Promise.all([push(world, client, { folder: checkout, urls }), merge(world)]);
      const moving = move(world).finally(() => world.isOver = true);
      await Promise.all([work, moving]);
      for (const node of nodes) {
        for (const uuid of [...pushed, ...merged]) await order(node, `GET ${BASE}/checkin/${uuid}`);
      }
      assert.equal(new Set(merged).size, merged.length);
      const { events } = await order(one, "GET /v1/events?types=project.checkin&limit=1000") as {
        events: { data: { uuid: string } }[];
      };
      const told = events.map(({ data: { uuid } }) => uuid);
      assert.equal(new Set(told).size, told.length, "no check-in has two events");
      for (const uuid of [...pushed, ...merged]) assert.ok(told.includes(uuid), uuid);
    }),
);
