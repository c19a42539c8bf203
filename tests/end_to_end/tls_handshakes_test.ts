import assert from "node:assert/strict";
import { makeCertificate } from "../support/certificate.ts";
import { recordClientHello } from "../support/client_hello.ts";
import { IrcClient } from "../support/irc_client.ts";
import { countOpenFiles, type Program, startProgram } from "../support/program.ts";
import { RawConnection } from "../support/raw_connection.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";

/** More handshakes than may come too late before a port gets a relay. */
const STALLED = 40;

/** How long a client may take for its handshake and its first request, in milliseconds. */
const LIMIT_MS = 1500;

/** How often a client that took longer than that is tried. */
const ATTEMPTS = 3;

const SHORT_TIMES = {
  MUSTER_LIMITS_HEADER_SECONDS: String(LIMIT_MS / 1000),
  MUSTER_IRC_LIMITS_REGISTRATION_SECONDS: "2",
};

const CONFIG = "tls: { cert: tls.crt, key: tls.key }\nirc: { tls_listen: 127.0.0.1:0 }\n";

/** Connects many times; some clients say nothing, others a part of a ClientHello, or all of it. */
async function stall(url: string, hello: string): Promise<RawConnection[]> {
  const connections: RawConnection[] = [];
  for (let index = 0; index < STALLED; index++) {
    const connection = await RawConnection.open(url);
    connections.push(connection);
    const part = [0, 1, 100, hello.length][index % 4];
    await connection.send(hello.slice(0, part));
  }
  return connections;
}

/**
 * Asks API, MCP and IRC over TLS, each on a connection of its own. A client that a busy machine holds
 * up for longer than the program waits is closed, and asks again.
 */
async function assertServes(program: Program, ircs: string, cert: string): Promise<void> {
  for (let attempt = 1;; attempt++) {
    const start = performance.now();
    try {
      return await askAll(program, ircs, cert);
    } catch (error) {
      if (performance.now() - start < LIMIT_MS || attempt === ATTEMPTS) throw error;
    }
  }
}

async function askAll(program: Program, ircs: string, cert: string): Promise<void> {
  const { api, mcp, token } = program;
  using client = Deno.createHttpClient({ caCerts: [cert], poolMaxIdlePerHost: 0 });
  const headers = { authorization: `Bearer ${token}` };
  const status = await fetch(`${api}/v1/status`, { headers, client });
  assert.equal(status.status, 200);
  await status.body?.cancel();
  const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  const tools = await fetch(mcp, { method: "POST", headers, body, client });
  assert.equal(tools.status, 200);
  await tools.body?.cancel();
  const { hostname, port } = new URL(ircs);
  await using guest = await IrcClient.connectTls({ hostname, port: Number(port) }, cert);
  await guest.send("NICK guest", "USER guest 0 * :guest");
  await guest.expect(/ 001 /);
}

Deno.test("clients that stall in the TLS handshake are closed and keep nobody out", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await withFolder(async (folder) => {
    const { cert } = await makeCertificate(folder);
    const hello = await recordClientHello();
    await using program = await startProgram({ folder, config: CONFIG, environment: SHORT_TIMES });
    const { api, mcp, ircs } = program;
    assert.ok(ircs);
    await assertServes(program, ircs, cert);
    const before = await countOpenFiles(program);
    const first: RawConnection[] = [];
    for (const url of [api, mcp, ircs]) {
      const warned = program.logged(/TLS handshakes stall/);
      first.push(...await stall(url, hello));
      await warned;
    }
    await assertServes(program, ircs, cert);
    for (const url of [api, mcp, ircs]) {
      for (const connection of await stall(url, hello)) {
        await connection.untilClosed();
        connection[Symbol.dispose]();
      }
    }
    await assertServes(program, ircs, cert);
    for (const connection of first) connection[Symbol.dispose]();
    await asked(() => countOpenFiles(program), (count) => count <= before + STALLED);
    await assertServes(program, ircs, cert);
  });
});

Deno.test("a certificate is renewed on a port behind a relay", async () => {
  await withFolder(async (folder) => {
    await makeCertificate(folder);
    await using program = await startProgram({ folder, config: CONFIG, environment: SHORT_TIMES });
    const { api, mcp, ircs } = program;
    assert.ok(ircs);
    for (const url of [api, mcp, ircs]) {
      const warned = program.logged(/TLS handshakes stall/);
      const stalled = await stall(url, "");
      await warned;
      for (const connection of stalled) connection[Symbol.dispose]();
    }
    const { cert } = await makeCertificate(folder);
    const reloaded = program.logged(/reloaded|read again/i);
    Deno.kill(program.pid, "SIGHUP");
    await reloaded;
    await assertServes(program, ircs, cert);
  });
});
