/** The other end-to-end tests start a bundle of the tree, or the executable; this one the tree. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../scripts/bundle.ts";
import { call } from "../support/api.ts";
import { readEndpoints, treeEnvironment } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

/** The command of the README's section on the first start, with this Deno. */
async function readmeWords(): Promise<[string, ...string[]]> {
  const readme = await Deno.readTextFile(join(ROOT, "README.md"));
  const [, words] = /^```sh\ncd muster\nnpx deno@\S+ (task start)\n```$/m.exec(readme) ?? [];
  assert.ok(words !== undefined);
  return [Deno.execPath(), ...words.split(" ")];
}

Deno.test("the README's command starts the tree, and a signal stops it", async () => {
  await withFolder(async (folder) => {
    const [deno, ...words] = await readmeWords();
    const process = new Deno.Command(deno, {
      args: words,
      cwd: ROOT,
      clearEnv: true,
      env: treeEnvironment({
        MUSTER_DATA_DIR: join(folder, "data"),
        MUSTER_API_ADDR: "127.0.0.1:0",
        MUSTER_MCP_ADDR: "127.0.0.1:0",
        MUSTER_IRC_LISTEN: "127.0.0.1:0",
      }),
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    let text = "";
    let answered = false;
    for await (const part of process.stderr.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (answered || !text.includes('"Listening"')) continue;
      const answer = await call(await readEndpoints(folder), "GET", "/v1/status");
      answered = answer.ok;
      await answer.body?.cancel();
      process.kill("SIGTERM");
    }
    const { code } = await process.status;
    assert.ok(answered, text);
    assert.equal(code, 0, text);
  });
});
