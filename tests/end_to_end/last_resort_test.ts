/** An error that nothing catches does not end the program. */
import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { namedExecutable } from "../support/executable.ts";
import { musterWords, startProgram } from "../support/program.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

/** A bug, planted beside the program, which runs at a signal. */
const BUG = `
  Deno.addSignalListener("SIGUSR2", () => {
    Promise.reject(new Error("a planted rejection"));
    setTimeout(() => {
      throw new Error("a planted exception");
    });
  });
`;

Deno.test("the program survives errors that nothing catches, and logs them", {
  // The executable loads no other module.
  ignore: namedExecutable() !== undefined,
}, () =>
  withFolder(async (folder) => {
    const bug = await writeFile(folder, "bug.ts", BUG);
    const [deno, run, ...rest] = musterWords();
    const words = [deno, run ?? "", `--preload=${bug}`, ...rest];
    await using program = await startProgram({ folder, words });
    const logged = [/a planted rejection/, /a planted exception/].map((line) =>
      program.inLog(line)
    );
    Deno.kill(program.pid, "SIGUSR2");
    for (const line of await Promise.all(logged)) assert.match(line, /was not caught/);
    const response = await call(program, "GET", "/v1/status");
    assert.equal(response.status, 200, await response.text());
    assert.equal(await program.stop(), 0);
  }));
