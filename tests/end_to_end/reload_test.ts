import assert from "node:assert/strict";
import { join } from "node:path";
import { makeCertificate } from "../support/certificate.ts";
import { peer } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { IrcClient } from "../support/irc_client.ts";
import { withFolder, writeFile } from "../support/temporary.ts";
import { within } from "../support/until.ts";

const READ_AGAIN = /The configuration was read again/;

/** Has the program read its configuration again, and waits for what it logs of that. */
async function hangUp(program: Program, pattern: RegExp): Promise<string> {
  const logged = program.logged(pattern);
  Deno.kill(program.pid, "SIGHUP");
  return await logged;
}

/** A client that trusts this certificate alone. */
function clientFor(cert: string): Deno.HttpClient {
  return Deno.createHttpClient({ caCerts: [cert] });
}

async function statusOf(client: Deno.HttpClient, { api, token }: Program): Promise<number> {
  const headers = { authorization: `Bearer ${token}` };
  const response = await fetch(`${api}/v1/status`, { client, headers });
  await response.body?.cancel();
  return response.status;
}

/** How often a client may have to connect again. */
const CONNECTS = 20;

/** As {@link statusOf}, by a client that connects again where the old listener took it last. */
async function statusInTheEnd(client: Deno.HttpClient, program: Program): Promise<number> {
  for (let connect = 1; connect < CONNECTS; connect++) {
    try {
      return await statusOf(client, program);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
  return await statusOf(client, program);
}

Deno.test("SIGHUP renews the certificates of API, MCP and IRC and keeps connections open", {
  ...peer("openssl"),
}, async () => {
  await withFolder(async (folder) => {
    const { cert: before } = await makeCertificate(folder);
    await using program = await startProgram({
      folder,
      config: "tls: { cert: tls.crt, key: tls.key }\nirc: { tls_listen: 127.0.0.1:0 }\n",
    });
    assert.match(program.api, /^https:/);
    assert.match(program.mcp, /^https:/);
    using old = clientFor(before);
    assert.equal(await statusOf(old, program), 200);
    const stream = await fetch(
      `${program.api}/v1/channels/general/stream?token=${program.token}`,
      { client: old },
    );
    const ircs = new URL(program.ircs ?? "");
    const address = { hostname: ircs.hostname, port: Number(ircs.port) };
    using session = await Deno.connectTls({ ...address, caCerts: [before] });
    await session.handshake();

    const { cert: after } = await makeCertificate(folder);
    await hangUp(program, READ_AGAIN);
    using renewed = clientFor(after);
    assert.equal(await statusInTheEnd(renewed, program), 200);
    const called = await fetch(program.mcp, {
      client: renewed,
      method: "POST",
      headers: { authorization: `Bearer ${program.token}` },
      body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    assert.deepEqual(await called.json(), { jsonrpc: "2.0", id: 1, result: {} });
    using another = await Deno.connectTls({ ...address, caCerts: [after] });
    await another.handshake();
    using late = clientFor(before);
    await assert.rejects(statusOf(late, program), TypeError);

    await session.write(new TextEncoder().encode("PING here\r\n"));
    assert.match(await readText(session), /PONG|451/);
    const post = await fetch(`${program.api}/v1/channels/general/messages`, {
      client: renewed,
      method: "POST",
      headers: { authorization: `Bearer ${program.token}` },
      body: JSON.stringify({ text: "still there" }),
    });
    assert.equal(post.status, 204);
    const reader = stream.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let text = ""; !text.includes("still there");) {
      const part = await within(Promise.resolve(reader?.read()), () => "More of the stream");
      assert.equal(part?.done, false, text);
      text += part?.value;
    }
    await reader?.cancel();
    assert.equal(await program.stop(), 0);
  });
});

Deno.test("SIGHUP applies changed keys, names those that need a restart, and refuses wrong ones", async () => {
  await withFolder(async (folder) => {
    await using program = await startProgram({ folder, config: "irc: { motd: first }\n" });
    await writeFile(
      folder,
      "config.yaml",
      "irc: { motd: second, network_name: other }\nlog: { level: debug }\n" +
        "llm: { backends: [{ name: later, provider: ollama }] }\n",
    );
    const restart = await hangUp(program, /after a restart/);
    assert.match(restart, /\["irc\.network_name"\]/);
    await using client = await IrcClient.connect(program.irc);
    await client.register({ nick: "guest" });
    assert.ok(client.lines.some((line) => line.endsWith(":- second")), client.lines.join("\n"));
    const listed = await fetch(`${program.api}/v1/llm/backends`, {
      headers: { authorization: `Bearer ${program.token}` },
    });
    const [backend] = await listed.json();
    assert.equal(backend.name, "later");
    const debugged = program.logged(/"route":"\/healthz"/);
    await (await fetch(`${program.api}/healthz`)).body?.cancel();
    await debugged;

    await writeFile(folder, "config.yaml", "irc: { mtod: third }\n");
    const refusal = await hangUp(program, /is not valid; the previous one stays/);
    assert.match(refusal, /config\.yaml:1: irc\.mtod: is not a key of muster/);
    using http = Deno.createHttpClient({});
    assert.equal(await statusOf(http, program), 200);
  });
});

Deno.test("an invalid certificate ends the start with one sentence and code 2", async () => {
  await withFolder(async (folder) => {
    await writeFile(folder, "config.yaml", "tls: { cert: tls.crt, key: tls.key }\n");
    const environment = { MUSTER_API_ADDR: "127.0.0.1:0", MUSTER_MCP_ADDR: "127.0.0.1:0" };
    const absent = await runMuster(["serve"], { folder, environment });
    assert.equal(absent.code, 2);
    assert.match(absent.stderr, /^The file "tls\.crt" \(tls\) cannot be read\n$/);
    await writeFile(folder, "tls.crt", "no certificate");
    await writeFile(folder, "tls.key", "no key");
    const broken = await runMuster(["serve"], { folder, environment });
    assert.equal(broken.code, 2);
    assert.match(broken.stderr, /^"tls\.crt" and "tls\.key" cannot be used for TLS: .+\n$/);
  });
});

Deno.test("commands find a server on free ports by its data folder", async () => {
  await using program = await startProgram();
  const environment = { MUSTER_API_ADDR: "127.0.0.1:0" };
  const { folder } = program;
  const health = await runMuster(["health"], { folder, environment });
  assert.equal(health.code, 0, health.stderr);
  const endpoints = JSON.parse(await Deno.readTextFile(join(folder, "data", "endpoints.json")));
  assert.equal(endpoints.api, program.api);
});

async function readText(conn: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(1024);
  const count = await conn.read(buffer) ?? 0;
  return new TextDecoder().decode(buffer.subarray(0, count));
}
