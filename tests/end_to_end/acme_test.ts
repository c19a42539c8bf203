/** Certificates from an ACME authority, with Pebble as the authority. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { join } from "node:path";
import { freePort } from "../support/free_port.ts";
import { peer } from "../support/peers.ts";
import { startPebble } from "../support/pebble.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

/** Validity of the certificates, in seconds. */
const VALIDITY = 86_400;

/** The same for one that is renewed within the test, after two thirds of it. */
const SHORT_VALIDITY = 30;

/** How often a client may have to connect again: the old listener may take it last. */
const CONNECTS = 20;

interface Acme {
  readonly directory: string;
  readonly http_listen: string;
  readonly ca?: string;
}

/** A configuration with `tls.acme` for `localhost`. */
function configWith(acme: Acme): string {
  return JSON.stringify({
    tls: { acme: { domains: ["localhost"], agree_to_terms: true, ...acme } },
    irc: { tls_listen: "127.0.0.1:0" },
  });
}

/** Waits for as many lines of the log as match. */
async function loggedTimes(program: Program, pattern: RegExp, times: number): Promise<string[]> {
  for (;;) {
    const found = program.log.filter((line) => pattern.test(line));
    if (found.length >= times) return found;
    await program.logged(pattern);
  }
}

/** Asks for `/healthz` with clients that trust these certificates alone. */
async function healthOver(program: Program, trusted: string): Promise<number> {
  for (let connect = 1;; connect++) {
    using client = Deno.createHttpClient({ caCerts: [trusted] });
    try {
      const url = program.api.replace("127.0.0.1", "localhost");
      const response = await fetch(`${url}/healthz`, { client });
      await response.body?.cancel();
      return response.status;
    } catch (error) {
      if (!(error instanceof TypeError) || connect === CONNECTS) throw error;
    }
  }
}

async function modeOf(path: string): Promise<number> {
  return ((await Deno.stat(path)).mode ?? 0) & 0o777;
}

const ignore = peer("pebble").ignore || peer("openssl").ignore;

Deno.test("the authority's certificate is obtained, and served on API and IRC", {
  ignore,
}, async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(join(folder, "pebble"));
    await using pebble = await startPebble(join(folder, "pebble"), VALIDITY);
    const { directory, ca, httpPort } = pebble;
    const http_listen = `127.0.0.1:${httpPort}`;
    await using program = await startProgram({
      folder,
      config: configWith({ directory, ca, http_listen }),
    });
    await loggedTimes(program, /The configuration was read again/, 1);
    const root = await pebble.root();
    assert.equal(await healthOver(program, root), 200);
    const ircs = new URL(program.ircs ?? "");
    using session = await Deno.connectTls({
      hostname: "localhost",
      port: Number(ircs.port),
      caCerts: [root],
    });
    await session.handshake();
    const files = join(folder, "data", "acme");
    assert.equal(await modeOf(files), 0o700);
    for (const file of ["certificate.pem", "account_key.pem"]) {
      assert.equal(await modeOf(join(files, file)), 0o600);
    }
    const certificate = new X509Certificate(
      await Deno.readTextFile(join(files, "certificate.pem")),
    );
    using client = Deno.createHttpClient({ caCerts: [root] });
    const response = await fetch(`${program.api.replace("127.0.0.1", "localhost")}/v1/metrics`, {
      client,
      headers: { authorization: `Bearer ${program.token}` },
    });
    const end = Date.parse(certificate.validTo) / 1000;
    assert.match(
      await response.text(),
      new RegExp(`^muster_certificate_end_timestamp_seconds ${end}$`, "m"),
    );
    assert.equal(await program.stop(), 0);
  });
});

Deno.test(
  "a certificate is renewed and served while clients stay connected",
  { ignore },
  async () => {
    await withFolder(async (folder) => {
      await Deno.mkdir(join(folder, "pebble"));
      await using pebble = await startPebble(join(folder, "pebble"), SHORT_VALIDITY);
      const { directory, ca, httpPort } = pebble;
      const acme = { directory, ca, http_listen: `127.0.0.1:${httpPort}` };
      await using program = await startProgram({ folder, config: configWith(acme) });
      await loggedTimes(program, /The configuration was read again/, 1);
      const root = await pebble.root();
      using session = await Deno.connectTls({
        hostname: "localhost",
        port: Number(new URL(program.ircs ?? "").port),
        caCerts: [root],
      });
      await session.handshake();
      const file = join(folder, "data", "acme", "certificate.pem");
      const first = await Deno.readTextFile(file);
      await loggedTimes(program, /The configuration was read again/, 2);
      assert.notEqual(await Deno.readTextFile(file), first);
      assert.equal(await healthOver(program, root), 200);
      await session.write(new TextEncoder().encode("CAP LS 302\r\n"));
      const bytes = new Uint8Array(512);
      const read = await session.read(bytes) ?? 0;
      assert.match(new TextDecoder().decode(bytes.subarray(0, read)), /CAP \* LS/);
      assert.equal(await program.stop(), 0);
    });
  },
);

Deno.test("without its authority the program serves with a certificate that nobody trusts", async () => {
  await withFolder(async (folder) => {
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const config = configWith({
      directory: "https://127.0.0.1:9/dir",
      http_listen: `127.0.0.1:${taken.addr.port}`,
    });
    await using program = await startProgram({ folder, config });
    const [refused = ""] = await loggedTimes(program, /No certificate was obtained/, 1);
    const { reason, retrySeconds } = JSON.parse(refused);
    assert.match(reason, /in use by another program \(tls\.acme\.http_listen\)/);
    assert.equal(retrySeconds, 60);
    const standIn = await Deno.readTextFile(join(folder, "data", "acme", "certificate.pem"));
    assert.match(standIn, /BEGIN CERTIFICATE[^]*BEGIN PRIVATE KEY/);
    await assert.rejects(fetch(`${program.api}/healthz`), TypeError);
    assert.equal(await program.stop(), 0);
  });
});

Deno.test("the reason is logged if the authority cannot be reached", async () => {
  await withFolder(async (folder) => {
    const config = configWith({
      directory: `https://127.0.0.1:${freePort()}/dir`,
      http_listen: "127.0.0.1:0",
    });
    await using program = await startProgram({ folder, config });
    const [refused = ""] = await loggedTimes(program, /No certificate was obtained/, 1);
    assert.match(JSON.parse(refused).reason, /ECONNREFUSED|refused/);
  });
});

Deno.test("tls.acme needs the terms to be accepted, and no other certificate", async () => {
  await withFolder(async (folder) => {
    const file = join(folder, "config.yaml");
    const check = async (tls: object) => {
      await Deno.writeTextFile(file, JSON.stringify({ tls, api_addr: ":0", mcp_addr: ":0" }));
      return await runMuster(["config", "check"], { folder });
    };
    const domains = ["irc.example.com"];
    const refused = await check({ acme: { domains } });
    assert.equal(refused.code, 2);
    assert.match(refused.stderr, /tls\.acme\.agree_to_terms: must be true/);
    const twice = await check({ cert: "a", key: "b", acme: { domains, agree_to_terms: true } });
    assert.match(twice.stderr, /tls\.cert: must be "" beside tls\.acme/);
    const url = await check({ acme: { domains: ["https://x"], agree_to_terms: true } });
    assert.match(url.stderr, /tls\.acme\.domains\[0\]: must be a host name/);
    const fine = await check({ acme: { domains, agree_to_terms: true } });
    assert.equal(fine.stderr.includes("tls.acme"), false, fine.stderr);
  });
});
