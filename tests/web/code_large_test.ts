import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { commitFiles } from "../support/projects.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { type TestWeb, withWeb } from "../support/web.ts";
import { THOROUGH } from "../support/level.ts";

/** Most bytes of a page, compressed. */
const MAX_PAGE = 50_000;

/** Loads a page, which must be small. */
async function seeSmall({ guest }: TestWeb, path: string) {
  const answered = await guest.see(`/projects/demo${path}`);
  const size = gzipSync(answered.html).length;
  assert.ok(size < MAX_PAGE, `${path}: ${size} bytes`);
  return answered;
}

async function withPublic(run: (web: TestWeb) => Promise<void>): Promise<void> {
  await withWeb(async (web) => {
    await web.api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    await run(web);
  });
}

/** Words that compress no better than code does. */
function line(index: number): string {
  const word = (index * 2_654_435_761 % 4_294_967_296).toString(36);
  return `const ${word} = compute(${index}, "${word.split("").reverse().join("")}");`;
}

Deno.test("a file of 20 MB is shown in parts", THOROUGH, async () => {
  await withPublic(async (web) => {
    const text = Array.from({ length: 480_000 }, (_, i) => line(i)).join("\n");
    assert.ok(text.length > 20_000_000, String(text.length));
    await commitFiles(web, { "big.ts": text, "one.txt": "x".repeat(20_000_000) });
    const first = await seeSmall(web, "/file/trunk/big.ts");
    assert.match(first.text, /Lines 1 to 1,000 of 480,000/);
    const last = await seeSmall(web, "/file/trunk/big.ts?first=479001");
    assert.match(last.html, /<tr id="L480000">/);
    const single = await seeSmall(web, "/file/trunk/one.txt");
    assert.match(single.text, /the line goes on/);
    assert.equal((await web.guest.get("/projects/demo/blame/trunk/big.ts")).status, 413);
  });
});

Deno.test(
  "a check-in of 5,000 files, and a file of 30,000 changed lines, come in pages",
  THOROUGH,
  async () => {
    await withPublic(async (web) => {
      const names = Array.from({ length: 5000 }, (_, i) => `src/${i % 50}/file-${i}.ts`);
      const text = (i: number) => Array.from({ length: 20 }, (_, j) => line(i * 20 + j)).join("\n");
      const files = names.map((name, i) => [name, `${text(i)}\n`] as const);
      const uuid = await commitFiles(web, Object.fromEntries(files));
      assert.match(
        (await seeSmall(web, `/checkin/${uuid}`)).text,
        /5,000 changed files.*Page 1 of 200/,
      );
      await seeSmall(web, `/checkin/${uuid}?page=200&layout=split`);
      await seeSmall(web, "/tree/trunk/src/7");
      const long = Array.from({ length: 30_000 }, (_, i) => line(i)).join("\n");
      const next = await commitFiles(web, { "long.ts": long });
      assert.match((await seeSmall(web, `/checkin/${next}`)).text, /Show it/);
      const alone = await seeSmall(web, `/checkin/${next}?path=long.ts&part=20`);
      assert.match(alone.text, /Part 20 of 20/);
    });
  },
);

Deno.test("500 branches and a folder of 3,000 files come in pages", THOROUGH, async () => {
  await withPublic(async (web) => {
    const { repositories } = web.api.services.hosting;
    await repositories.write(web.project, {
      caller: BY_OPERATOR,
      write: async (repository, stamp) => {
        const { uuid: parent } = await repository.resolveCheckin("trunk");
        for (let i = 0; i < 500; i++) {
          const name = `feature/${line(i).slice(6, 12)}-${i}`;
          await repository.startBranch({ ...stamp, name, from: parent });
        }
      },
    });
    assert.match((await seeSmall(web, "/branches")).text, /501 open.*Page 1 of 11/);
    await seeSmall(web, "/branches?page=11");
    const names = Array.from({ length: 3000 }, (_, i) => `${line(i).slice(6, 12)}-${i}.txt`);
    await commitFiles(web, Object.fromEntries(names.map((name) => [name, name])));
    assert.match((await seeSmall(web, "")).text, /All 3000 entries/);
    assert.match((await seeSmall(web, "/tree/trunk")).text, /Page 1 of 10/);
    await seeSmall(web, "/timeline");
  });
});
