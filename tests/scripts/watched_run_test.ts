import assert from "node:assert/strict";
import { join } from "node:path";
import { runWatched, TestReport, type WatchedRun } from "../../scripts/watched_run.ts";
import { TestScheduler } from "../support/scheduler.ts";
import { withFolder } from "../support/temporary.ts";
import { asked, until } from "../support/until.ts";

/** Options that run a script in place of `deno test`, and add what it writes to a text. */
function running(folder: string, script: string, written: { text: string }): WatchedRun {
  const decoder = new TextDecoder();
  return {
    program: "bash",
    args: ["-c", script],
    folder,
    environment: {},
    limitMs: 1000,
    scheduler: new TestScheduler(),
    write: (bytes) => written.text += decoder.decode(bytes, { stream: true }),
  };
}

/** The state of a process, as proc_pid_stat(5) has it; "" if there is none. */
async function stateOf(pid: string): Promise<string> {
  const { stdout } = await new Deno.Command("cat", {
    args: [`/proc/${pid}/stat`],
    stderr: "null",
  }).output();
  return /^\d+ \(.*\) (\S) /s.exec(new TextDecoder().decode(stdout))?.[1] ?? "";
}

Deno.test("a run whose tests hang is ended with all that it started, and names them", async () => {
  await withFolder(async (folder) => {
    const script = `sleep 600 & echo $! > sleeping
      echo "./a.ts => first ... ok (1m2s)"
      echo "'first' has been running for over (1m0s)"
      echo "'second' has been running for over (1m0s)"
      echo "./a.ts => first ... ok (1m2s)"
      wait`;
    const written = { text: "" };
    const scheduler = new TestScheduler();
    const ended = runWatched({ ...running(folder, script, written), scheduler });
    await until(() => written.text.split("... ok").length === 3);
    scheduler.advance(1000);
    const { code, hasHung } = await ended;
    assert.deepEqual({ code, hasHung }, { code: 1, hasHung: true });
    assert.match(
      written.text,
      /No test finished for 1 s, .* These tests still ran:\n {2}second\n$/,
    );
    const pid = (await Deno.readTextFile(join(folder, "sleeping"))).trim();
    // What is ending is killed already; what nobody has waited for is a zombie, or dead (proc_pid_stat(5)).
    await asked(() => stateOf(pid), (state) => ["", "Z", "X"].includes(state));
  });
});

Deno.test("a run whose tests finish ends with its own code, and its report is passed on", async () => {
  await withFolder(async (folder) => {
    const written = { text: "" };
    const end = await runWatched(running(folder, "echo a; echo b; exit 3", written));
    assert.deepEqual(end, { code: 3, hasHung: false, output: "a\nb\n" });
    assert.equal(written.text, "a\nb\n");
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
