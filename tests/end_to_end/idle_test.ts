import assert from "node:assert/strict";
import { call, registerAgent } from "../support/api.ts";
import { countWorkers, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";

Deno.test({
  name: "a server without work has no worker; one writes all that comes then",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await withFolder(async (folder) => {
      for (const start of ["first", "second"]) {
        await using program = await startProgram({ folder });
        assert.equal((await call(program, "GET", "/v1/status")).status, 200);
        assert.equal(await countWorkers(program), 0, start);
        const posted = await call(program, "POST", "/v1/channels/general/messages", {
          text: start,
          nick: "visitor",
        });
        assert.equal(posted.status, 204);
        // For a moment after the start, the main thread writes.
        let agents = 0;
        const workers = await asked(async () => {
          await registerAgent(program, `${start}-${++agents}`);
          return await countWorkers(program);
        }, (count) => count > 0);
        assert.equal(workers, 1, start);
        await program.stop();
      }
      await using program = await startProgram({ folder });
      const read = await call(program, "GET", "/v1/channels/general/messages");
      const messages: { text: string }[] = await read.json();
      assert.deepEqual(messages.map(({ text }) => text), ["first", "second"]);
    });
  },
});
