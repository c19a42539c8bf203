/** Projects move between nodes while they are used, and over kills. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { callAs, order, registerAgent } from "../support/api.ts";
import { insist, moveProject, reaches, type TestCluster, testCluster } from "../support/cluster.ts";
import { runMuster } from "../support/program.ts";
import type { Program } from "../support/program.ts";
import { asked, until } from "../support/until.ts";

const BASE = "/projects/demo/fossil/api";

/** Two nodes, and the project `demo` on the first one with an agent who may write. */
async function start(cluster: TestCluster) {
  const one = await cluster.start("one");
  const scout = await registerAgent(one, "scout");
  await order(one, "POST /v1/projects", { slug: "demo" });
  await order(one, "PUT /v1/projects/demo/members/scout", { role: "write" });
  const two = await cluster.start("two");
  await reaches(two, "demo");
  return { one, two, scout };
}

async function nodeOf(program: Program): Promise<string> {
  const { node } = await order(program, "GET /v1/projects/demo") as { node: string };
  return node;
}

async function isFile(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}

testCluster("a project moves to another node and back while agents work in it", async (cluster) => {
  const { one, two, scout } = await start(cluster);
  const nodes = [one, two];
  const filed = new Set<unknown>();
  const claimed: unknown[] = [];
  let isOver = false;
  const work = async (index: number) => {
    await insist(nodes, scout, `${BASE}/workspaces/create`, { name: `w${index}` });
    for (let turn = 0; !isOver; turn++) {
      const order = index % 2 === 0 ? nodes : nodes.toReversed();
      const { uuid } = await insist(order, scout, `${BASE}/tickets`, { title: `${index} ${turn}` });
      filed.add(uuid);
      const claim = await insist(order, scout, `${BASE}/tickets/${uuid}/claim`, {});
      claimed.push(claim["ticket_uuid"]);
      await insist(order, scout, `${BASE}/workspaces/w${index}/commit`, {
        message: "Work",
        changes: [{ path: `${index}-${turn}.txt`, content: "x" }],
      });
      const { status } = await callAs(one, scout, "POST", `${BASE}/tickets/${uuid}/release`, {});
      assert.ok(status === 200 || status === 503);
    }
  };
  const working = Promise.all([0, 1, 2].map(work));
  const moves = async () => {
    for (const to of ["two", "one", "two"]) {
      const before = filed.size;
      await moveProject(one, "demo", to);
      assert.equal(await nodeOf(one), to);
      assert.equal(await nodeOf(two), to);
      await until(() => filed.size >= before + 3);
    }
  };
  await Promise.all([moves().finally(() => isOver = true), working]);
  for (const node of nodes) {
    const listed = new Set<string>();
    for (let page = 1, pages = 1; page <= pages; page++) {
      const answer = await order(node, `GET ${BASE}/tickets?per_page=100&page=${page}`) as {
        tickets: { uuid: string }[];
        total_pages: number;
      };
      pages = answer.total_pages;
      for (const { uuid } of answer.tickets) listed.add(uuid);
    }
    assert.deepEqual([...filed].filter((uuid) => !listed.has(String(uuid))), []);
    assert.equal(listed.size, filed.size);
  }
  const log = await order(one, "GET /v1/events?types=project.ticket&limit=1000") as {
    events: { data: { uuid: string } }[];
  };
  const uuids = log.events.map(({ data: { uuid } }) => uuid);
  assert.equal(new Set(uuids).size, uuids.length, "no artifact has two events");
  const aside = join(cluster.folderOf("one"), "data", "projects");
  assert.equal(await isFile(join(aside, "demo.fossil")), false);
  const verified = await runMuster(
    ["fossil", "verify", "-R", join(cluster.folderOf("two"), "data/projects/demo.fossil")],
    { folder: cluster.folderOf("two") },
  );
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
});

testCluster("an unfinished upload moves with its project", async (cluster) => {
  const { one, two } = await start(cluster);
  await order(one, `POST ${BASE}/releases`, { tag_name: "v1" });
  const content = crypto.getRandomValues(new Uint8Array(50_000));
  const send = async (node: Program, method: string, path: string, more: RequestInit = {}) => {
    const response = await fetch(node.api + path, {
      method,
      body: more.body ?? null,
      headers: { authorization: `Bearer ${node.token}`, "tus-resumable": "1.0.0", ...more.headers },
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status}`);
    return response;
  };
  const metadata = `filename ${btoa("tool.bin")}`;
  const made = await send(one, "POST", `${BASE}/releases/v1/assets`, {
    headers: { "upload-length": `${content.length}`, "upload-metadata": metadata },
  });
  const { pathname } = new URL(made.headers.get("location") ?? "", one.api);
  const append = (node: Program, from: number, to: number) =>
    send(node, "PATCH", pathname, {
      body: content.slice(from, to),
      headers: { "upload-offset": `${from}`, "content-type": "application/offset+octet-stream" },
    });
  await append(two, 0, 20_000);
  await moveProject(two, "demo", "two");
  const asked = await send(one, "HEAD", pathname);
  assert.equal(asked.headers.get("upload-offset"), "20000");
  await append(one, 20_000, content.length);
  const file = await send(one, "GET", `${BASE}/releases/v1/assets/tool.bin`);
  assert.deepEqual(new Uint8Array(await file.arrayBuffer()), content);
  await moveProject(one, "demo", "one");
  const again = await send(two, "GET", `${BASE}/releases/v1/assets/tool.bin`);
  assert.deepEqual(new Uint8Array(await again.arrayBuffer()), content);
});

testCluster(
  "a kill of either node during a move leaves a project on one node, whole",
  async (cluster) => {
    let { one, two, scout } = await start(cluster);
    const filed: string[] = [];
    for (let round = 0; round < 6; round++) {
      const nodes = [one, two];
      const { uuid } = await insist(nodes, scout, `${BASE}/tickets`, { title: `Round ${round}` });
      filed.push(String(uuid));
      const to = await nodeOf(one) === "one" ? "two" : "one";
      const moving = order(one, "POST /v1/projects/demo/move", { node: to }).then(
        () => true,
        () => false,
      );
      // Each question takes a few milliseconds of the move.
      const moment = crypto.getRandomValues(new Uint8Array(1))[0] ?? 0;
      for (let asked = 0; asked < moment % 25; asked++) await nodeOf(two);
      const victim = round % 2 === 0 ? "one" : "two";
      await (victim === "one" ? one : two).stop("SIGKILL");
      await moving;
      const again = await cluster.start(victim);
      if (victim === "one") one = again;
      else two = again;
      await Promise.all([reaches(one, "demo"), reaches(two, "demo")]);
      const home = await nodeOf(one);
      assert.equal(await nodeOf(two), home);
      for (const node of [one, two]) {
        for (const ticket of filed) await order(node, `GET ${BASE}/tickets/${ticket}`);
      }
      const folder = cluster.folderOf(home);
      const verified = await runMuster(
        ["fossil", "verify", "-R", join(folder, "data/projects/demo.fossil")],
        { folder },
      );
      assert.equal(verified.code, 0, verified.stdout + verified.stderr);
    }
  },
);

testCluster("a project of a dead node is restored on another one", async (cluster) => {
  const { one, two, scout } = await start(cluster);
  const nodes = [one, two];
  const { uuid: kept } = await insist(nodes, scout, `${BASE}/tickets`, {
    title: "Before the backup",
  });
  const backup = join(cluster.folderOf("two"), "demo.backup");
  const muster = (...args: string[]) =>
    runMuster(["project", ...args], {
      folder: cluster.folderOf("two"),
      environment: { MUSTER_URL: two.api, MUSTER_TOKEN: two.token },
    });
  const exported = await muster("export", "demo", backup);
  assert.equal(exported.code, 0, exported.stderr);
  await order(two, "POST /v1/projects", { slug: "other" });
  await reaches(two, "other");
  const others = `${backup}.other`;
  const foreign = await muster("export", "other", others);
  assert.equal(foreign.code, 0, foreign.stderr);
  const { uuid: lost } = await insist(nodes, scout, `${BASE}/tickets`, {
    title: "After the backup",
  });
  const restore = ["restore", "demo", "--from", backup, "--on", "two"];
  const early = await muster(...restore);
  assert.deepEqual([early.code, /"one" .* runs: use muster project move/.test(early.stderr)], [
    1,
    true,
  ]);

  await one.stop("SIGKILL");
  const ask = () => callAs(two, scout, "GET", `${BASE}/tickets/${kept}`);
  const refusal = async () => {
    const response = await ask();
    const text = await response.text();
    assert.equal(response.status, 503, text);
    assert.ok(response.headers.has("retry-after"));
    return text;
  };
  await asked(refusal, (text) => text.includes("does not run"));
  const stranger = await fetch(`${two.api}${BASE}/tickets`);
  assert.equal(stranger.status, 404, await stranger.text());
  for (const node of ["one", "two", "none"]) {
    const restoring = await fetch(`${two.api}/v1/projects/demo/restore?node=${node}`, {
      method: "PUT",
      body: "x",
    });
    assert.equal(restoring.status, 401, await restoring.text());
  }
  assert.doesNotMatch(await (await fetch(`${two.api}/readyz`)).text(), /"two"/);
  const listed = await order(two, "GET /v1/projects") as unknown[];
  assert.equal(listed.length, 2);

  const wrong = await muster("restore", "demo", "--from", others, "--on", "two");
  assert.match(wrong.stderr, /the repository of another project than "demo"/);
  const restored = await muster(...restore);
  assert.equal(restored.code, 0, restored.stderr);
  assert.equal(await nodeOf(two), "two");
  const found = await ask();
  assert.equal(found.status, 200, await found.text());
  const gone = await callAs(two, scout, "GET", `${BASE}/tickets/${lost}`);
  assert.equal(gone.status, 404, await gone.text());
  const { uuid: later } = await insist([two], scout, `${BASE}/tickets`, {
    title: "After the restore",
  });

  const back = await cluster.start("one");
  assert.ok(back.log.some((line) => /was set aside/.test(line)), back.log.join("\n"));
  const data = join(cluster.folderOf("one"), "data", "projects");
  assert.equal(await isFile(join(data, "demo.fossil")), false);
  assert.equal((await Array.fromAsync(Deno.readDir(join(data, "removed")))).length > 0, true);
  await reaches(back, "demo");
  await order(back, `GET ${BASE}/tickets/${later}`);
  const log = await order(back, "GET /v1/events?types=project.moved&limit=10") as {
    events: { data: unknown }[];
  };
  assert.equal(log.events.length, 1);
});
