/** Projects on several nodes: every node answers for each of them. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, callAs, order, registerAgent } from "../support/api.ts";
import { reaches, TestCluster, testCluster } from "../support/cluster.ts";
import { peer } from "../support/peers.ts";
import type { Program } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { within } from "../support/until.ts";

/** The projects, named after the nodes that have them. */
const SLUGS = ["also-on-one", "also-on-two", "on-one", "on-two"];

/** The repositories in a node's data folder. */
async function repositoriesIn(folder: string): Promise<string[]> {
  const slugs = [];
  for await (const { name } of Deno.readDir(join(folder, "data", "projects"))) {
    if (name.endsWith(".fossil")) slugs.push(name.slice(0, -".fossil".length));
  }
  return slugs.sort();
}

testCluster("each node answers for the projects of the others", async (cluster) => {
  const one = await cluster.start("one");
  const two = await cluster.start("two");
  const scout = await registerAgent(one, "scout");
  const make = async (node: Program, slug: string) => {
    await order(node, "POST /v1/projects", { slug });
    await order(node, `PUT /v1/projects/${slug}/members/scout`, { role: "write" });
  };
  await make(one, "on-one");
  await make(two, "on-two");
  await reaches(one, "on-two");
  await reaches(two, "on-one");
  await make(two, "also-on-one");
  await make(one, "also-on-two");
  assert.deepEqual(await repositoriesIn(cluster.folderOf("one")), ["also-on-one", "on-one"]);
  assert.deepEqual(await repositoriesIn(cluster.folderOf("two")), ["also-on-two", "on-two"]);

  for (const node of [one, two]) {
    const listed = await order(node, "GET /v1/projects") as { slug: string }[];
    assert.deepEqual(listed.map(({ slug }) => slug), SLUGS);
    for (const slug of SLUGS) {
      const base = `/projects/${slug}/fossil/api`;
      const filed = await callAs(node, scout, "POST", `${base}/tickets`, { title: node.api });
      assert.equal(filed.status, 201, await filed.clone().text());
      const { uuid } = await filed.json();
      const other = node === one ? two : one;
      const claimed = await callAs(other, scout, "POST", `${base}/tickets/${uuid}/claim`, {});
      assert.equal(claimed.status, 201, await claimed.text());
      const guest = await fetch(`${node.api}${base}/tickets`);
      assert.equal(guest.status, 404, await guest.text());
    }
  }
  const missing = await call(one, "GET", "/projects/third/fossil/api/tickets");
  assert.equal(missing.status, 404, await missing.text());
});

/** Two nodes, and the project `demo` on the first one with an agent who may write. */
async function startTwo(cluster: TestCluster) {
  const one = await cluster.start("one", { MUSTER_TRUSTED_PROXIES: '["127.0.0.1"]' });
  const scout = await registerAgent(one, "scout");
  await order(one, "POST /v1/projects", { slug: "demo" });
  await order(one, "PUT /v1/projects/demo/members/scout", { role: "write" });
  const two = await cluster.start("two", { MUSTER_TRUSTED_PROXIES: '["127.0.0.1"]' });
  await reaches(two, "demo");
  return { one, two, scout };
}

/** Calls a tool, or several in one batch; returns the results. */
async function callTools(node: Program, calls: readonly [name: string, input: object][]) {
  const messages = calls.map(([name, input], id) => (
    { jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: input } }
  ));
  const response = await fetch(node.mcp, {
    method: "POST",
    headers: { authorization: `Bearer ${node.token}` },
    body: JSON.stringify(messages.length === 1 ? messages[0] : messages),
  });
  const answer = await response.json();
  return (Array.isArray(answer) ? answer : [answer]).map(({ result }) => result);
}

testCluster("tools act in projects of other nodes, also several in a batch", async (cluster) => {
  const { one, two } = await startTwo(cluster);
  await order(two, "POST /v1/projects", { slug: "other" });
  await reaches(one, "other");
  for (const node of [one, two]) {
    for (const slug of ["demo", "other"]) {
      const [made] = await callTools(node, [["create_ticket", {
        slug,
        title: `By ${node.api}`,
        body: "Text",
      }]]);
      assert.equal(made.isError, false, JSON.stringify(made));
    }
    const results = await callTools(node, [
      ["list_tickets", { slug: "demo" }],
      ["list_tickets", { slug: "other" }],
      ["list_projects", {}],
    ]);
    assert.deepEqual(results.map(({ isError }) => isError), [false, false, false]);
  }
});

testCluster("the node with a project knows its clients behind other nodes", async (cluster) => {
  const { one, two, scout } = await startTwo(cluster);
  const logged = one.logged(/"192\.0\.2\.7"/);
  const response = await fetch(`${two.api}/projects/demo/fossil/api/tickets`, {
    headers: {
      authorization: `Basic ${btoa(`${scout.nick}:${scout.passphrase}`)}`,
      "x-forwarded-for": "192.0.2.7",
    },
  });
  assert.equal(response.status, 200, await response.text());
  const { requestId, principal } = JSON.parse(await logged);
  assert.equal(response.headers.get("x-request-id"), requestId);
  assert.equal(principal, "agent scout");
});

testCluster(
  "events of a project stream through every node, and resume on another",
  async (cluster) => {
    const { one, two, scout } = await startTwo(cluster);
    const base = "/projects/demo/fossil/api";
    const file = (title: string) =>
      callAs(two, scout, "POST", `${base}/tickets`, { title }).then((response) => response.json());
    const listen = async (node: Program, after: string | null) => {
      const response = await fetch(`${node.api}${base}/events`, {
        headers: {
          authorization: `Bearer ${node.token}`,
          accept: "text/event-stream",
          ...after === null ? {} : { "last-event-id": after },
        },
      });
      assert.equal(response.status, 200);
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      return {
        async next(title: string): Promise<string> {
          for (;;) {
            const blocks = text.split("\n\n");
            const found = blocks.find((block) => block.includes(`"title":"${title}"`));
            if (found !== undefined) return /^id: ?(.*)$/m.exec(found)?.[1] ?? "";
            const part = await within(
              Promise.resolve(reader?.read()),
              () => `The event of "${title}"`,
            );
            assert.equal(part?.done, false, text);
            text += part?.value ?? "";
          }
        },
        close: () => reader?.cancel(),
      };
    };
    const here = await listen(two, null);
    await file("First");
    const first = await here.next("First");
    await here.close();
    await file("Second");
    const there = await listen(one, first);
    await there.next("Second");
    await there.close();
  },
);

Deno.test(
  "fossil clones and pushes through a node without the repository",
  { ignore: peer("fossil").ignore || peer("postgres server").ignore },
  () =>
    withFolder(async (folder) => {
      await using cluster = await TestCluster.create(folder);
      const { two, scout } = await startTwo(cluster);
      const fossil = async (cwd: string, ...args: string[]) => {
        const { code, stdout, stderr } = await new Deno.Command("fossil", {
          args,
          cwd,
          env: { HOME: folder, FOSSIL_HOME: folder, USER: "scout" },
        }).output();
        const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
        assert.equal(code, 0, text);
        return text;
      };
      const url = new URL(`${two.api}/projects/demo/fossil`);
      url.username = scout.nick;
      url.password = await ownToken(two);
      await fossil(folder, "clone", "--save-http-password", url.href, "clone.fossil");
      const checkout = join(folder, "checkout");
      await Deno.mkdir(checkout);
      await fossil(checkout, "open", "../clone.fossil");
      const bytes = crypto.getRandomValues(new Uint8Array(60_000));
      await Deno.writeFile(join(checkout, "random"), bytes);
      await fossil(checkout, "add", "random");
      assert.doesNotMatch(
        await fossil(checkout, "commit", "-m", "Random", "--no-warnings"),
        /fail/i,
      );
      const response = await call(two, "GET", "/projects/demo/fossil/api/file?path=random");
      assert.equal(response.status, 200);
      assert.deepEqual(new Uint8Array(await response.arrayBuffer()), bytes);
    }),
);

/** A token of the agent `scout`, which the fossil program sends as it is. */
async function ownToken(node: Program): Promise<string> {
  const request = { owner: "scout", name: "sync", scopes: ["read", "write"] };
  const { token } = await order(node, "POST /v1/tokens", request) as { token: string };
  return token;
}

testCluster("a repository is imported and exported through a node without it", async (cluster) => {
  const { one, two, scout } = await startTwo(cluster);
  await callAs(two, scout, "POST", "/projects/demo/fossil/api/tickets", { title: "Kept" });
  const exported = await call(two, "GET", "/v1/projects/demo/repository");
  const file = new Uint8Array(await exported.arrayBuffer());
  await order(two, "POST /v1/projects", { slug: "copy" });
  await reaches(one, "copy");
  const imported = await fetch(`${one.api}/v1/projects/copy/repository`, {
    method: "PUT",
    headers: { authorization: `Bearer ${one.token}` },
    body: new Blob([file]).stream(),
  });
  assert.equal(imported.status, 200, await imported.text());
  const { tickets } = await order(one, "GET /projects/copy/fossil/api/tickets") as {
    tickets: { title: string }[];
  };
  assert.deepEqual(tickets.map(({ title }) => title), ["Kept"]);
  const refused = await fetch(`${one.api}/v1/projects/copy/repository`, {
    method: "PUT",
    headers: { authorization: "Bearer nonsense" },
    body: new Blob([new Uint8Array(8 * 1024 * 1024)]).stream(),
  });
  assert.equal(refused.status, 401, await refused.text());
});

testCluster("what is about several projects reads those of other nodes", async (cluster) => {
  const { two, scout } = await startTwo(cluster);
  const filed = await callAs(two, scout, "POST", "/projects/demo/fossil/api/tickets", {
    title: "Known elsewhere",
  });
  const { uuid } = await filed.json();
  const asked = await callAs(two, scout, "POST", "/v1/questions", {
    text: "May I?",
    ticket: `demo/${uuid.slice(0, 10)}`,
  });
  const question = await asked.json();
  assert.equal(asked.status, 201, JSON.stringify(question));
  assert.equal(question.ticket, `demo/${uuid}`);
  const unknown = await callAs(two, scout, "POST", "/v1/questions", {
    text: "May I?",
    ticket: "demo/0123456789",
  });
  assert.equal(unknown.status, 404, await unknown.text());
});

testCluster("pages of a project come from every node", async (cluster) => {
  const { two } = await startTwo(cluster);
  await order(two, "PATCH /v1/projects/demo", { visibility: "public" });
  const page = await fetch(`${two.api}/projects/demo`, { headers: { accept: "text/html" } });
  assert.equal(page.status, 200);
  assert.match(await page.text(), new RegExp(`${new URL(two.api).host}/projects/demo/fossil`));
});
