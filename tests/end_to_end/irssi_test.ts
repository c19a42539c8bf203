import assert from "node:assert/strict";
import { join } from "node:path";
import { call, ChannelStream } from "../support/api.ts";
import { peer } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { Terminal } from "../support/terminal.ts";

async function loginLines(program: Program): Promise<string[]> {
  const { code, stdout, stderr } = await runMuster(
    ["agent", "register", "ann", "--channels", "general", "--client", "irssi"],
    { folder: program.folder, environment: { MUSTER_URL: program.api } },
  );
  assert.equal(code, 0, stderr);
  return stdout.split("\n").filter((line) => line.startsWith("  /")).map((line) => line.trim());
}

Deno.test({
  name: "irssi logs in with the lines that muster prints, joins and talks",
  ignore: peer("irssi").ignore || peer("tmux").ignore,
  fn: async () => {
    await using program = await startProgram();
    const lines = await loginLines(program);
    await using stream = await ChannelStream.open(program, "general");
    const home = join(program.folder, "irssi");
    await using terminal = await Terminal.open(program.folder, `irssi --home='${home}'`);
    await terminal.expect("Irssi");
    for (const line of lines) await terminal.type(line);
    await terminal.expect("SASL authentication succeeded");
    await terminal.expect("[Act: 2]");
    await terminal.type("/window 2");
    await terminal.expect("2:muster/#general(+nt)");
    await terminal.type("hello from irssi");
    assert.deepEqual(pick(await stream.next()), { nick: "ann", text: "hello from irssi" });
    const posted = await call(program, "POST", "/v1/channels/general/messages", {
      nick: "scout",
      text: "hello irssi",
    });
    assert.equal(posted.status, 204);
    await terminal.expect("[scout] hello irssi");
  },
});

function pick(message: { nick: string; text: string } | null) {
  return message && { nick: message.nick, text: message.text };
}
