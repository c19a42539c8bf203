/** The `fossil` program commits while muster writes. */
import assert from "node:assert/strict";
import { judged } from "../../engines/fossil/support/judges.ts";
import { type SyncTest, withSync } from "../../../support/sync.ts";

const COMMIT = ["commit", "-m", "Theirs"];

/** The first file of a commit; `fossil` asks whether to commit it. */
const BINARY = new Uint8Array([1, 0, 2]);

/**
 * Runs `fossil commit` in a checkout, and work while it waits for an answer. It has begun its
 * transaction by then, and has not written yet.
 */
async function commitAround(
  program: string,
  { client }: SyncTest,
  { folder, work }: { readonly folder: string; readonly work: () => Promise<unknown> },
): Promise<{ readonly success: boolean; readonly text: string }> {
  const child = new Deno.Command(program, {
    args: COMMIT,
    cwd: folder,
    env: { HOME: client.folder, USER: "caller", LC_ALL: "C.UTF-8" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const errors = new Response(child.stderr).text();
  let text = "";
  let isAsked = false;
  const answers = child.stdin.getWriter();
  for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += part;
    if (isAsked || !text.includes("Commit anyhow")) continue;
    isAsked = true;
    await work();
    await answers.write(new TextEncoder().encode("y\n"));
  }
  await answers.close();
  const { success } = await child.status;
  return { success, text: `${text}${await errors}` };
}

/** Has muster write 100 wiki pages. */
async function writePages({ answer, caller }: SyncTest): Promise<void> {
  for (let page = 0; page < 100; page++) {
    await answer(`PUT /api/wiki/Ours-${page}`, { as: caller, body: { content: "ours" } });
  }
}

async function assertCommitted({ answer, assertSound, catchUp }: SyncTest): Promise<void> {
  await catchUp();
  const { checkins } = await answer("GET /api/timeline?branch=trunk");
  assert.equal(checkins[0].comment, "Theirs");
  assert.equal((await answer("GET /api/wiki")).pages.length, 100);
  await assertSound();
}

judged("fossil commits in a clone while muster writes", async (program) => {
  await withSync(program, async (test) => {
    const folder = await test.client.checkout(test.url);
    test.client.write("work/a.bin", BINARY);
    await test.client.fossil(["add", "a.bin"], folder);
    const work = () => writePages(test);
    const { success, text } = await commitAround(program, test, { folder, work });
    assert.ok(success, text);
    await assertCommitted(test);
  });
});

judged(
  "fossil gives up in a checkout of the file if muster writes, and can repeat",
  async (program) => {
    await withSync(program, async (test) => {
      const { client } = test;
      const folder = client.path("work");
      client.write("work/a.bin", BINARY);
      await client.fossil(["user", "new", "caller", "", "secret", "-R", test.file]);
      await client.fossil(["open", test.file, "--keep"], folder);
      await client.fossil(["add", "a.bin"], folder);
      const work = () => writePages(test);
      const { success, text } = await commitAround(program, test, { folder, work });
      assert.equal(success, false);
      assert.match(text, /database is locked/);
      assert.match(await client.fossil(["changes"], folder), /^ADDED +a\.bin$/m);
      await client.fossil([...COMMIT, "--no-warnings"], folder);
      await assertCommitted(test);
    });
  },
);
