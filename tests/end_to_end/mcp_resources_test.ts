import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { call, registerAgent } from "../support/api.ts";
import { stdioLaunch, type Wire } from "../support/foreign_mcp.ts";
import { type Program, startProgram } from "../support/program.ts";

const API = "/projects/demo/fossil/api";

/** A project with a file, a wiki page and a ticket. */
async function startWithContent(): Promise<{ program: Program; ticket: string }> {
  const program = await startProgram();
  const must = async (method: string, path: string, body: unknown) => {
    const response = await call(program, method, path, body);
    assert.ok(response.ok, `${path}: ${response.status}`);
    return await response.json();
  };
  const project = { slug: "demo", name: "Demo", description: "", visibility: "private" };
  await must("POST", "/v1/projects", project);
  await must("POST", `${API}/workspaces/create`, { name: "seed" });
  const changes = [{ path: "docs/a b.txt", content: "one\ntwo\n" }];
  await must("POST", `${API}/workspaces/seed/commit`, { message: "Seed", changes });
  await must("POST", `${API}/workspaces/seed/merge`, {});
  await must("PUT", `${API}/wiki/Home`, { content: "# Home", mimetype: "text/x-markdown" });
  const { uuid } = await must("POST", `${API}/tickets`, { title: "A fault" });
  return { program, ticket: uuid };
}

async function tokenOf(program: Program, nick: string, isMember: boolean): Promise<string> {
  await registerAgent(program, nick, { channels: ["general"] });
  if (isMember) {
    await call(program, "PUT", `/v1/projects/demo/members/${nick}`, { role: "read" });
  }
  const request = { owner: nick, name: "test", scopes: ["read"] };
  return (await (await call(program, "POST", "/v1/tokens", request)).json()).token;
}

async function connect(program: Program, wire: Wire, token: string, pin: string): Promise<Client> {
  const mode = pin === "2026-07-28" ? { pin } : "legacy" as const;
  const client = new Client({ name: "test", version: "1" }, {
    versionNegotiation: { mode },
    ...(mode === "legacy" ? { supportedProtocolVersions: [pin] } : {}),
  });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(
    wire === "HTTP"
      ? new StreamableHTTPClientTransport(new URL(program.mcp), { requestInit })
      : new StdioClientTransport(stdioLaunch(program, token)),
  );
  return client;
}

/** Lists and reads everything that {@linkcode startWithContent} made. */
async function readResources(client: Client, ticket: string): Promise<void> {
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map(({ uri }) => uri), [
    "muster://project/demo/wiki/Home",
    `muster://project/demo/ticket/${ticket}`,
  ]);
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.equal(resourceTemplates.length, 3);
  const read = async (uri: string) => {
    const { contents: [content] } = await client.readResource({ uri });
    return content !== undefined && "text" in content ? content.text : "";
  };
  assert.equal(await read("muster://project/demo/file/docs/a%20b.txt"), "one\ntwo\n");
  assert.equal(await read("muster://project/demo/file/docs/a%20b.txt?checkin=trunk"), "one\ntwo\n");
  assert.equal(await read("muster://project/demo/wiki/Home"), "# Home");
  assert.match(await read(`muster://project/demo/ticket/${ticket}`), /A fault/);
  await assert.rejects(read("muster://project/demo/file/nothing"), /nothing/);
  await assert.rejects(read("muster://elsewhere"), /There is no such resource/);
  const completed = async (name: string, value: string) => {
    const ref = { type: "ref/prompt" as const, name: "start_shift" };
    return (await client.complete({ ref, argument: { name, value } })).completion.values;
  };
  assert.deepEqual(await completed("slug", "de"), ["demo"]);
  assert.deepEqual(await completed("slug", "x"), []);
  assert.deepEqual(await completed("id", ""), []);
}

Deno.test("files, wiki pages and tickets are resources for those who may read them", async (t) => {
  const { program, ticket } = await startWithContent();
  await using _ = program;
  for (const revision of ["2025-11-25", "2026-07-28"]) {
    for (const wire of ["HTTP", "stdio"] satisfies Wire[]) {
      await t.step(`of ${revision} over ${wire}`, async () => {
        const token = await tokenOf(program, `reader-${revision}-${wire}`, true);
        const client = await connect(program, wire, token, revision);
        await readResources(client, ticket);
        await client.close();
      });
    }
  }
  await t.step("a stranger to the project is offered none", async () => {
    const token = await tokenOf(program, "stranger", false);
    const client = await connect(program, "HTTP", token, "2025-11-25");
    assert.equal(client.getServerCapabilities()?.resources, undefined);
    await client.close();
  });
  await t.step("the contract's initialize shows tools alone, also to the operator", async () => {
    const response = await fetch(program.mcp, {
      method: "POST",
      headers: { authorization: `Bearer ${program.token}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }),
    });
    assert.deepEqual((await response.json()).result.capabilities, { tools: {} });
  });
});

Deno.test("the prompts hold the caller's shift, and a review with its diff", async () => {
  const { program } = await startWithContent();
  await using _ = program;
  const token = await tokenOf(program, "reader", true);
  const client = await connect(program, "HTTP", token, "2025-11-25");
  const { prompts } = await client.listPrompts();
  assert.deepEqual(prompts.map(({ name }) => name), ["start_shift", "review"]);
  const { messages: [message] } = await client.getPrompt({ name: "start_shift" });
  assert.ok(message?.content.type === "text");
  assert.match(message.content.text, /^You are "reader" on muster/);
  assert.match(message.content.text, /A fault/);
  const change = { message: "Greet", changes: [{ path: "hello.txt", content: "Hello\n" }] };
  for (
    const [path, body] of [
      ["workspaces/create", { name: "hello" }],
      ["workspaces/hello/commit", change],
      ["reviews/create", { title: "Greet", workspace: "hello" }],
    ] as const
  ) assert.ok((await call(program, "POST", `${API}/${path}`, body)).ok, path);
  const review = { name: "review", arguments: { id: "1", slug: "demo" } };
  const { messages: [filled] } = await client.getPrompt(review);
  assert.ok(filled?.content.type === "text");
  assert.match(filled.content.text, /## The review[^]*"title": "Greet"[^]*\+Hello/);
  await assert.rejects(client.getPrompt({ name: "review", arguments: { id: "x" } }), /number/);
  await assert.rejects(client.getPrompt({ name: "nothing" }), /There is no prompt "nothing"/);
  await client.close();
});
