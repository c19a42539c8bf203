import assert from "node:assert/strict";
import { call, registerAgent } from "../support/api.ts";
import { peer } from "../support/peers.ts";
import { musterWords, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { Terminal } from "../support/terminal.ts";

/** Asserts which names a start on a terminal suggests for an agent and for a person. */
async function assertSuggested(
  folder: string,
  user: string,
  expected: readonly [agent: string, person: string],
): Promise<void> {
  const environment = ["API_ADDR", "MCP_ADDR", "IRC_LISTEN"].map((key) =>
    `MUSTER_${key}=127.0.0.1:0`
  );
  const muster = musterWords().map((word) => `'${word}'`).join(" ");
  const command =
    `trap : INT; (cd '${folder}' && USER=${user} NO_COLOR=1 ${environment.join(" ")} ${muster}); ` +
    "echo ended with $?; read -r _";
  await withFolder(async (own) => {
    await using terminal = await Terminal.open(own, command);
    await terminal.expect("/stream");
    const screen = await terminal.screen();
    await terminal.interrupt();
    await terminal.expect("ended with 0");
    assert.match(screen, /^ *docs +http:\/\/127\.0\.0\.1:\d+\/docs$/m);
    const lines = screen.matchAll(/ (?:agent|account) add (\S+)/g);
    assert.deepEqual([...lines].map(([, name]) => name), expected);
  });
}

Deno.test({
  name: "a start on a terminal suggests free names",
  ignore: peer("tmux").ignore,
  fn: async () => {
    await withFolder(async (folder) => {
      await assertSuggested(folder, "dana", ["scout", "dana"]);
      const program = await startProgram({ folder });
      await registerAgent(program, "Scout");
      await registerAgent(program, "builder");
      for (const account of ["dana", "ann"]) {
        const body = { account, password: "correct horse" };
        const response = await call(program, "POST", "/v1/irc/accounts", body);
        assert.equal(response.status, 201, await response.text());
      }
      await program.stop();
      await assertSuggested(folder, "dana", ["mapper", "bob"]);
      const taken = await startProgram({ folder });
      for (const nick of ["mapper", "reviewer", "bob", "carol", "ann2"]) {
        await registerAgent(taken, nick);
      }
      await taken.stop();
      await assertSuggested(folder, "root", ["scout2", "ann3"]);
    });
  },
});
