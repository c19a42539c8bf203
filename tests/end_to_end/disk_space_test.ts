/** A server on a disk that fills up: nothing that it acknowledged is lost, and it says what it refuses. */
import assert from "node:assert/strict";
import { call, registerAgent } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { holdDisk, smallDisk } from "../support/small_disk.ts";
import { withFolder } from "../support/temporary.ts";
import { until } from "../support/until.ts";

const MESSAGES = "/v1/channels/general/messages";

async function post(program: Program, text: string): Promise<number> {
  const response = await call(program, "POST", MESSAGES, { text });
  await response.body?.cancel();
  return response.status;
}

async function statusOf(program: Program, method: string, path: string, body?: unknown) {
  const response = await call(program, method, path, body);
  return { status: response.status, text: await response.text() };
}

/** Waits until a condition holds that takes requests; each takes its time. */
async function untilDone(isDone: () => Promise<boolean>): Promise<void> {
  let isOver = false;
  const asking = (async () => {
    while (!await isDone());
    isOver = true;
  })();
  await until(() => isOver);
  await asking;
}

/** What is in the channel. */
async function textsIn(program: Program): Promise<string[]> {
  const messages: { text: string }[] = await (await call(program, "GET", MESSAGES)).json();
  return messages.map(({ text }) => text);
}

Deno.test(
  "on a full disk, no message is acknowledged that a kill would lose",
  smallDisk(),
  () =>
    withFolder(async (folder) => {
      await using disk = await holdDisk(folder, 32);
      const options = {
        folder: disk.folder,
        words: disk.words,
        environment: { MUSTER_DATA_DIR: `${disk.inside}/data`, MUSTER_LIMITS_FREE_BYTES: "0" },
      };
      const acknowledged: string[] = [];
      {
        await using program = await startProgram(options);
        const say = async (text: string) => {
          const status = await post(program, text);
          if (status === 204) acknowledged.push(text);
          return status;
        };
        assert.equal(await say("before"), 204);
        await using bob = await IrcClient.connect(program.irc);
        await bob.register({ nick: "bob" });
        await bob.join("#general");
        disk.fill();
        const statuses = new Set<number>();
        for (let index = 0; index < 300; index++) statuses.add(await say(`full ${index}`));
        assert.ok(statuses.has(503), [...statuses].join());
        await bob.send("PRIVMSG #general :lost");
        await bob.expect(/ FAIL PRIVMSG TEMPORARILY_UNAVAILABLE #general :/);
        const ready = await statusOf(program, "GET", "/readyz");
        assert.equal(ready.status, 503);
        assert.match(ready.text, /history/);

        disk.empty();
        await untilDone(async () => (await statusOf(program, "GET", "/readyz")).status === 200);
        assert.equal(await say("after"), 204);
        await program.stop("SIGKILL");
      }
      await using program = await startProgram(options);
      const kept = await textsIn(program);
      assert.deepEqual(acknowledged.filter((text) => !kept.includes(text)), []);
      assert.ok(!kept.includes("lost"));
    }),
);

Deno.test(
  "below the mark of free space, nothing new is taken, and the rest goes on",
  smallDisk(),
  () =>
    withFolder(async (folder) => {
      await using disk = await holdDisk(folder, 64);
      await using program = await startProgram({
        folder: disk.folder,
        words: disk.words,
        environment: {
          MUSTER_DATA_DIR: `${disk.inside}/data`,
          MUSTER_LIMITS_FREE_BYTES: String(24 * 1024 * 1024),
        },
      });
      await registerAgent(program, "scout");
      await call(program, "POST", "/v1/projects", { slug: "demo" });
      disk.fill(16 * 1024 * 1024);
      const api = "/projects/demo/fossil/api";
      await untilDone(async () => await post(program, "x") === 503);
      for (
        const [method, path, body] of [
          ["POST", MESSAGES, { text: "x" }],
          ["POST", "/v1/agents/scout/messages", { text: "x" }],
          ["POST", "/v1/agents/register", { nick: "other" }],
          ["POST", "/v1/projects", { slug: "other" }],
          ["POST", `${api}/tickets`, { title: "x" }],
          ["PUT", `${api}/wiki/Home`, { content: "x" }],
          ["POST", `${api}/workspaces/create`, { name: "w" }],
        ] as const
      ) {
        const { status, text } = await statusOf(program, method, path, body);
        assert.equal(status, 503, `${method} ${path}: ${text}`);
        assert.match(text, /nearly full/);
      }
      const arguments_ = { channel: "#general", type: "task.create" };
      const tool = await fetch(program.mcp, {
        method: "POST",
        headers: { authorization: `Bearer ${program.token}`, "content-type": "application/json" },
        body: JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: "send_message", arguments: arguments_ },
        }),
      });
      assert.match(await tool.text(), /nearly full/);
      assert.match(
        (await statusOf(program, "GET", "/readyz")).text,
        /space \(the disk is nearly full\)/,
      );
      for (
        const [method, path, body] of [
          ["GET", MESSAGES],
          ["PUT", "/v1/settings/policies", {}],
          ["POST", "/v1/agents/scout/revoke"],
          ["DELETE", "/v1/agents/scout"],
          ["PATCH", "/v1/projects/demo", { archived: true }],
          ["DELETE", "/v1/projects/demo"],
        ] as const
      ) {
        const { status, text } = await statusOf(program, method, path, body);
        assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
      }
      disk.empty();
      await untilDone(async () => await post(program, "again") === 204);
      await untilDone(async () => (await statusOf(program, "GET", "/readyz")).status === 200);
    }),
);
