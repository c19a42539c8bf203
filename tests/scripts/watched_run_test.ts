import assert from "node:assert/strict";
import { join } from "node:path";
import { type RunEnd, runWatched, TestReport, type WatchedRun } from "../../scripts/watched_run.ts";
import { withFolder } from "../support/temporary.ts";

/** Runs a script in place of `deno test`; returns the exit code and what was written. */
async function run(
  folder: string,
  script: string,
  limitMs: number,
): Promise<RunEnd & { text: string }> {
  const decoder = new TextDecoder();
  let text = "";
  const options: WatchedRun = {
    program: "bash",
    args: ["-c", script],
    folder,
    environment: {},
    limitMs,
    write: (bytes) => text += decoder.decode(bytes, { stream: true }),
  };
  return { ...await runWatched(options), text };
}

Deno.test("a run whose tests hang is ended with all that it started, and names them", async () => {
  await withFolder(async (folder) => {
    const script = `sleep 600 & echo $! > sleeping
      echo "./a.ts => first ... ok (1m2s)"
      echo "'first' has been running for over (1m0s)"
      echo "'second' has been running for over (1m0s)"
      echo "./a.ts => first ... ok (1m2s)"
      wait`;
    const { code, hasHung, text } = await run(folder, script, 1000);
    assert.deepEqual({ code, hasHung }, { code: 1, hasHung: true });
    assert.match(text, /No test finished for 1 s, .* These tests still ran:\n {2}second\n$/);
    const pid = (await Deno.readTextFile(join(folder, "sleeping"))).trim();
    // What nobody has waited for yet is a zombie.
    const state = await new Deno.Command("cat", { args: [`/proc/${pid}/stat`] }).output();
    assert.match(new TextDecoder().decode(state.stdout), /^(?:\d+ \(sleep\) Z .*)?\s*$/);
  });
});

Deno.test("a run whose tests finish ends with its own code, and its report is passed on", async () => {
  await withFolder(async (folder) => {
    const end = await run(folder, "echo a; echo b; exit 3", 600_000);
    assert.deepEqual(end, { code: 3, hasHung: false, output: "a\nb\n", text: "a\nb\n" });
  });
});

Deno.test("the report tells which tests still run, with colors and in pieces", () => {
  const report = new TestReport();
  report.add("'one' has been running for over (1m0s)\n'two ... ok' has been run");
  report.add(
    "ning for over (1m0s)\n\x1b[0m\x1b[38;5;245m./x.ts => \x1b[0mone ... \x1b[32mok\x1b[0m (1m1s)\n",
  );
  assert.deepEqual(report.slow, ["two ... ok"]);
  assert.equal(report.finished, 1);
  for (const end of ["ok (2s)", "FAILED (2s)", "ignored (0ms)", "cancelled (0ms)"]) {
    report.add(`./x.ts => three ... ${end}\n`);
  }
  assert.equal(report.finished, 5);
  report.add("three ...\n------- output -------\n");
  assert.equal(report.finished, 5);
});
