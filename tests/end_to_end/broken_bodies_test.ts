import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { startProgram } from "../support/program.ts";
import { RawConnection } from "../support/raw_connection.ts";

const BODIES = {
  "a body that breaks off": "Content-Length: 20\r\n\r\n{",
  "a long body that breaks off": "Content-Length: 200000\r\n\r\n{",
  "a chunk that breaks off": "Transfer-Encoding: chunked\r\n\r\n5\r\n{",
};

Deno.test("a client that breaks off a request's body causes no error in the log", async () => {
  await using program = await startProgram();
  const authorization = `Authorization: Bearer ${program.token}\r\n`;
  const urls = [`${program.api}/login`, `${program.api}/v1/agents/register`, program.mcp];
  for (const url of urls) {
    const { host, pathname } = new URL(url);
    const head = `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-continue\r\n`;
    for (const [name, rest] of Object.entries(BODIES)) {
      const answered = program.logged(new RegExp(`"route":"${pathname}"`));
      {
        using connection = await RawConnection.open(url);
        await connection.send(head + authorization + rest);
        // The server asks for the body when it reads it.
        await connection.until(/^HTTP\/1\.1 100 /);
      }
      assert.match(await answered, /"status":400/, `${pathname}, ${name}`);
    }
  }
  const response = await call(program, "GET", "/v1/status");
  assert.equal(response.status, 200);
  await response.body?.cancel();
  assert.deepEqual(program.log.filter((line) => line.includes('"ERROR"')), []);
});

Deno.test("a body that is nested deeply is refused at once, and a bracket in a text does not count", async () => {
  await using program = await startProgram();
  const deep = `{"nick":${"[".repeat(500_000)}${"]".repeat(500_000)}}`;
  const flat = JSON.stringify({ nick: `"\\${"[".repeat(500)}` });
  const send = async (url: string, body: string) => {
    const headers = { authorization: `Bearer ${program.token}` };
    const response = await fetch(url, { method: "POST", headers, body });
    return { status: response.status, text: await response.text() };
  };
  for (const url of [`${program.api}/v1/agents/register`, program.mcp]) {
    const { status, text } = await send(url, deep);
    assert.equal(status, 400);
    assert.match(text, /The JSON is nested more than 100 levels deep/);
    assert.doesNotMatch((await send(url, flat)).text, /nested/);
  }
});
