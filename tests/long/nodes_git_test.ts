/** `git` and several nodes: every node clones, fetches and pushes, wherever the project is. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, type Credentials, order, registerAgent } from "../support/api.ts";
import { moveProject, reaches, type TestCluster, testCluster } from "../support/cluster.ts";
import { type Clone, GitClient } from "../support/git_client.ts";
import { commit } from "../support/git_pushes.ts";
import { PLAIN, streamOf } from "../support/odd_history.ts";
import { peer } from "../support/peers.ts";
import type { Program } from "../support/program.ts";
import { asked } from "../support/until.ts";
import { GitServer } from "../services/work/mirrors/git_server.ts";

/** Three nodes, and the project `demo` on the first one with an agent who may write. */
async function startThree(cluster: TestCluster, environment: Record<string, string> = {}) {
  const one = await cluster.start("one", environment);
  const scout = await registerAgent(one, "scout");
  await order(one, "POST /v1/projects", { slug: "demo" });
  await order(one, "PUT /v1/projects/demo/members/scout", { role: "write" });
  const two = await cluster.start("two", environment);
  const three = await cluster.start("three", environment);
  for (const node of [two, three]) await reaches(node, "demo");
  return { nodes: [one, two, three] as const, scout };
}

/** A test of nodes that needs `git`. */
function gitCluster(
  name: string,
  run: (cluster: TestCluster, client: GitClient) => Promise<void>,
): void {
  if (peer("git").ignore) return Deno.test({ name, ...peer("git"), fn: () => {} });
  testCluster(name, async (cluster) => {
    using client = new GitClient();
    await run(cluster, client);
  });
}

/** The project at a node, for `git`. */
function urlOf({ api }: Program, { nick, passphrase }: Credentials): string {
  const url = new URL("/projects/demo.git", api);
  [url.username, url.password] = [nick, passphrase];
  return String(url);
}

/** The tip of a branch, as a node tells it. */
async function tipAt(client: GitClient, url: string, branch: string): Promise<string> {
  return (await client.git(["ls-remote", url, `refs/heads/${branch}`])).split("\t")[0] ?? "";
}

/** Bytes that do not shrink. */
function noise(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 50_000) {
    crypto.getRandomValues(bytes.subarray(at, at + 50_000));
  }
  return bytes;
}

gitCluster(
  "git clones, pushes, fetches and asks for reviews at every node",
  async (cluster, client) => {
    const { nodes, scout } = await startThree(cluster);
    let last: Clone | null = null;
    for (const [at, node] of nodes.entries()) {
      const clone = await client.clone(urlOf(node, scout));
      if (at === 0) await clone.git("checkout", "--quiet", "-B", "main");
      // Longer than the buffer of a proxy, and of a body with a declared length.
      const tip = await commit(clone, { [`${at}.bin`]: noise(2_000_000) }, `From ${at}`);
      await clone.git("push", "--quiet", "origin", "main");
      for (const other of nodes) {
        assert.equal(
          await tipAt(client, urlOf(other, scout), "main"),
          tip,
        );
      }
      await commit(clone, { [`${at}.txt`]: "x\n" }, `Ask ${at}`);
      const asking = await clone.run("push", "origin", `HEAD:refs/for/main/topic-${at}`);
      assert.equal(asking.code, 0, asking.stderr);
      // The address is at the node that was asked.
      assert.ok(
        asking.stderr.includes(`Review ${at + 1}: ${node.api}/projects/demo/reviews/`),
        asking.stderr,
      );
      await last?.git("pull", "--quiet", "--rebase", "origin", "main");
      last = clone;
    }
    const refs = await Promise.all(
      nodes.map(async (node) => (await client.clone(urlOf(node, scout), "--mirror")).refs()),
    );
    assert.equal(new Set(refs).size, 1, refs.join("\n"));
    // A shallow and a partial clone, by a node without the project.
    const shallow = await client.clone(urlOf(nodes[2], scout), "--depth=1", "--filter=blob:none");
    assert.equal(await shallow.git("rev-list", "--count", "HEAD"), "1\n");
  },
);

gitCluster(
  "a node that is killed in a push leaves all of it or nothing",
  async (cluster, client) => {
    const { nodes, scout } = await startThree(cluster);
    const local = client.path("local");
    await client.git(["init", "--quiet", "--initial-branch=main", local]);
    const write = async (name: string) => {
      for (let at = 0; at < 8; at++) {
        Deno.writeFileSync(
          join(local, `${name}-${at}`),
          noise(3_000_000),
        );
      }
      await client.git(["add", "--all"], local);
      await client.git(["commit", "--quiet", "--message", name], local);
      return (await client.git(["rev-parse", "HEAD"], local)).trim();
    };
    let before = await write("first");
    await client.git(["push", "--quiet", urlOf(nodes[1], scout), "main"], local);
    const running = new Map<string, Program>([["one", nodes[0]], ["two", nodes[1]], [
      "three",
      nodes[2],
    ]]);
    for (const killed of ["one", "two"] as const) {
      const tip = await write(`killed ${killed}`);
      const pushing = client.run(
        ["push", "--quiet", urlOf(running.get("two")!, scout), "main"],
        local,
      );
      await arrives(cluster.folderOf("one"));
      await running.get(killed)!.stop("SIGKILL");
      const { code } = await pushing;
      running.set(killed, await cluster.start(killed));
      for (const node of running.values()) await reaches(node, "demo");
      const found = await tipAt(client, urlOf(running.get("three")!, scout), "main");
      // A node that only passes on may die when all has arrived.
      if (code === 0 || killed === "two") {
        assert.ok(
          found === tip || (code !== 0 && found === before),
        );
      } else assert.equal(found, before);
      await asked(
        () => Promise.resolve(uploadsIn(cluster.folderOf("one"))),
        (left) => left.length === 0,
      );
      await client.git(["push", "--quiet", urlOf(running.get("two")!, scout), "main"], local);
      for (const node of running.values()) {
        assert.equal(await tipAt(client, urlOf(node, scout), "main"), tip);
      }
      const clone = await client.clone(urlOf(running.get("three")!, scout), "--branch=main");
      assert.equal((await clone.git("rev-parse", "HEAD")).trim(), tip);
      before = tip;
    }
  },
);

/** The folders of what arrives at a node. */
function uploadsIn(folder: string): string[] {
  const names = [...Deno.readDirSync(join(folder, "data", "projects"))].map(({ name }) => name);
  return names.filter((name) => name.startsWith(".upload-"));
}

/** Waits until a part of a push has arrived. */
async function arrives(folder: string): Promise<void> {
  const bytes = () =>
    uploadsIn(folder).flatMap((name) => {
      const upload = join(folder, "data", "projects", name);
      try {
        return [...Deno.readDirSync(upload)].map((file) =>
          Deno.statSync(join(upload, file.name)).size
        );
      } catch {
        return [];
      }
    }).reduce((sum, size) => sum + size, 0);
  await asked(() => Promise.resolve(bytes()), (sum) => sum > 100_000);
}

gitCluster("a project that moves is cloned and pushed to as before", async (cluster, client) => {
  const { nodes: [one, two, three], scout } = await startThree(cluster);
  const clone = await client.clone(urlOf(one, scout));
  await clone.git("checkout", "--quiet", "-B", "main");
  await commit(clone, { a: noise(300_000) }, "First");
  await clone.git("push", "--quiet", "origin", "main");
  // The pack of this clone is kept where the project is.
  await client.clone(urlOf(two, scout));
  let count = 1;
  for (const to of ["two", "three", "one"]) {
    await moveProject(one, "demo", to);
    for (const node of [one, two, three]) {
      const fresh = await client.clone(urlOf(node, scout), "--branch=main");
      assert.equal((await fresh.log()).length, count);
    }
    await commit(clone, { [to]: noise(100_000) }, to);
    await clone.git("push", "--quiet", "origin", "main");
    count++;
    for (const node of [one, two, three]) {
      const fresh = await client.clone(urlOf(node, scout), "--branch=main");
      assert.deepEqual((await fresh.log())[0], to);
    }
    for (const name of ["one", "two", "three"]) {
      const files = [...Deno.readDirSync(join(cluster.folderOf(name), "data", "projects"))]
        .map((file) => file.name).filter((file) => /^demo\.(fossil|objects|pack)$/.test(file));
      if (name === to) assert.ok(files.includes("demo.objects"), files.join());
      else assert.deepEqual(files, [], `${name} after a move to ${to}`);
    }
  }
});

gitCluster(
  "an import and a mirror run once, at the node with the project",
  async (cluster, client) => {
    const { nodes, scout } = await startThree(cluster, { MUSTER_WEBHOOKS_ALLOW_PRIVATE: "true" });
    await using upstream = await GitServer.start(client.folder);
    const args = ["-C", upstream.folder, "fast-import", "--quiet", "--date-format=raw-permissive"];
    await client.git(args, undefined, streamOf(...PLAIN));
    const [, two, three] = nodes;
    await order(two, "POST /v1/projects/demo/import", { url: upstream.url });
    const stateAt = async (node: Program) => {
      const { state } = await order(node, "GET /v1/projects/demo/import") as { state: string };
      return state;
    };
    await asked(() => stateAt(three), (state) => state !== "running");
    for (const node of nodes) assert.equal(await stateAt(node), "done");
    const packs = () =>
      upstream.requests.filter((path) => path.endsWith("/git-upload-pack")).length;
    for (const node of nodes) {
      const mirror = await client.clone(urlOf(node, scout), "--mirror");
      assert.equal((await mirror.refs()).trim(), await upstream.refs());
    }
    const greetings = () => upstream.requests.filter((path) => path.endsWith("/info/refs")).length;
    const [before, fetched] = [greetings(), packs()];
    await order(three, "PUT /v1/projects/demo/mirror", {
      pull: { git: { url: upstream.url } },
      every_minutes: 60,
    });
    const lastRun = async (node: Program) => {
      const response = await call(node, "GET", "/v1/projects/demo/mirror");
      return (await response.json()).last_success_at as string | null;
    };
    await asked(() => lastRun(two), (at) => at !== null);
    assert.equal(greetings(), before + 1);
    // One question for the references; nothing is new.
    assert.equal(packs(), fetched + 1);
    // A run that is asked for at another node is one run, too.
    const head = (await upstream.git("rev-parse", "main")).trim();
    const tree = (await upstream.git("rev-parse", "main^{tree}")).trim();
    const person = ["-c", "user.name=Up", "-c", "user.email=up@example.org"];
    const next = await upstream.git(...person, "commit-tree", tree, "-p", head, "-m", "Next");
    await upstream.git("update-ref", "refs/heads/main", next);
    await order(two, "POST /v1/projects/demo/mirror/run");
    await asked(() => tipAt(client, urlOf(three, scout), "main"), (tip) => tip === next);
    assert.equal(greetings(), before + 2);
    // After a move, the new home runs it.
    await moveProject(nodes[0], "demo", "two");
    await order(three, "POST /v1/projects/demo/mirror/run");
    await asked(() => Promise.resolve(greetings()), (count) => count >= before + 3);
    const settled = async () =>
      (await (await call(three, "GET", "/v1/projects/demo/mirror")).json()).last_error;
    await asked(settled, (error) => error === null);
    assert.equal(greetings(), before + 3);
  },
);
