/** Clients of tus, which nobody here wrote, continue uploads after `kill -9`. */
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Upload, type UploadOptions } from "tus-js-client";
import { Scratch } from "../services/engines/fossil/support/fossil.ts";
import { judges } from "../services/engines/fossil/support/judges.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";

const BASE = "/projects/demo/fossil/api";
const PART_BYTES = 256 * 1024;

/** Bytes that no two parts have in common. */
function contentOf(parts: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts * PART_BYTES).map((_, index) => (index * 31 + (index >> 9)) % 256);
}

async function request(program: Program, method: string, path: string, body?: unknown) {
  const response = await fetch(program.api + path, {
    method,
    headers: { authorization: `Bearer ${program.token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  return response;
}

/** Uploads with tus-js-client; gives the upload's path, also where it fails. */
async function upload(
  program: Program,
  content: Uint8Array,
  options: UploadOptions,
): Promise<{ path: string; isDone: boolean }> {
  const ended = Promise.withResolvers<boolean>();
  const upload = new Upload(Buffer.from(content), {
    headers: { authorization: `Bearer ${program.token}` },
    chunkSize: PART_BYTES,
    retryDelays: null,
    onSuccess: () => ended.resolve(true),
    onError: () => ended.resolve(false),
    ...options,
  });
  upload.start();
  const isDone = await ended.promise;
  return { path: new URL(upload.url ?? "", program.api).pathname, isDone };
}

Deno.test(
  "tus-js-client continues an upload after a kill, and fossil has the file",
  peer("fossil"),
  async () => {
    using scratch = new Scratch();
    const content = contentOf(12);
    let program = await startProgram({ folder: scratch.folder });
    try {
      await request(program, "POST", "/v1/projects", { slug: "demo" });
      await request(program, "POST", `${BASE}/releases`, { tag_name: "v1" });
      let parts = 0;
      let killed: Promise<number> | null = null;
      const broken = await upload(program, content, {
        endpoint: `${program.api}${BASE}/releases/v1/assets`,
        metadata: { filename: "tool.bin", filetype: "application/x-tool" },
        onChunkComplete: () => {
          if (++parts === 5) killed = program.stop("SIGKILL");
        },
      });
      await killed;
      assert.equal(broken.isDone, false);
      assert.equal(parts, 5);

      program = await startProgram({ folder: scratch.folder });
      const asked = await request(program, "HEAD", broken.path);
      const offset = Number(asked.headers.get("upload-offset"));
      assert.ok(offset >= 5 * PART_BYTES && offset < content.length, `${offset}`);
      const sent: number[] = [];
      const whole = await upload(program, content, {
        uploadUrl: program.api + broken.path,
        onProgress: (bytes) => sent.push(bytes),
      });
      assert.equal(whole.isDone, true);
      assert.ok(Math.min(...sent) >= offset, `${sent}`);

      const file = await request(program, "GET", `${BASE}/releases/v1/assets/tool.bin`);
      assert.equal(file.headers.get("content-type"), "application/x-tool");
      assert.deepEqual(new Uint8Array(await file.arrayBuffer()), content);
      const left = Array.from(Deno.readDirSync(scratch.path("data/projects/.uploads")));
      assert.deepEqual(left, []);
    } finally {
      await program.stop();
    }
    const repository = scratch.path("data/projects/demo.fossil");
    for (const program of judges()) {
      using judge = new Scratch(program);
      assert.match(judge.fossil(["uv", "ls", "-R", repository]), /^releases\/v1\/tool\.bin$/m);
      judge.fossil(["uv", "export", "releases/v1/tool.bin", "tool.bin", "-R", repository]);
      assert.deepEqual(Deno.readFileSync(judge.path("tool.bin")), content);
      judge.fossil(["test-integrity", repository]);
    }
  },
);
