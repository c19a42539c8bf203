import assert from "node:assert/strict";
import { commitFiles } from "../../support/projects.ts";
import { type ToolTest, withTools } from "./support.ts";

const MAIN = '#include <stdio.h>\n\nint main(void) {\n  puts("Hello");\n  return 0;\n}\n';

/** Most calls from the first one to the landed change, and most text of their results. */
const [MOST_CALLS, MOST_CHARACTERS] = [12, 8_000];

/** A model whose client lists what an agent's client lists, and nothing else. */
async function modelOf(test: ToolTest) {
  const { tools } = await test.rpc("tools/list", {}) as { tools: { name: string }[] };
  const listed = new Set(tools.map(({ name }) => name));
  const results: string[] = [];
  return {
    results,
    async use(name: string, input: object = {}) {
      assert.ok(listed.has(name), `${name} is listed`);
      const { content, isError } = await test.rpc("tools/call", { name, arguments: input }) as {
        content: { text: string }[];
        isError: boolean;
      };
      const text = content.map(({ text }) => text).join("\n");
      assert.equal(isError, false, `${name}: ${text}`);
      results.push(text);
      return text;
    },
  };
}

Deno.test("from hello to landed, an agent makes few calls and reads little", async () => {
  await withTools(async (test) => {
    await commitFiles(test, { "src/main.c": MAIN, "README.md": "# Demo\n" });
    for (const title of ["Greet the world", "Tidy up"]) {
      await test.use("create_ticket", { title, body: "Say what and to whom." }, test.other);
    }
    const { results, use } = await modelOf(test);
    await use("get_my_work");
    await use("list_tickets", { unclaimed: true });
    assert.match(await use("start_work", { ticket: "#1" }), /Say what and to whom/);
    await use("search_project", { query: "Hello", kind: "code" });
    await use("get_file", { path: "src/main.c" });
    await use("commit_files", {
      workspace: "ticket-1",
      message: "Greet the world",
      edits: [{ path: "src/main.c", old_text: "Hello", new_text: "Hello, world" }],
    });
    await use("submit_work", { ticket: 1, summary: "It greets the world", reviewers: ["other"] });
    await test.use("approve_review", { review: 1, comment: "Good" }, test.other);
    assert.match(await use("read_inbox", { wait_seconds: 60 }), /approved/);
    await use("get_review", { review: 1, diff: "none" });
    await use("land_review", { review: 1 });
    assert.match(await use("read_inbox", { wait_seconds: 60 }), /has landed on trunk/);
    const whole = results.join("");
    assert.ok(results.length <= MOST_CALLS, `${results.length} calls`);
    assert.ok(whole.length < MOST_CHARACTERS, `${whole.length} characters`);
  });
});
