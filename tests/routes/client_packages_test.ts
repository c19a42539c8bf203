import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { withApi } from "../support/scenarios.ts";

const FOLDER = new URL("../../deploy/clients/", import.meta.url);

/** The files of an archive whose names are short. */
function untar(archive: Uint8Array): Map<string, string> {
  const bytes = gunzipSync(archive);
  const files = new Map<string, string>();
  for (let at = 0; bytes[at] !== 0;) {
    const field = (start: number, length: number) =>
      bytes.toString("utf8", at + start, at + start + length).replace(/\0.*/s, "");
    const size = parseInt(field(124, 12), 8);
    assert.equal(field(156, 1), "0");
    files.set(field(0, 100), bytes.toString("utf8", at + 512, at + 512 + size));
    at += 512 + 512 * Math.ceil(size / 512);
  }
  return files;
}

function pathsIn(folder: URL, prefix: string): string[] {
  return Array.from(Deno.readDirSync(folder)).flatMap(({ name, isDirectory }) =>
    isDirectory ? pathsIn(new URL(`${name}/`, folder), `${prefix}${name}/`) : [`${prefix}${name}`]
  );
}

Deno.test("anybody can download the packages for agents' clients, with every file", async () => {
  await withApi(async (api) => {
    for (const client of ["claude", "codex", "gemini"]) {
      const request = `GET /clients/${client}.tar.gz`;
      const response = await api.send({ who: "guest", request });
      assert.equal(response.status, 200);
      assert.equal(response.headers.get("content-type"), "application/gzip");
      const files = untar(new Uint8Array(await response.arrayBuffer()));
      const paths = pathsIn(new URL(`${client}/`, FOLDER), "");
      assert.deepEqual(
        [...files.keys()].sort(),
        paths.map((one) => `muster-${client}/${one}`).sort(),
      );
      for (const path of paths) {
        const text = Deno.readTextFileSync(new URL(`${client}/${path}`, FOLDER));
        assert.equal(files.get(`muster-${client}/${path}`), text, "Run `deno task reference`");
      }
    }
    const other = await api.send({ who: "guest", request: "GET /clients/other.tar.gz" });
    assert.equal(other.status, 404);
    assert.match(await other.text(), /these clients: claude, codex, gemini/);
  });
});
