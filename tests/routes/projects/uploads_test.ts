import assert from "node:assert/strict";
import { join } from "node:path";
import { type TestProject, withProject } from "../../support/projects.ts";
import { anAgent, BY_OPERATOR } from "../../support/services.ts";

const HOUR = 60 * 60 * 1000;
const PART = { "content-type": "application/offset+octet-stream", "tus-resumable": "1.0.0" };

/** The header `Upload-Metadata` of a file. */
function metadataOf(name: string, type = "text/plain"): string {
  return `filename ${btoa(name)},filetype ${btoa(type)}`;
}

interface Begun {
  readonly length: number;
  readonly name?: string;
  readonly as?: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Begins an upload for the release `v1`. */
function begin({ api, base }: TestProject, begun: Begun): Promise<Response> {
  const { length, name = "a.bin", as, body, headers = {} } = begun;
  return api.send({
    ...(as === undefined ? {} : { who: "guest" as const }),
    request: `POST ${base}/api/releases/v1/assets`,
    ...(body === undefined ? {} : { body }),
    headers: {
      "upload-length": `${length}`,
      "upload-metadata": metadataOf(name),
      "tus-resumable": "1.0.0",
      ...(as === undefined ? {} : { authorization: as }),
      ...headers,
    },
  });
}

/** Begins an upload that must be accepted; gives its path. */
async function begun(test: TestProject, options: Begun): Promise<string> {
  const response = await begin(test, options);
  assert.equal(response.status, 201, await response.text());
  return response.headers.get("location") ?? "";
}

function append({ api }: TestProject, path: string, offset: number, body: BodyInit | unknown) {
  const headers = { ...PART, "upload-offset": `${offset}` };
  return api.send({ request: `PATCH ${path}`, body, headers });
}

/** The files of unfinished uploads, and folders that something left. */
function leftOf({ api }: TestProject): string[] {
  const { folder } = api.services.hosting.repositories.files;
  const parts = Array.from(Deno.readDirSync(join(folder, ".uploads")), ({ name }) => name);
  const folders = Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((name) => /^\.(?!uploads$|download-)/.test(name));
  return [...parts, ...folders];
}

async function withRelease(
  run: (test: TestProject) => Promise<void>,
  uploadBytes = 100_000,
): Promise<void> {
  await withProject(async (test) => {
    await test.answer("POST /api/releases", { body: { tag_name: "v1" } });
    await run(test);
  }, { config: { limits: { upload_bytes: uploadBytes } } });
}

Deno.test("an upload continues where its parts end, and gives the release a file", async () => {
  await withRelease(async (test) => {
    const { api, answer, send } = test;
    const path = await begun(test, { length: 11 });
    assert.match(path, /^\/projects\/demo\/fossil\/api\/uploads\/\w{26}$/);
    const first = await append(test, path, 0, "hello");
    assert.deepEqual([first.status, first.headers.get("upload-offset")], [204, "5"]);
    assert.equal((await append(test, path, 0, "hello")).status, 409);
    const asked = await api.send({ request: `HEAD ${path}` });
    assert.equal(asked.status, 200);
    assert.deepEqual(
      ["upload-offset", "upload-length", "tus-resumable", "cache-control"]
        .map((name) => asked.headers.get(name)),
      ["5", "11", "1.0.0", "no-store"],
    );
    const { uploads } = await answer("GET /api/uploads");
    assert.deepEqual(
      uploads.map(({ tag_name, name, offset, length, is_finished }: Record<string, unknown>) => [
        tag_name,
        name,
        offset,
        length,
        is_finished,
      ]),
      [["v1", "a.bin", 5, 11, false]],
    );
    assert.equal((await append(test, path, 5, " world")).status, 204);
    const file = await send("GET /api/releases/v1/assets/a.bin");
    assert.equal(file.headers.get("content-type"), "text/plain");
    assert.equal(await file.text(), "hello world");
    const after = await api.send({ request: `HEAD ${path}` });
    assert.equal(after.headers.get("upload-offset"), "11");
    assert.equal((await append(test, path, 11, "")).status, 204);
    assert.deepEqual(leftOf(test), []);
    const { events } = await api.services.eventLog.read({ after: 0, types: ["project.release"] });
    assert.deepEqual(events.map(({ data }) => data["status"]), ["published", "asset"]);
  });
});

Deno.test("an upload may bring all of its bytes at once, and none at all", async () => {
  await withRelease(async (test) => {
    const { send } = test;
    const whole = await begin(test, { length: 3, name: "whole", body: "all", headers: PART });
    assert.deepEqual([whole.status, whole.headers.get("upload-offset")], [201, "3"]);
    assert.equal(await (await send("GET /api/releases/v1/assets/whole")).text(), "all");
    await begun(test, { length: 0, name: "empty" });
    const empty = await send("GET /api/releases/v1/assets/empty");
    assert.deepEqual([empty.status, await empty.text()], [200, ""]);
  });
});

Deno.test("a part that stops in the middle is kept, even if the connection breaks", async () => {
  await withRelease(async (test) => {
    const path = await begun(test, { length: 10 });
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("1234"));
      },
      pull(controller) {
        controller.error(new Error("The connection broke"));
      },
    });
    assert.equal((await appendStream(test, path, 0, broken)).status, 400);
    const asked = await test.api.send({ request: `HEAD ${path}` });
    assert.equal(asked.headers.get("upload-offset"), "4");
    assert.equal((await append(test, path, 4, "567890")).status, 204);
    const file = await test.send("GET /api/releases/v1/assets/a.bin");
    assert.equal(await file.text(), "1234567890");
  });
});

/** The same as {@link append} with a body that goes on. */
async function appendStream(
  { api }: TestProject,
  path: string,
  offset: number,
  body: ReadableStream<Uint8Array>,
): Promise<Response> {
  return await api.sendStream(`PATCH ${path}`, body, { ...PART, "upload-offset": `${offset}` });
}

Deno.test("a client that reconnects ends its stalled request", async () => {
  await withRelease(async (test) => {
    const path = await begun(test, { length: 4 });
    const arrived = Promise.withResolvers<void>();
    const hanging = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("12"));
      },
      pull() {
        arrived.resolve();
        return new Promise(() => {});
      },
    }, { highWaterMark: 0 });
    const first = appendStream(test, path, 0, hanging);
    await arrived.promise;
    const asked = await test.api.send({ request: `HEAD ${path}` });
    assert.equal(asked.headers.get("upload-offset"), "2");
    assert.equal((await first).status, 409);
    assert.equal((await append(test, path, 2, "34")).status, 204);
  });
});

Deno.test("64 parallel parts of one upload store each byte once", async () => {
  await withRelease(async (test) => {
    const path = await begun(test, { length: 4 });
    const statuses = await Promise.all(
      Array.from({ length: 64 }, async () => (await append(test, path, 0, "data")).status),
    );
    assert.ok(statuses.filter((status) => status === 204).length <= 1, statuses.join());
    const asked = await test.api.send({ request: `HEAD ${path}` });
    const offset = Number(asked.headers.get("upload-offset"));
    await append(test, path, offset, "data".slice(offset));
    assert.equal(await (await test.send("GET /api/releases/v1/assets/a.bin")).text(), "data");
  });
});

Deno.test("an upload with all of its bytes is stored when its client asks", async () => {
  await withRelease(async (test) => {
    const { api, send } = test;
    const path = await begun(test, { length: 5 });
    const id = path.slice(path.lastIndexOf("/") + 1);
    // As it is where muster is killed between the last byte and the repository.
    const { folder } = api.services.hosting.repositories.files;
    await Deno.writeTextFile(join(folder, ".uploads", id), "whole");
    assert.equal((await send("GET /api/releases/v1/assets/a.bin")).status, 404);
    const asked = await api.send({ request: `HEAD ${path}` });
    assert.equal(asked.headers.get("upload-offset"), "5");
    assert.equal(await (await send("GET /api/releases/v1/assets/a.bin")).text(), "whole");
  });
});

Deno.test("only its uploader and the project's admins reach an upload", async () => {
  await withRelease(async (test) => {
    const { api, caller, other, outsider, send } = test;
    const path = await begun(test, { length: 5, as: caller });
    const short = path.slice("/projects/demo/fossil".length);
    assert.equal((await send(`GET ${short}`, { as: caller })).status, 200);
    assert.equal((await send(`GET ${short}`, { as: other })).status, 404);
    assert.equal((await send(`GET ${short}`, { as: outsider })).status, 404);
    assert.equal((await send(`GET ${short}`, { as: null })).status, 404);
    assert.equal((await send(`DELETE ${short}`, { as: other })).status, 404);
    assert.deepEqual((await test.answer("GET /api/uploads", { as: other })).uploads, []);
    assert.equal((await api.send({ request: `DELETE ${path}` })).status, 204);
    assert.equal((await send(`GET ${short}`, { as: caller })).status, 404);
    assert.equal((await begin(test, { length: 5, as: outsider })).status, 404);
  });
});

Deno.test("an abandoned upload ends after a day; each part gives it another", async () => {
  await withRelease(async (test) => {
    const { api } = test;
    const path = await begun(test, { length: 10 });
    const { clock } = api.services;
    clock.advance(20 * HOUR);
    assert.equal((await append(test, path, 0, "12")).status, 204);
    clock.advance(20 * HOUR);
    assert.equal((await api.send({ request: `HEAD ${path}` })).status, 200);
    clock.advance(25 * HOUR);
    assert.equal((await api.send({ request: `HEAD ${path}` })).status, 404);
    await api.services.hosting.uploads.sweep();
    assert.deepEqual(leftOf(test), []);
  });
});

Deno.test("the unfinished uploads of a project have a bound, in number and in bytes", async () => {
  await withRelease(async (test) => {
    const { api: { services }, caller, other } = test;
    const first = await begun(test, { length: 1500 });
    assert.equal((await begin(test, { length: 600, as: caller })).status, 429);
    assert.equal((await test.api.send({ request: `DELETE ${first}` })).status, 204);
    const uploaders = [caller, other];
    for (const name of ["third", "fourth", "fifth"]) {
      const credential = `${name}:${await anAgent(services, name)}`;
      await services.hosting.projects.setMember("demo", name, "write", BY_OPERATOR);
      uploaders.push(`Basic ${btoa(credential)}`);
    }
    for (let number = 0; number < 100; number++) {
      await begun(test, { length: 20, name: `${number}`, as: uploaders[number % 5]! });
    }
    const refused = await begin(test, { length: 1 });
    assert.equal(refused.status, 429);
    assert.match((await refused.json()).error, /100 unfinished uploads/);
  }, 2000);
});

Deno.test("a file that is too long is refused everywhere and leaves nothing", async () => {
  await withRelease(async (test) => {
    const { api, base } = test;
    await api.answer("POST /v1/projects", { slug: "empty" });
    const long = "x".repeat(2001);
    const requests = [
      ["PUT", `${base}/api/releases/v1/assets/a.bin`],
      ["PUT", "/v1/projects/empty/repository"],
    ] as const;
    const answers = [await begin(test, { length: 2001 })];
    const path = await begun(test, { length: 10 });
    answers.push(await append(test, path, 0, "12345678901"));
    await api.send({ request: `DELETE ${path}` });
    for (const [method, target] of requests) {
      const type = { "content-type": "application/octet-stream" };
      const declared = { ...type, "content-length": "2001" };
      answers.push(
        await api.send({ request: `${method} ${target}`, body: long, headers: declared }),
        await api.sendStream(`${method} ${target}`, new Blob([long]).stream(), type),
      );
    }
    for (const answer of answers) {
      assert.equal(answer.status, 413);
      assert.match((await answer.json()).error, /^The file is larger than (?:2000|10) bytes$/);
    }
    assert.deepEqual(leftOf(test), []);
    assert.deepEqual((await test.answer("GET /api/releases/v1")).assets, []);
    const { total } = await test.answer("GET /api/timeline");
    assert.equal(total, 1);
  }, 2000);
});

Deno.test("a malformed upload is refused with a sentence", async () => {
  await withRelease(async (test) => {
    const { api, base } = test;
    const post = `POST ${base}/api/releases/v1/assets`;
    const length = { "upload-length": "5" };
    const hidden = metadataOf(".hidden");
    const path = await begun(test, { length: 5 });
    await api.expect([
      { request: post, headers: { "upload-metadata": metadataOf("a") }, status: 400 },
      { request: post, headers: length, status: 400 },
      { request: post, headers: { ...length, "upload-metadata": hidden }, status: 400 },
      { request: post, headers: { ...length, "upload-metadata": "filename !" }, status: 400 },
      { request: `PATCH ${path}`, body: "12345", status: 400 },
      {
        request: `PATCH ${path}`,
        body: "12345",
        headers: { "upload-offset": "0", "content-type": "text/plain" },
        status: 415,
      },
      { request: `GET ${path}`, headers: { "tus-resumable": "0.2.2" }, status: 412 },
      {
        request: post.replace("v1", "v2"),
        headers: { ...length, "upload-metadata": metadataOf("a") },
        status: 404,
      },
      {
        request: `PATCH ${path}x`,
        body: "",
        headers: { ...PART, "upload-offset": "0" },
        status: 404,
      },
    ]);
    const options = await api.send({ request: `OPTIONS ${base}/api/releases/v1/assets` });
    assert.equal(options.headers.get("tus-version"), "1.0.0");
    assert.match(options.headers.get("tus-extension") ?? "", /creation/);
  });
});

Deno.test("a file is streamed with ranges, and its head tells its length", async () => {
  await withRelease(async (test) => {
    const { api, base, answer } = test;
    const path = "/api/releases/v1/assets/a.bin";
    const content = new Uint8Array(90_000).map((_, index) => index % 251);
    await api.send({ request: `PUT ${base}${path}`, body: content });
    const get = (headers: Record<string, string> = {}, method = "GET") =>
      test.send(`${method} ${path}`, { headers });
    const bytesOf = async (response: Response) => new Uint8Array(await response.arrayBuffer());
    const whole = await get();
    assert.equal(whole.headers.get("content-length"), "90000");
    assert.deepEqual(await bytesOf(whole), content);
    const etag = whole.headers.get("etag") ?? "";
    assert.equal(etag, `"${(await answer("GET /api/releases/v1")).assets[0].uuid}"`);

    const head = await get({}, "HEAD");
    assert.deepEqual(
      [head.status, head.headers.get("content-length"), head.headers.get("etag")],
      [200, "90000", etag],
    );
    const middle = await get({ range: "bytes=70000-79999", "if-range": etag });
    assert.deepEqual(
      [middle.status, middle.headers.get("content-range"), middle.headers.get("content-length")],
      [206, "bytes 70000-79999/90000", "10000"],
    );
    assert.deepEqual(await bytesOf(middle), content.slice(70_000, 80_000));
    assert.deepEqual(await bytesOf(await get({ range: "bytes=-5" })), content.slice(-5));
    assert.equal((await get({ range: "bytes=1-2", "if-range": '"other"' })).status, 200);
    assert.equal((await get({ "if-none-match": etag })).status, 304);
    const beyond = await get({ range: "bytes=90000-" });
    assert.deepEqual(
      [beyond.status, beyond.headers.get("content-range")],
      [416, "bytes */90000"],
    );
    await api.send({ request: `PUT ${base}${path}`, body: "other" });
    const changed = await get({ range: "bytes=1-2", "if-range": etag });
    assert.deepEqual([changed.status, await changed.text()], [200, "other"]);
    const { assets } = await answer("GET /api/releases/v1");
    assert.equal(assets[0].download_count, 3);
  });
});

Deno.test("a batch refuses a file that is too long for it", async () => {
  await withRelease(async (test) => {
    const { api, base, answer } = test;
    const path = "/api/releases/v1/assets/a.bin";
    await api.send({ request: `PUT ${base}${path}`, body: new Uint8Array(17 * 1024 * 1024) });
    const { responses } = await answer("POST /api/batch", { body: { requests: [{ path }] } });
    assert.equal(responses[0].status, 413);
  }, 20_000_000);
});
