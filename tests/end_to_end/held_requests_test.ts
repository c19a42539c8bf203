import assert from "node:assert/strict";
import { call, registerAgent } from "../support/api.ts";
import { type Program, startProgram } from "../support/program.ts";
import { RawConnection } from "../support/raw_connection.ts";

/** A request whose body is held back after its first character. */
interface Held extends Disposable {
  /** Sends the rest of the body. The status of the answer. */
  release(): Promise<string | undefined>;
}

/** Begins a POST, and resolves when the server has let its credential through. */
async function hold(url: string, authorization: string, body: object): Promise<Held> {
  const [first = "", ...rest] = JSON.stringify(body);
  const { host, pathname } = new URL(url);
  const connection = await RawConnection.open(url);
  await connection.send(
    `POST ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n` +
      `Expect: 100-continue\r\nContent-Length: ${rest.length + 1}\r\n\r\n`,
  );
  // The server asks for the body when it reads it, which it does once the credential is checked.
  await connection.until(/^HTTP\/1\.1 100 /);
  await connection.send(first);
  return {
    async release() {
      await connection.send(rest.join(""));
      const answer = await connection.until(/^HTTP\/1\.1 \d{3} /m);
      return /^HTTP\/1\.1 (\d{3}) /m.exec(answer)?.[1];
    },
    [Symbol.dispose]: () => connection[Symbol.dispose](),
  };
}

async function send(program: Program, method: string, path: string, body?: object) {
  const response = await call(program, method, path, body);
  assert.ok(response.ok, `${method} ${path}: ${response.status}`);
  const text = await response.text();
  return text === "" ? {} : JSON.parse(text);
}

Deno.test("a request that was held open until its credential ended does nothing", async () => {
  await using program = await startProgram();
  const { passphrase } = await registerAgent(program, "scout", { channels: ["general"] });
  await send(program, "POST", "/v1/admins", { username: "eve", password: "correct horse" });
  const issued = { owner: "eve", name: "laptop", scopes: ["admin"] };
  const { id, token } = await send(program, "POST", "/v1/tokens", issued);

  const basic = `Basic ${btoa(`scout:${passphrase}`)}`;
  const text = "said with a passphrase that ended";
  const call = { name: "post", arguments: { channel: "#general", text } };
  const request = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call };
  const ghost = { nick: "ghost" };
  using post = await hold(`${program.api}/v1/channels/general/messages`, basic, { text });
  using tool = await hold(program.mcp, basic, request);
  using registration = await hold(`${program.api}/v1/agents/register`, `Bearer ${token}`, ghost);

  await send(program, "POST", "/v1/agents/scout/rotate");
  await send(program, "DELETE", `/v1/tokens/${id}`);
  assert.equal(await post.release(), "401");
  assert.equal(await tool.release(), "401");
  assert.equal(await registration.release(), "401");
  assert.deepEqual(await send(program, "GET", "/v1/channels/general/messages"), []);
  const agents: { nick: string }[] = await send(program, "GET", "/v1/agents");
  assert.deepEqual(agents.map(({ nick }) => nick), ["scout"]);
});

Deno.test("a request that was held open while another credential ended is served", async () => {
  await using program = await startProgram();
  const { passphrase } = await registerAgent(program, "scout", { channels: ["general"] });
  await registerAgent(program, "other", { channels: ["general"] });
  const basic = `Basic ${btoa(`scout:${passphrase}`)}`;
  const url = `${program.api}/v1/channels/general/messages`;
  using post = await hold(url, basic, { text: "still here" });
  await send(program, "POST", "/v1/agents/other/rotate");
  assert.equal(await post.release(), "204");
});
