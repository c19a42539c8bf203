/** Clones and pushes that end before they are whole: by a lost connection, a right or a limit. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { BY_OPERATOR } from "../../../support/services.ts";
import { commitFiles } from "../../../support/projects.ts";
import { type SyncTest, withSync } from "../../../support/sync.ts";
import { judged } from "../../engines/fossil/support/judges.ts";

/** Runs a task with a server in between, which sees the number of each message before the server. */
async function withProxy(
  { url, origin }: SyncTest,
  before: (message: number) => Promise<Response | null>,
  run: (url: string) => Promise<void>,
): Promise<void> {
  let messages = 0;
  const proxy = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const body = await request.arrayBuffer();
      const instead = await before(++messages);
      const headers = { "content-type": request.headers.get("content-type") ?? "" };
      const { pathname } = new URL(request.url);
      return instead ?? await fetch(origin + pathname, { method: request.method, headers, body });
    },
  );
  try {
    await run(url.replace(/:\d+\//, `:${proxy.addr.port}/`));
  } finally {
    await proxy.shutdown();
  }
}

/** Commits more than one answer of a clone holds. */
async function fill(test: SyncTest): Promise<void> {
  for (const name of ["a", "b", "c"]) {
    await commitFiles(test, { [`${name}.bin`]: new Uint8Array(randomBytes(3_000_000)) });
  }
}

/** The first message of a clone has no login; the second gets the first part, the third the next. */
const SECOND_PART = 3;

judged("a clone that is cut off leaves nothing broken, and a new one is whole", async (program) => {
  await withSync(program, async (test) => {
    const { client, url } = test;
    await fill(test);
    const cut = (message: number) =>
      Promise.resolve(message === SECOND_PART ? new Response("cut off", { status: 502 }) : null);
    await withProxy(test, cut, async (through) => {
      await client.run(["clone", through, "cut.fossil"]);
    });
    const folder = await client.checkout(url, "whole");
    assert.equal(Deno.statSync(`${folder}/a.bin`).size, 3_000_000);
    if (Array.from(Deno.readDirSync(client.folder)).some(({ name }) => name === "cut.fossil")) {
      // Newer programs keep what came, and a pull goes on.
      await client.fossil(["pull", url, "--once", "-R", "cut.fossil"]);
      await client.fossil(["rebuild", "cut.fossil"]);
      await test.assertSound(client.path("cut.fossil"));
    }
    await test.assertSound(client.path("whole.fossil"));
  });
});

judged("a clone gets no more once its token is revoked", async (program) => {
  await withSync(program, async (test) => {
    const { client, api: { services } } = test;
    await fill(test);
    const revoke = async (message: number) => {
      if (message !== SECOND_PART) return null;
      for (const { id, owner } of await services.tokens.list()) {
        if (owner === "caller") await services.tokens.revoke(id, BY_OPERATOR);
      }
      return null;
    };
    await withProxy(test, revoke, async (through) => {
      const { stdout, stderr } = await client.run(["clone", through, "revoked.fossil"]);
      assert.match(stdout + stderr, /login failed/);
    });
  });
});

judged(
  "a push that is too large is refused with the limit, and stores nothing of it",
  async (program) => {
    const options = { config: { limits: { sync_bytes: 1_048_576 } } };
    await withSync(program, async (test) => {
      const { client, url, answer, caller } = test;
      const folder = await client.checkout(url);
      await client.fossil(["settings", "autosync", "off"], folder);
      for (const [name, bytes] of [["small", 1000], ["large", 2_000_000]] as const) {
        Deno.writeFileSync(`${folder}/${name}.bin`, randomBytes(bytes));
        await client.fossil(["addremove"], folder);
        await client.fossil(["commit", "--no-warnings", "-m", `Add ${name}`], folder);
      }
      const { stdout, stderr } = await client.run(["push"], folder);
      assert.match(stdout + stderr, /1048576 bytes/);
      const { checkins } = await answer("GET /api/timeline", { as: caller });
      assert(checkins.every(({ comment }: { comment: string }) => comment !== "Add large"));
      await test.assertSound();
    }, options);
  },
);
