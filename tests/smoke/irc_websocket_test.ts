import assert from "node:assert/strict";
import { join } from "node:path";
import { startProgram } from "../support/program.ts";

Deno.test("IRC over WebSocket: log in with SASL, join, and read what was said before", async () => {
  await using program = await startProgram({
    environment: { MUSTER_IRC_WEBSOCKET_LISTEN: "127.0.0.1:0" },
  });
  const response = await fetch(`${program.api}/v1/irc/accounts`, {
    method: "POST",
    headers: { authorization: `Bearer ${program.token}`, "content-type": "application/json" },
    body: JSON.stringify({ account: "ada", password: "difference engine" }),
  });
  await response.body?.cancel();
  assert.equal(response.status, 201);
  const endpoints = JSON.parse(
    await Deno.readTextFile(join(program.folder, "data", "endpoints.json")),
  );
  const lines: string[] = [];
  const socket = new WebSocket(endpoints.irc_websocket, ["text.ircv3.net"]);
  const done = Promise.withResolvers<void>();
  socket.onclose = () => done.reject(new Error(`It was closed after ${lines.join(" | ")}`));
  socket.onmessage = ({ data }) => {
    lines.push(data);
    if (data.includes("PONG") || data.startsWith("ERROR")) done.resolve();
  };
  socket.onopen = () => {
    const capabilities = "sasl batch draft/chathistory message-tags";
    const commands = [
      ...[`CAP REQ :${capabilities}`, "NICK ada", "USER ada 0 * :Ada"],
      ...["AUTHENTICATE PLAIN", `AUTHENTICATE ${btoa("\0ada\0difference engine")}`, "CAP END"],
      ...["JOIN #engine", "PRIVMSG #engine :first", "CHATHISTORY LATEST #engine * 5", "PING end"],
    ];
    for (const command of commands) socket.send(command);
  };
  await done.promise;
  assert.equal(lines.filter((line) => / PRIVMSG #engine :first$/.test(line)).length, 1);
  const closed = new Promise((resolve) => socket.onclose = resolve);
  assert.equal(await program.stop(), 0);
  await closed;
});
