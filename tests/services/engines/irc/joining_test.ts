import assert from "node:assert/strict";
import { startServer } from "./support/server.ts";

Deno.test("with no-implicit-names, names come only on request", async () => {
  await using server = startServer();
  const op = await server.client("op");
  op.send("JOIN #c", "TOPIC #c :news");
  await op.sync();
  for (const capability of ["no-implicit-names", "draft/no-implicit-names"]) {
    const guest = await server.client("guest", capability);
    guest.send("JOIN #c", "NAMES #c", "QUIT");
    const commands = (await guest.untilClosed()).map((line) => line.split(" ").slice(0, 2));
    assert.deepEqual(commands, [
      ["guest", "JOIN"],
      ["332", "guest"],
      ["333", "guest"],
      ["353", "guest"],
      ["366", "guest"],
      ["ERROR", "Closing"],
    ]);
  }
});

Deno.test("with pre-away, a client can be away before anybody sees it", async () => {
  await using server = startServer();
  const op = await server.client("op", "away-notify");
  op.send("JOIN #c");
  await op.sync();
  const silent = await server.dial();
  silent.send("CAP LS 302", "AWAY :gone", "CAP REQ :draft/pre-away", "AWAY *");
  silent.send("NICK silent", "USER s 0 * :s", "CAP END");
  const answers = (await silent.until("422")).map(({ command, params }) => [command, params[0]]);
  assert.deepEqual(answers.filter(([command]) => ["451", "306", "001"].includes(command ?? "")), [
    ["451", "*"],
    ["306", "*"],
    ["001", "silent"],
  ]);
  silent.send("JOIN #c");
  await silent.sync();
  op.send("WHOIS silent");
  const seen = await op.sync();
  assert.deepEqual(seen.slice(0, 2), ["silent JOIN #c", "silent AWAY *"]);
  assert.ok(seen.includes("301 op silent *"));
  silent.send("AWAY");
  await silent.sync();
  assert.deepEqual(await op.sync(), ["silent AWAY"]);
});

Deno.test("the names of a large channel come as fast as they are read, with a label too", async () => {
  const members = 3000;
  await using server = startServer({ limits: { sendQueueBytes: 160 * 1024 } });
  for (let index = 0; index < members; index++) {
    const account = `${"member".padEnd(55, "-")}${index}`;
    server.server.addUser({ account, nick: account, realname: "a member" })?.join("#large");
  }
  const client = await server.client("reader", "batch labeled-response userhost-in-names");
  client.send("@label=1 JOIN #large", "@label=2 NAMES #large", "PART #large", "NAMES #large");
  const lines = await client.syncMessages();
  const counts = new Map<string, number>();
  for (const { command, params, tags } of lines) {
    if (command !== "353") continue;
    const key = tags.has("batch") ? "in a batch" : "bare";
    counts.set(key, (counts.get(key) ?? 0) + (params.at(-1) ?? "").split(" ").length);
  }
  assert.deepEqual([...counts], [["in a batch", 2 * (members + 1)], ["bare", members]]);
  const frames = lines.filter(({ command }) => command === "BATCH");
  assert.deepEqual(frames.map(({ params, tags }) => [params[1], tags.get("label")]), [
    ["labeled-response", "1"],
    [undefined, undefined],
    ["labeled-response", "2"],
    [undefined, undefined],
  ]);
  for (const start of [0, 2]) {
    assert.equal(frames[start]?.params[0]?.slice(1), frames[start + 1]?.params[0]?.slice(1));
  }
});
