/** Pushes that take long to store, beside everybody else's writes. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { gitTest, requireSame } from "../../../support/git_pushes.ts";
import type { Clone } from "../../../support/git_client.ts";
import type { GitTest } from "../../../support/git_door.ts";
import { commitFiles } from "../../../support/projects.ts";
import { until } from "../../../support/until.ts";

const COMMITS = 400;

/** Adds a line of commits, each of which changes a file, to the branch `long`. */
async function addCommits(clone: Clone, client: GitTest["client"]): Promise<void> {
  const commits = Array.from({ length: COMMITS }, (_, number) => {
    const content = `${number}\n`;
    const parent = number === 0 ? "from refs/heads/trunk^0\n" : "";
    return `commit refs/heads/long\ncommitter Eve <eve@example.org> ${1_700_000_000 + number} +0000
data 4\nnext\n${parent}M 100644 inline ${number % 7}.txt\ndata ${content.length}\n${content}\n`;
  });
  const stream = new TextEncoder().encode(commits.join(""));
  await client.git(["fast-import", "--quiet"], clone.folder, stream);
}

/** Whether a push is being rehearsed. */
function isRehearsing({ api }: GitTest): boolean {
  const { folder } = api.services.hosting.repositories.files;
  const uploads = namesIn(folder).filter((name) => name.startsWith(".upload-"));
  return uploads.some((upload) => namesIn(join(folder, upload)).includes("rehearsal"));
}

/** The names in a folder, which may go away. */
function namesIn(folder: string): string[] {
  try {
    return Array.from(Deno.readDirSync(folder), ({ name }) => name);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Begins to push a long line of commits to a project with one file; returns once it is rehearsed. */
async function pushLong(test: GitTest, refspec: string) {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await addCommits(clone, test.client);
  const pushing = clone.run("push", "origin", refspec);
  await until(() => isRehearsing(test));
  return { clone, pushing };
}

gitTest("a long push keeps no other write waiting", async (test) => {
  const { clone, pushing } = await pushLong(test, "long");
  const ended: string[] = [];
  const noting = pushing.then(() => ended.push("push"));
  await test.answer("POST /api/tickets", { body: { title: "meanwhile" } });
  ended.push("ticket");
  const push = await pushing;
  await noting;
  assert.equal(push.code, 0, push.stderr);
  assert.deepEqual(ended, ["ticket", "push"]);
  await requireSame(test, clone, "refs/heads");
  const { tickets } = await test.answer("GET /api/tickets");
  assert.equal(tickets.length, 1);
});

gitTest("commits that come during a long push are kept, and it is stored", async (test) => {
  const { clone, pushing } = await pushLong(test, "long");
  await commitFiles(test, { "a.txt": "b\n" });
  const push = await pushing;
  assert.equal(push.code, 0, push.stderr);
  await clone.git("fetch", "--quiet", "origin", "trunk:trunk", "--update-head-ok");
  await requireSame(test, clone, "refs/heads");
  assert.equal((await clone.git("show", "trunk:a.txt")).trim(), "b");
});

gitTest(
  "a long push to a branch that moves meanwhile is refused, and leaves nothing",
  async (test) => {
    const { pushing } = await pushLong(test, "long:trunk");
    await commitFiles(test, { "a.txt": "b\n" });
    const { checkins: before } = await test.answer("GET /api/timeline");
    const push = await pushing;
    assert.notEqual(push.code, 0);
    assert.match(push.stderr, /changed meanwhile: fetch first/);
    assert.deepEqual((await test.answer("GET /api/timeline")).checkins, before);
    assert.equal(isRehearsing(test), false);
  },
);

gitTest("a long push waits for no room on the disk, and is stored without a copy", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await addCommits(clone, test.client);
  Object.defineProperty(test.api.services.space, "hasRoomFor", {
    value: (bytes: number) => bytes < 4096,
  });
  const folder = test.api.services.hosting.repositories.files.folder;
  const made: string[] = [];
  const watcher = Deno.watchFs(folder);
  const watching = (async () => {
    for await (const { paths } of watcher) made.push(...paths);
  })();
  const push = await clone.run("push", "origin", "long");
  watcher.close();
  await watching;
  assert.equal(push.code, 0, push.stderr);
  assert.deepEqual(made.filter((path) => path.includes("rehearsal")), []);
  await requireSame(test, clone, "refs/heads");
});

/** What is done to a pusher while a long push is being rehearsed, and how it is refused. */
const LOSSES: Readonly<
  Record<string, { readonly lose: (test: GitTest) => Promise<unknown>; readonly refusal: RegExp }>
> = {
  "a role": {
    lose: ({ api }) => api.answer("PUT /v1/projects/demo/members/caller", { role: "read" }),
    refusal: /Only members with the role write/,
  },
  "a credential": {
    lose: async ({ api }) => {
      const tokens = await api.answer("GET /v1/tokens?owner=caller") as { id: string }[];
      for (const { id } of tokens) await api.send({ request: `DELETE /v1/tokens/${id}` });
    },
    refusal: /login failed/,
  },
  "an open branch": {
    lose: (test) =>
      test.answer("PUT /api/protection", { body: [{ pattern: "long", push: "admin" }] }),
    refusal: /remote rejected.*long/,
  },
  "an active project": {
    lose: ({ api }) => api.answer("PATCH /v1/projects/demo", { archived: true }),
    refusal: /archived|not authorized to write/,
  },
  "the right to go on": {
    lose: ({ api }) => api.answer("POST /v1/halt", { agents: ["caller"] }),
    refusal: /halted/,
  },
};

for (const [what, { lose, refusal }] of Object.entries(LOSSES)) {
  gitTest(`a long push of a pusher who loses ${what} meanwhile is refused`, async (test) => {
    const { pushing } = await pushLong(test, "long");
    await lose(test);
    const push = await pushing;
    assert.notEqual(push.code, 0);
    assert.match(push.stderr, refusal, push.stderr);
    const { total } = await test.answer("GET /api/timeline");
    assert.equal(total, 2);
  });
}
