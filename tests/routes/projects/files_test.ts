import assert from "node:assert/strict";
import { commitFiles, type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";

Deno.test("a file has its hash as entity tag, and answers ranges and conditions", async () => {
  await withProject(async (test) => {
    const { send, caller } = test;
    await commitFiles(test, { "docs/read me.txt": "0123456789" });
    const request = "GET /api/file?path=docs/read%20me.txt";
    const whole = await send(request, { as: caller });
    assert.equal(whole.status, 200);
    assert.equal(await whole.text(), "0123456789");
    const etag = whole.headers.get("etag") ?? "";
    assert.match(etag, /^"[0-9a-f]{64}"$/);
    assert.equal(whole.headers.get("accept-ranges"), "bytes");
    assert.equal(whole.headers.get("cache-control"), "private, no-cache");

    const ranges: [string, number, string, string | null][] = [
      ["bytes=2-4", 206, "234", "bytes 2-4/10"],
      ["bytes=7-", 206, "789", "bytes 7-9/10"],
      ["bytes=-3", 206, "789", "bytes 7-9/10"],
      ["bytes=-30", 206, "0123456789", "bytes 0-9/10"],
      ["bytes=5-500", 206, "56789", "bytes 5-9/10"],
      ["bytes=4-2", 200, "0123456789", null],
      ["bytes=0-1,3-4", 200, "0123456789", null],
      ["lines=1-2", 200, "0123456789", null],
    ];
    for (const [range, status, text, part] of ranges) {
      const response = await send(request, { headers: { range } });
      assert.equal(response.status, status, range);
      assert.equal(await response.text(), text, range);
      assert.equal(response.headers.get("content-range"), part, range);
    }
    for (const range of ["bytes=10-", "bytes=99-100", "bytes=-0"]) {
      const response = await send(request, { headers: { range } });
      assert.equal(response.status, 416, range);
      assert.equal(response.headers.get("content-range"), "bytes */10");
      assert.match((await response.json()).error, /10 bytes/);
    }
    const changed = { range: "bytes=2-4", "if-range": '"another"' };
    assert.equal((await send(request, { headers: changed })).status, 200);
    const same = { range: "bytes=2-4", "if-range": etag };
    assert.equal((await send(request, { headers: same })).status, 206);

    for (const tag of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
      const response = await send(request, { headers: { "if-none-match": tag } });
      assert.equal(response.status, 304, tag);
      assert.equal(await response.text(), "");
      assert.equal(response.headers.get("etag"), etag);
    }
    const head = await send(request.replace("GET", "HEAD"));
    assert.equal(head.status, 200);
    assert.equal(await head.text(), "");
    assert.equal(head.headers.get("etag"), etag);
  });
});

Deno.test("a browser runs nothing from a repository", async () => {
  await withProject(async (test) => {
    const { send } = test;
    const script = "<script>alert(1)</script>";
    const svg = `<svg xmlns="http://www.w3.org/2000/svg">${script}</svg>`;
    await commitFiles(test, {
      "page.html": script,
      "page.xhtml": script,
      "no-ending": script,
      "image.svg": svg,
      "data.bin": new Uint8Array([0, 1, 2]),
      'na"me\\ö.txt': "x",
    });
    const types: [string, string, RegExp][] = [
      ["page.html", "text/plain; charset=utf-8", /^inline; filename="page.html"/],
      ["page.xhtml", "text/plain; charset=utf-8", /^inline;/],
      ["no-ending", "text/plain; charset=utf-8", /^inline;/],
      ["image.svg", "image/svg+xml", /^inline;/],
      ["data.bin", "application/octet-stream", /^attachment;/],
      ['na"me\\ö.txt', "text/plain; charset=utf-8", /filename\*=UTF-8''na%22me%5C%C3%B6.txt$/],
    ];
    for (const [path, type, disposition] of types) {
      const { headers } = await send(`GET /api/file?path=${encodeURIComponent(path)}`);
      assert.equal(headers.get("content-type"), type, path);
      assert.match(headers.get("content-disposition") ?? "", disposition);
      assert.equal(headers.get("x-content-type-options"), "nosniff");
      assert.match(headers.get("content-security-policy") ?? "", /^sandbox; default-src 'none'/);
    }
  });
});

Deno.test("unknown names are 404, and ambiguous ones 400", async () => {
  await withProject(async (test) => {
    const { send } = test;
    const first = await commitFiles(test, { "a.txt": "a" });
    for (const name of ["nowhere", "zz", "", "0000000", "x".repeat(200), "%00", "../../etc"]) {
      const query = encodeURIComponent(name);
      assert.equal((await send(`GET /api/tree?checkin=${query}`)).status, 404, name);
      assert.equal((await send(`GET /api/file?path=a.txt&checkin=${query}`)).status, 404, name);
      if (name !== "") assert.equal((await send(`GET /api/checkin/${query}`)).status, 404, name);
    }
    for (const path of ["b.txt", "a.txt/b", "a"]) {
      assert.equal((await send(`GET /api/file?path=${path}`)).status, 404, path);
      assert.equal((await send(`GET /api/tree?path=${path}`)).status, 404, path);
    }
    assert.equal((await send("GET /api/file")).status, 400);
    assert.equal((await send("GET /api/file?path=../secret")).status, 404);
    for (const name of [first, first.slice(0, 9), "trunk", "tip", "prev", "root:trunk"]) {
      assert.equal((await send(`GET /api/checkin/${name}`)).status, 200, name);
    }
    const prefix = await sharedPrefix(test, first);
    assert.equal((await send(`GET /api/checkin/${prefix}`)).status, 400);
    assert.equal((await send(`GET /api/tree?checkin=${prefix}`)).status, 400);
  });
});

/** Commits until two check-ins share four digits; gives these. */
async function sharedPrefix({ api, project }: TestProject, first: string): Promise<string> {
  return await api.services.hosting.repositories.write(project, {
    caller: BY_OPERATOR,
    write: async (repository, stamp) => {
      const seen = new Set<string>();
      for (let parent = first;;) {
        seen.add(parent.slice(0, 4));
        const content = new TextEncoder().encode(`${seen.size}`);
        const changes = [{ kind: "write", path: "a.txt", content }] as const;
        parent = await repository.commit({ ...stamp, parent, comment: "More", changes });
        if (seen.has(parent.slice(0, 4))) return parent.slice(0, 4);
      }
    },
  });
}
