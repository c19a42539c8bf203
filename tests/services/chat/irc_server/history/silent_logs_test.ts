import assert from "node:assert/strict";
import type { HistoryArchive } from "../../../../../services/chat/irc_server/history/mod.ts";
import { withFolder } from "../../../../support/temporary.ts";
import { startServer } from "../../../engines/irc/support/server.ts";
import { openArchive, openFile, say } from "./archives.ts";

const TARGET = { account: null, name: "#c" };

const NEWEST = { part: { kind: "latest", since: null }, limit: 1, upTo: 0 } as const;

const RECORD = {
  target: TARGET,
  id: "1",
  time: 1,
  kind: 0,
  content: "{}",
  title: "#c",
  confined: false,
} as const;

const LIMITS = { replayMessages: 10, historyMessages: 0 };

/** Counts the questions for parts of logs. */
function questionsTo(archive: HistoryArchive): { count: number } {
  const questions = { count: 0 };
  const select = archive.select.bind(archive);
  archive.select = (...query) => {
    questions.count++;
    return select(...query);
  };
  return questions;
}

/** An IRC server whose clients get what was said when they join. */
function serve(historyStore: HistoryArchive) {
  const server = startServer({ historyStore, limits: LIMITS });
  let clients = 0;
  const enter = async (channel: string) => {
    const client = await server.client(`client${clients++}`, "server-time draft/channel-rename");
    client.send(`JOIN ${channel}`);
    const shown = await client.syncMessages();
    const said = shown.filter(({ command }) => command === "PRIVMSG");
    return { client, said: said.map(({ params }) => params[1]) };
  };
  return { enter, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

Deno.test("a JOIN to a channel in which nobody has spoken asks the disk nothing", () =>
  withFolder(async (folder) => {
    await using archive = await openArchive(folder);
    const questions = questionsTo(archive.value);
    await using server = serve(archive.value);
    const { client } = await server.enter("#c");
    for (let count = 0; count < 5; count++) {
      assert.deepEqual((await server.enter("#c")).said, []);
    }
    assert.equal(questions.count, 1);

    await say(client, "TOPIC #c :news");
    await say(client, "PRIVMSG #other :elsewhere");
    await server.enter("#c");
    assert.equal(questions.count, 1);

    await say(client, "PRIVMSG #c :one");
    for (let count = 0; count < 2; count++) {
      assert.deepEqual((await server.enter("#c")).said, ["one"]);
    }
  }));

Deno.test("what an earlier run has heard is no silence", () =>
  withFolder(async (folder) => {
    {
      await using archive = await openArchive(folder);
      await using server = serve(archive.value);
      const { client } = await server.enter("#c");
      await say(client, "PRIVMSG #c :one");
    }
    await using archive = await openArchive(folder);
    await using server = serve(archive.value);
    assert.deepEqual((await server.enter("#c")).said, ["one"]);
    assert.deepEqual((await server.enter("#c")).said, ["one"]);
  }));

Deno.test("a channel that takes the name of another gets its history", () =>
  withFolder(async (folder) => {
    await using archive = await openArchive(folder);
    await using server = serve(archive.value);
    const { client } = await server.enter("#a");
    await server.enter("#a");
    await say(client, "PRIVMSG #a :one");
    const empty = await server.enter("#b");
    await server.enter("#b");
    await say(empty.client, "PART #b");
    const shown = await say(client, "RENAME #a #c");
    assert.ok(shown.some(({ command }) => command === "RENAME"), JSON.stringify(shown));
    assert.deepEqual((await server.enter("#c")).said, ["one"]);
  }));

Deno.test("what is said while the disk is asked ends the silence", () =>
  withFolder(async (folder) => {
    await using archive = await openArchive(folder);
    const asking = archive.value.select(TARGET, NEWEST);
    assert.ok(archive.value.accept([RECORD]));
    assert.deepEqual(await asking, []);
    assert.ok(!archive.value.isSilent(TARGET));
  }));

Deno.test("what waits for a disk that refuses it is no silence", () =>
  withFolder(async (folder) => {
    await using archive = await openArchive(folder);
    using file = openFile(folder);
    assert.deepEqual(await archive.value.select(TARGET, NEWEST), []);
    assert.ok(archive.value.isSilent(TARGET));
    file.value.exec("BEGIN IMMEDIATE");
    assert.ok(archive.value.accept([RECORD]));
    assert.deepEqual(await archive.value.select(TARGET, NEWEST), []);
    assert.ok(!archive.value.isSilent(TARGET));
    file.value.exec("ROLLBACK");
  }));
