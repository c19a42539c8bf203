import assert from "node:assert/strict";
import { readChildFigures } from "../../../../services/operation/metrics/child_processes.ts";

Deno.test({
  name: "engine processes and the time of all children are counted",
  ignore: Deno.build.os !== "linux",
  fn: async () => {
    const before = await readChildFigures();
    assert.ok(before !== null);
    // It answers once it computes, and ends with its input.
    const code = "let sum = 0; for (let i = 0; i < 3e8; i++) sum += i % 7;" +
      "console.log(sum); for await (const _ of Deno.stdin.readable) break;";
    const child = new Deno.Command(Deno.execPath(), {
      args: ["eval", code],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const output = child.stdout.getReader();
    await output.read();
    const during = await readChildFigures();
    // Other tests in this process may have children, too.
    assert.ok(during !== null && during.engines > 0, `${during?.engines}`);
    assert.ok(during.engineBytes > 5_000_000, `${during.engineBytes}`);
    assert.ok(during.cpuSeconds - before.cpuSeconds > 0.05, `${during.cpuSeconds}`);

    await child.stdin.close();
    await output.cancel();
    await child.status;
    const after = await readChildFigures();
    assert.ok(after !== null && after.cpuSeconds >= during.cpuSeconds, `${after?.cpuSeconds}`);
  },
});
