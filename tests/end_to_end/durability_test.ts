import assert from "node:assert/strict";
import { call, type Credentials, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

/** How often the program is killed. */
const ROUNDS = 3;

/** How many agents are being registered when it is killed, each round. */
const AT_ONCE = 40;

Deno.test("kill -9 in the middle of registrations loses no agent that was acknowledged", async () => {
  await withFolder(async (folder) => {
    const acknowledged: Credentials[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      await using program = await startProgram({ folder });
      let killed: Promise<number> | null = null;
      await Promise.all(
        Array.from({ length: AT_ONCE }, async (_, index) => {
          const credentials = await registerAgent(program, `agent-${round}-${index}`).catch(() =>
            null
          );
          if (credentials !== null) acknowledged.push(credentials);
          if (index === AT_ONCE >> 1) killed = program.stop("SIGKILL");
        }),
      );
      await killed;
    }
    assert.ok(acknowledged.length >= ROUNDS);

    await using program = await startProgram({ folder });
    const agents: { nick: string }[] = await (await call(program, "GET", "/v1/agents")).json();
    const nicks = new Set(agents.map(({ nick }) => nick));
    for (const { nick, passphrase } of acknowledged) {
      assert.ok(nicks.has(nick), nick);
      await using irc = await IrcClient.connect(program.irc);
      await irc.register({ nick, password: passphrase });
    }
  });
});
