import assert from "node:assert/strict";
import { join } from "node:path";
import { ROOT } from "../../scripts/bundle.ts";
import { withFolder } from "../support/temporary.ts";

/** Runs a script that writes a line to `runs`, with `scripts/retried`. */
async function retried(folder: string, script: string) {
  const { code, stdout } = await new Deno.Command(join(ROOT, "scripts", "retried"), {
    args: ["sh", "-c", `echo run >> runs; ${script}`],
    cwd: folder,
    env: { RETRY_SECONDS: "0" },
    stderr: "null",
  }).output();
  const runs = (await Deno.readTextFile(join(folder, "runs"))).trim().split("\n").length;
  return { code, output: new TextDecoder().decode(stdout), runs };
}

Deno.test("a command that fails twice runs three times", () =>
  withFolder(async (folder) => {
    const script = "test $(wc -l < runs) = 3 && echo done";
    assert.deepEqual(await retried(folder, script), { code: 0, output: "done\n", runs: 3 });
  }));

Deno.test("a command that succeeds runs once", () =>
  withFolder(async (folder) => {
    assert.deepEqual(await retried(folder, "echo done"), { code: 0, output: "done\n", runs: 1 });
  }));

Deno.test("the code of a command that fails three times is that of the script", () =>
  withFolder(async (folder) => {
    assert.deepEqual(await retried(folder, "exit 7"), { code: 7, output: "", runs: 3 });
  }));
