/** One short way through each door of the real program, beside those of `main_job_test.ts`. */
import assert from "node:assert/strict";
import { FakeProvider, jsonLines } from "../services/models/llm/support/provider.ts";
import { order, registerAgent } from "../support/api.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { StdioMcp } from "../support/stdio.ts";
import { exchange } from "../support/sync_messages.ts";

/** Runs a command beside a started program; gives what it printed. */
async function run(program: Program, args: readonly string[], stdin = ""): Promise<string> {
  const environment = { MUSTER_URL: program.api, MUSTER_TOKEN: program.token };
  const { folder } = program;
  const { code, stdout, stderr } = await runMuster(args, { folder, environment, stdin });
  assert.equal(code, 0, stderr);
  return stdout;
}

Deno.test("files that the API commits are on the page of the project, and in a clone", async () => {
  await using program = await startProgram();
  await order(program, "POST /v1/projects", { slug: "demo", name: "Demo", visibility: "public" });
  const workspaces = "/projects/demo/fossil/api/workspaces";
  await order(program, `POST ${workspaces}/create`, { name: "work" });
  const changes = [{ path: "hello.md", content: "# Hello\n" }];
  await order(program, `POST ${workspaces}/work/commit`, { message: "Say hello", changes });
  await order(program, `POST ${workspaces}/work/merge`, {});

  const page = await fetch(`${program.api}/projects/demo`, { headers: { accept: "text/html" } });
  const html = await page.text();
  assert.equal(page.status, 200, html);
  assert.match(html, /hello\.md/);
  const [, style = ""] = /href="(\/assets\/[^"]+\.css)"/.exec(html) ?? [];
  const css = await fetch(new URL(style, program.api));
  assert.equal(css.headers.get("content-type"), "text/css; charset=utf-8");
  assert.ok((await css.text()).length > 1000);

  const { cards, errors } = await exchange(fetch, `${program.api}/projects/demo/fossil`, {
    cards: [{ kind: "clone", version: 3, sequence: 1 }],
  });
  assert.deepEqual(errors, []);
  assert.ok(
    cards.filter(({ kind }) => kind === "cfile" || kind === "file").length >= 3,
    Deno.inspect(cards),
  );
});

Deno.test("MCP on standard input and output reads what was said beside it", async () => {
  await using program = await startProgram();
  await order(program, "POST /v1/channels/general/messages", { nick: "ann", text: "hello" });
  await using stdio = new StdioMcp({ folder: program.folder });
  await stdio.initialize();
  assert.match(await stdio.call("get_history", { channel: "#general" }), /<ann> hello/);
});

Deno.test("the command line shows what the server has, and its help without one", async () => {
  await using program = await startProgram();
  await registerAgent(program, "scout");
  assert.match(await run(program, ["agent", "list"]), /^scout /m);
  assert.match(await run(program, ["status"]), /^agents +1$/m);
  assert.equal(await program.stop(), 0);
  assert.match(await run(program, ["--help"]), /Exit codes: 0 done/);
});

Deno.test("an admin logs in with the password of the command line, and sees the pages", async () => {
  await using program = await startProgram();
  await run(program, ["admin", "passwd", "admin", "--password-stdin"], "correct horse");
  const answer = await fetch(`${program.api}/login`, {
    method: "POST",
    body: JSON.stringify({ username: "admin", password: "correct horse" }),
  });
  assert.deepEqual(await answer.json(), { username: "admin" });
  const cookie = answer.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
  const page = await fetch(`${program.api}/settings`, {
    headers: { cookie, accept: "text/html" },
  });
  assert.equal(page.status, 200, await page.text());
});

Deno.test("a model answers through a backend, whole and as a stream", async () => {
  const line = { model: "m", message: { role: "assistant", content: "hello" }, done: false };
  const end = { ...line, done: true, done_reason: "stop", prompt_eval_count: 2, eval_count: 1 };
  await using provider = new FakeProvider(({ path, body }) => {
    if (path === "/api/tags") return Promise.resolve(Response.json({ models: [{ name: "m" }] }));
    const { stream } = body as { stream: boolean };
    return Promise.resolve(stream ? jsonLines([line, end]) : Response.json(end));
  });
  await using program = await startProgram();
  await run(program, ["backend", "add", "home", "ollama", "--base-url", provider.url]);
  const request = { model: "home/m", messages: [{ role: "user", content: "hi" }] };
  const complete = async (more: object) => {
    const response = await fetch(`${program.api}/v1/llm/complete`, {
      method: "POST",
      headers: { authorization: `Bearer ${program.token}` },
      body: JSON.stringify({ ...request, ...more }),
    });
    return await response.text();
  };
  assert.match(await complete({}), /hello/);
  assert.match(await complete({ stream: true }), /hello.*\[DONE\]\n\n$/s);
});
