/** The batch API of Git LFS and its basic transfers, as HTTP. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { commitFiles, type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";

const PLACE = "/projects/demo.git/info/lfs";
const TYPE = "application/vnd.git-lfs+json";

function oidOf(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

function pointerTo(content: string | Uint8Array): string {
  return `version https://git-lfs.github.com/spec/v1\noid sha256:${
    oidOf(content)
  }\nsize ${content.length}\n`;
}

type Json = ReturnType<typeof JSON.parse>;

/** Asks the batch API; gives the status and the answer. */
async function batch(
  { api }: TestProject,
  as: string | null,
  body: unknown,
): Promise<{ readonly status: number; readonly answer: Json; readonly headers: Headers }> {
  const response = await api.send({
    who: "guest",
    request: `POST ${PLACE}/objects/batch`,
    headers: { "content-type": TYPE, accept: TYPE, ...as === null ? {} : { authorization: as } },
    body,
  });
  assert.equal(response.headers.get("content-type"), TYPE);
  return { status: response.status, answer: await response.json(), headers: response.headers };
}

function wanted(operation: string, ...contents: readonly (string | Uint8Array)[]) {
  return {
    operation,
    transfers: ["basic"],
    objects: contents.map((content) => ({ oid: oidOf(content), size: content.length })),
  };
}

/** Sends a body to the address of an object. */
async function put(
  { api }: TestProject,
  as: string,
  oid: string,
  body: string | Uint8Array,
): Promise<{ readonly status: number; readonly message: string }> {
  const response = await api.send({
    who: "guest",
    request: `PUT ${PLACE}/objects/${oid}`,
    headers: { authorization: as, "content-type": "application/octet-stream" },
    body,
  });
  const text = await response.text();
  return { status: response.status, message: text === "" ? "" : JSON.parse(text).message };
}

async function requireAbsent(test: TestProject, content: string | Uint8Array): Promise<void> {
  const { answer } = await batch(test, test.caller, wanted("download", content));
  assert.equal(answer.objects[0].error.code, 404);
  const { folder } = test.api.services.hosting.repositories.files;
  const left = Array.from(Deno.readDirSync(folder), ({ name }) => name);
  assert.deepEqual(left.filter((name) => name.startsWith(".upload-")), []);
}

Deno.test("an object is uploaded once, verified, and downloaded by those who may read", async () => {
  await withProject(async (test) => {
    const { api, send, caller } = test;
    const content = "some content\n";
    const oid = oidOf(content);
    const first = await batch(test, caller, wanted("upload", content));
    assert.equal(first.status, 200);
    const [object] = first.answer.objects;
    assert.match(object.actions.upload.href, new RegExp(`^http://.*${PLACE}/objects/${oid}$`));
    const verify = (size: number) =>
      api.send({
        who: "guest",
        request: `POST ${new URL(object.actions.verify.href).pathname}`,
        headers: { authorization: caller, "content-type": TYPE },
        body: { oid, size },
      });
    assert.equal((await verify(content.length)).status, 404);
    // Two uploads of one object.
    const uploads = await Promise.all([
      put(test, caller, oid, content),
      put(test, test.other, oid, content),
    ]);
    assert.deepEqual(uploads.map(({ status }) => status), [200, 200]);
    assert.equal((await verify(content.length)).status, 200);
    assert.equal((await verify(1)).status, 400);
    const again = await batch(test, caller, wanted("upload", content));
    assert.deepEqual(again.answer.objects, [{ oid, size: content.length }]);
    const { answer } = await batch(test, caller, wanted("download", content, "other"));
    const [known, unknown] = answer.objects;
    assert.equal(unknown.error.code, 404);
    const { pathname } = new URL(known.actions.download.href);
    const download = (as: string | null, headers = {}) =>
      api.send({
        who: "guest",
        request: `GET ${pathname}`,
        headers: { ...as === null ? {} : { authorization: as }, ...headers },
      });
    assert.equal(await (await download(caller)).text(), content);
    const part = await download(caller, { range: "bytes=5-" });
    assert.deepEqual([part.status, await part.text()], [206, "content\n"]);
    assert.equal((await download(test.outsider)).status, 404);
    const named = await send(`GET /api/lfs/${oid}?name=a.bin`);
    assert.match(named.headers.get("content-disposition") ?? "", /attachment.*a\.bin/);
    assert.equal((await send(`GET /api/lfs/${"0".repeat(64)}`)).status, 404);
    assert.equal((await send("GET /api/lfs/nothing")).status, 400);
  });
});

Deno.test("who may not push uploads nothing, and a private project is not there for strangers", async () => {
  await withProject(async (test) => {
    const { api, caller, outsider } = test;
    const content = "content";
    for (const operation of ["upload", "download"]) {
      const guest = await batch(test, null, wanted(operation, content));
      assert.equal(guest.status, 401);
      assert.match(guest.headers.get("www-authenticate") ?? "", /^Basic /);
      assert.equal((await batch(test, outsider, wanted(operation, content))).status, 404);
    }
    assert.equal((await put(test, outsider, oidOf(content), content)).status, 404);
    const { projects } = api.services.hosting;
    await projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    assert.equal((await batch(test, null, wanted("download", content))).status, 200);
    assert.equal((await batch(test, null, wanted("upload", content))).status, 401);
    assert.equal((await batch(test, outsider, wanted("upload", content))).status, 403);
    assert.equal((await put(test, outsider, oidOf(content), content)).status, 403);
    await projects.change("demo", { archived: true }, BY_OPERATOR);
    assert.equal((await put(test, caller, oidOf(content), content)).status, 409);
    await requireAbsent(test, content);
  });
});

Deno.test("content with another hash, and a body that is cut, leave nothing", async () => {
  await withProject(async (test) => {
    const { api, caller } = test;
    const content = "content";
    const wrong = await put(test, caller, oidOf(content), "CONTENT");
    assert.equal(wrong.status, 400);
    assert.match(wrong.message, /SHA-256 is not/);
    const body = new ReadableStream({
      start: (stream) => stream.enqueue(new TextEncoder().encode("cont")),
      pull: (stream) => stream.error(new TypeError("connection closed")),
    });
    const cut = await api.handle(
      new Request(`http://127.0.0.1${PLACE}/objects/${oidOf(content)}`, {
        method: "PUT",
        headers: { authorization: caller },
        body,
      }),
    );
    assert.equal(cut.status, 400, await cut.text());
    await requireAbsent(test, content);
  });
});

Deno.test("objects count for the project's quota, and one has a longest length", async () => {
  await withProject(async (test) => {
    const { caller } = test;
    const random = () => crypto.getRandomValues(new Uint8Array(60_000));
    const contents = Array.from({ length: 20 }, random);
    const { answer } = await batch(test, caller, wanted("upload", ...contents));
    const refused = answer.objects.filter(({ error }: Json) => error !== undefined);
    assert.ok(refused.length > 0 && refused.length < 20, `${refused.length} are refused`);
    assert.equal(refused[0].error.code, 507);
    assert.match(refused[0].error.message, /limits\.project_bytes/);
    // Who does not ask first is refused, too.
    let last = { status: 200, message: "" };
    for (const content of contents) {
      if (last.status === 200) last = await put(test, caller, oidOf(content), content);
    }
    assert.equal(last.status, 507);
    const long = new Uint8Array(100_001);
    const judged = await batch(test, caller, wanted("upload", long));
    assert.equal(judged.answer.objects[0].error.code, 413);
    assert.equal((await put(test, caller, oidOf(long), long)).status, 413);
  }, { config: { limits: { project_bytes: 1_000_000, upload_bytes: 100_000 } } });
});

Deno.test("a batch that cannot be understood is refused with a sentence", async () => {
  await withProject(async (test) => {
    const { caller } = test;
    const bodies = [
      { operation: "remove", objects: [] },
      { operation: "upload", objects: [{ oid: "../../etc/passwd", size: 1 }] },
      { operation: "upload", objects: [{ oid: oidOf(""), size: -1 }] },
      { ...wanted("download", "a"), transfers: ["ssh"] },
      { ...wanted("download", "a"), hash_algo: "sha512" },
      "[",
    ];
    for (const body of bodies) {
      const { status, answer } = await batch(test, caller, body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.equal(typeof answer.message, "string");
    }
  });
});

Deno.test("pointers are shown as what they are, in lines and in diffs", async () => {
  await withProject(async (test) => {
    const { answer } = test;
    const odd = `${pointerTo("one")}and more\n`;
    await commitFiles(test, { "a.bin": pointerTo("one"), "odd.bin": odd, "text.txt": "text\n" });
    await commitFiles(test, { "a.bin": pointerTo("another"), "text.txt": pointerTo("text\n") });
    const { lfs } = await answer("GET /api/lines?path=a.bin");
    assert.deepEqual(lfs, { oid: oidOf("another"), size: 7 });
    assert.equal((await answer("GET /api/lines?path=odd.bin")).lfs, null);
    const { files } = await answer("GET /api/diff");
    assert.deepEqual(
      files.map(({ name, prev_lfs, lfs }: Json) => [name, prev_lfs?.size, lfs?.size]),
      [["a.bin", 3, 7], ["text.txt", undefined, 5]],
    );
    assert.match(files[0].diff, /oid sha256/, "nothing of a pointer is hidden");
  });
});
