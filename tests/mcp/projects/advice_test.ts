/** What a model reads when a call fails, and in the prompt for reviews. */
import assert from "node:assert/strict";
import { commitFiles } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";
import { type ToolTest, withTools } from "./support.ts";

interface Prompt {
  readonly messages: readonly { readonly content: { readonly text: string } }[];
}

async function openReview(test: ToolTest): Promise<number> {
  await test.use("create_workspace", { name: "mine" });
  const changes = [{ path: "a.txt", content: "A new line\n" }];
  await test.use("commit_files", { workspace: "mine", message: "Add a", changes });
  return (await test.use("create_review", { title: "Add a", workspace: "mine" })).data.id;
}

Deno.test("the prompt for a review holds its diff, and fails if there is no such review", async () => {
  await withTools(async (test) => {
    const id = String(await openReview(test));
    const ask = (id: string) =>
      test.rpc("prompts/get", { name: "review", arguments: { id } }) as Promise<Prompt>;
    const { messages: [message] } = await ask(id);
    assert.match(message?.content.text ?? "", /## The review\n\n\{[^]*\+A new line/);
    await assert.rejects(ask("99"), /Review not found\. list_reviews shows the reviews/);
  });
});

Deno.test("the prompt for a shift tells each caller what it may do", async () => {
  await withTools(async (test) => {
    const ask = async (as: string) => {
      const params = { name: "start_shift", arguments: {} };
      const { messages: [message] } = await test.rpc("prompts/get", params, as) as Prompt;
      return message?.content.text ?? "";
    };
    assert.match(await ask(test.caller), /## Your inbox\n\n[^]*Then take one open ticket/);
    const reader = await ask(await test.token({ owner: "caller", scopes: ["read"] }));
    assert.match(reader, /## Your inbox[^]*\n\nYou may read here, and change nothing\.$/);
    assert.doesNotMatch(await ask(test.operator), /Your inbox|required/);
  });
});

Deno.test("a refused verdict or merge says how a review gets its approval", async () => {
  await withTools(async (test) => {
    const id = await openReview(test);
    assert.match(
      await test.fail("approve_review", { id }),
      /^Cannot approve your own review\. Another agent or a person .* approves it/,
    );
    assert.match(await test.fail("merge_workspace", { name: "mine" }), /get_review shows what/);
  });
});

Deno.test("errors of the tools for code and workspaces name the tool that helps", async () => {
  await withTools(async (test) => {
    await commitFiles(test, { "a.txt": "a\n" });
    const { data: { uuid } } = await test.use("create_ticket", { title: "One", body: "" });
    const free = { name: "w", ticket: uuid };
    assert.match(await test.fail("create_workspace", free), /claim it first\. claim_ticket claims/);
    await test.use("create_workspace", { name: "w" });
    assert.match(await test.fail("create_workspace", { name: "w" }), /list_workspaces/);
    const none = { workspace: "w", message: "Nothing" };
    assert.match(
      await test.fail("commit_files", none),
      /^Nothing to commit: give "changes", "edits" or "patch"$/,
    );
    assert.match(await test.fail("read_file", { filepath: "none" }), /browse_code lists the files/);
    const lost = { filepath: "a.txt", checkin: "workspace/none" };
    assert.match(await test.fail("read_file", lost), /get_branches/);
    const merged = await test.fail("update_workspace", { name: "w" });
    assert.match(merged, /^"[0-9a-f]{10}" is merged already\. get_workspace shows its state$/);
    const others = { workspace: "w", message: "Mine", changes: [{ path: "b", content: "b" }] };
    assert.match(
      await test.fail("commit_files", others, test.other),
      /belongs to .*start_work makes one of your own/,
    );
    const branch = { checkin: "workspace/w", context: "tests", state: "success" };
    assert.match(await test.fail("report_ci_status", branch), /get_workspace shows the tip/);
  });
});

Deno.test("an unknown project is an error about the project, and long names do not fill an error", async () => {
  await withTools(async (test) => {
    const text = await test.fail("read_file", { slug: "demoo", filepath: "a" });
    assert.equal(text, 'There is no project "demoo" that you may see; list_projects names yours');
    const long = await test.fail("read_file", { filepath: "x".repeat(4096) });
    assert.ok(long.length < 5000 && long.endsWith("get_branches the branches"), long.slice(0, 80));
    const longer = await test.fail("read_file", { filepath: "x".repeat(4097) });
    assert.equal(longer, '"path" must have at most 4096 characters');
    const half = { path: "a", content: "\ud800" };
    const broken = { workspace: "w", message: "m", changes: [half] };
    assert.match(await test.fail("commit_files", broken), /^"changes" has half of a character/);
    assert.match(await test.fail("search_code", { query: " " }), /^"query" must have a word/);
    const literal = { path: "a", content: "\\ud800" };
    const fine = { workspace: "w", message: "m", changes: [literal] };
    await test.use("create_workspace", { name: "w", from: "" });
    assert.deepEqual((await test.use("commit_files", fine)).data.files, ["a"]);
    const read = await test.use("read_file", { filepath: "./a", checkin: "workspace/w" });
    assert.equal(read.data.content, literal.content);
    const { data: root } = await test.use("browse_code", { path: ".", checkin: "" });
    assert.equal(root.path, "");
  });
});

Deno.test("errors name tools in place of requests of HTTP", async () => {
  await withTools(async (test) => {
    await test.use("create_workspace", { name: "mine" });
    const work = { workspace: "mine", message: "Theirs", changes: [{ path: "b", content: "b" }] };
    const texts = [
      await test.fail("commit_files", work, test.other),
      await test.fail("abandon_workspace", { name: "mine" }, test.other),
      await test.fail("write_wiki_page", { page_name: "Plan", content: "" }),
      await test.fail("get_workspace", { name: ".." }),
    ];
    assert.match(texts[0] ?? "", /take_over_workspace makes it yours/);
    for (const text of texts) assert.doesNotMatch(text, /GET|POST|PUT|PATCH|DELETE|\/api|…/);
  });
});

Deno.test("a resource over 1 MiB is refused before it is read", async () => {
  await withTools(async (test) => {
    await commitFiles(test, {
      "big.txt": "x".repeat(2 ** 20 + 1),
      "fits.txt": "y".repeat(2 ** 20),
    });
    const read = (path: string) =>
      test.rpc("resources/read", { uri: `muster://project/demo/file/${path}` });
    await assert.rejects(read("big.txt"), /larger than 1 MiB: get_file reads parts of it"/);
    const { contents: [content] } = await read("fits.txt") as { contents: { text: string }[] };
    assert.equal(content?.text.length, 2 ** 20);
    const refused = await test.send("GET /api/file?path=big.txt&max_bytes=1048576");
    const { error } = await refused.json();
    assert.deepEqual([refused.status, error], [413, '"big.txt" has 1048577 bytes']);
  });
});

Deno.test("the list of resources passes over projects that have none", async () => {
  await withTools(async (test) => {
    const { projects } = test.api.services.hosting;
    for (const slug of ["alpha", "beta", "zeta"]) {
      await projects.create(
        { slug, name: slug, description: "", visibility: "public" },
        BY_OPERATOR,
      );
    }
    await test.use("create_ticket", { slug: "demo", title: "A fault", body: "It fails" });
    const list = async (cursor?: string) =>
      await test.rpc("resources/list", cursor === undefined ? {} : { cursor }) as {
        resources: { uri: string }[];
        nextCursor?: string;
      };
    const first = await list();
    assert.match(first.resources[0]?.uri ?? "", /^muster:\/\/project\/demo\/ticket\//);
    assert.deepEqual(await list(first.nextCursor), { resources: [] });
  });
});

Deno.test("a resource named .. is not found, and leads to no other route", async () => {
  await withTools(async (test) => {
    for (const name of ["wiki/..", "wiki/%2E%2E", "ticket/..", "ticket/."]) {
      const read = test.rpc("resources/read", { uri: `muster://project/demo/${name}` });
      await assert.rejects(read, /There is no|Ticket not found/, name);
    }
  });
});

Deno.test("who lists the contract's names of tools reads these in errors and instructions too", async () => {
  await withTools(async (test) => {
    const missing = { filepath: "none.txt" };
    assert.match(await test.fail("read_file", missing, test.operator), /list_branches/);
    assert.match(await test.fail("get_file", missing), /get_branches/);
    const opening = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} };
    const { instructions } = await test.rpc("initialize", opening, test.operator) as {
      instructions: string;
    };
    assert.match(instructions, /search_code/);
    assert.doesNotMatch(instructions, /search_project/);
  });
});
