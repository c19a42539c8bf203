import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { call, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";

interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly from: string;
  readonly text: string;
}

async function inbox(program: Program, nick: string, query = ""): Promise<Entry[]> {
  const response = await call(program, "GET", `/v1/agents/${nick}/messages${query}`);
  assert.equal(response.status, 200);
  return await response.json();
}

/** Resolves when so many messages are in the database. */
async function stored(folder: string, count: number): Promise<void> {
  const database = new DatabaseSync(join(folder, "data", "muster.db"), { readOnly: true });
  try {
    const statement = database.prepare("SELECT count(*) AS messages FROM inbox_messages");
    const messages = () => Promise.resolve(Number(statement.get()?.["messages"]));
    await asked(messages, (found) => found >= count);
  } finally {
    database.close();
  }
}

Deno.test("inboxes survive kill -9 and a restart, and cursors continue", () =>
  withFolder(async (folder) => {
    let before: Entry[];
    {
      await using program = await startProgram({ folder });
      await registerAgent(program, "scout", { channels: ["general"] });
      await using ann = await IrcClient.connect(program.irc);
      await ann.register({ nick: "ann" });
      await ann.join("#general");
      await ann.send("PRIVMSG #general :scout: your next task", "PING :done");
      await ann.expect(/PONG .*done/);
      const told = await call(program, "POST", "/v1/agents/scout/messages", { text: "psst" });
      assert.equal(told.status, 204);
      before = await inbox(program, "scout");
      assert.deepEqual(before.map(({ kind, from, text }) => `${kind} ${from}: ${text}`), [
        "mention ann: scout: your next task",
        "message bridge: psst",
      ]);
      await stored(folder, 2);
      await program.stop("SIGKILL");
    }
    {
      await using program = await startProgram({ folder });
      assert.deepEqual(await inbox(program, "scout"), before);
      const more = await call(program, "POST", "/v1/agents/scout/messages", { text: "more" });
      assert.equal(more.status, 204);
      await program.stop();
    }
    await using program = await startProgram({ folder });
    const since = await inbox(program, "scout", `?since=${before[1]?.id}`);
    assert.deepEqual(since.map(({ text }) => text), ["more"]);
    await (await call(program, "DELETE", "/v1/agents/scout")).body?.cancel();
    await registerAgent(program, "scout");
    assert.deepEqual(await inbox(program, "scout"), []);
  }));

Deno.test("by default, messages of channels are on disk too; without persist, nothing is", () =>
  withFolder(async (folder) => {
    const read = async (program: Program) => {
      const path = "/v1/channels/general/messages";
      const messages: Entry[] = await (await call(program, "GET", path)).json();
      return messages.map(({ text }) => text);
    };
    {
      await using program = await startProgram({ folder });
      await registerAgent(program, "scout", { channels: ["general"] });
      const post = { nick: "ann", text: "hello, scout" };
      const said = await call(program, "POST", "/v1/channels/general/messages", post);
      assert.equal(said.status, 204);
      await program.stop();
    }
    {
      await using program = await startProgram({ folder });
      assert.deepEqual(await read(program), ["hello, scout"]);
      assert.equal((await inbox(program, "scout")).length, 1);
      await program.stop();
    }
    const environment = { MUSTER_IRC_HISTORY_PERSIST: "false" };
    await using program = await startProgram({ folder, environment });
    assert.deepEqual(await read(program), []);
    assert.deepEqual(await inbox(program, "scout"), []);
  }));
