/** Nodes that reach each other over https, with a certificate of a private authority. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { makeSignedCertificate } from "../support/certificate.ts";
import { TestCluster } from "../support/cluster.ts";
import { freePort } from "../support/free_port.ts";
import { peer } from "../support/peers.ts";
import type { Program } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { asked } from "../support/until.ts";

const PEERS = { ignore: [peer("postgres server"), peer("openssl")].some(({ ignore }) => ignore) };

const TICKETS = "/projects/demo/fossil/api/tickets";

/** The longest body that goes to another node in one piece is shorter. */
const LONG = 100_000;

Deno.test("nodes reach each other over https", PEERS, () =>
  withFolder(async (folder) => {
    const { authority } = await makeSignedCertificate(folder);
    using client = Deno.createHttpClient({ caCerts: [authority] });
    await using cluster = await TestCluster.create(folder);
    const trust = { DENO_CERT: join(folder, "ca.crt") };
    const start = (name: string, environment: Readonly<Record<string, string>> = {}) => {
      const port = freePort();
      return cluster.start(name, {
        MUSTER_API_ADDR: `127.0.0.1:${port}`,
        MUSTER_NODE_URL: `https://localhost:${port}`,
        MUSTER_TLS_CERT: join(folder, "tls.crt"),
        MUSTER_TLS_KEY: join(folder, "tls.key"),
        ...environment,
      });
    };
    const send = async ({ api, token }: Program, method: string, path: string, body?: unknown) => {
      const response = await fetch(api + path, {
        client,
        method,
        headers: { authorization: `Bearer ${token}` },
        ...body === undefined ? {} : { body: JSON.stringify(body) },
      });
      return { status: response.status, text: await response.text() };
    };

    const one = await start("one", trust);
    assert.equal((await send(one, "POST", "/v1/projects", { slug: "demo" })).status, 201);
    const two = await start("two", trust);
    await asked(() => send(two, "GET", TICKETS), ({ status }) => status === 200);
    for (const comment of ["short", "x".repeat(LONG)]) {
      const { status, text } = await send(two, "POST", TICKETS, { title: "A ticket", comment });
      assert.equal(status, 201, text);
    }
    const { text } = await send(one, "GET", TICKETS);
    assert.equal(JSON.parse(text).total, 2);

    // Without DENO_CERT, a node trusts no certificate of the authority.
    await two.stop();
    const stranger = await start("two");
    await asked(
      () => send(stranger, "GET", "/v1/nodes"),
      ({ text }) => JSON.parse(text).every(({ state }: { state: string }) => state === "running"),
    );
    const refused = await send(stranger, "GET", TICKETS);
    assert.equal(refused.status, 503);
    assert.match(refused.text, /is on another node; try again/);
    assert.equal((await send(one, "GET", TICKETS)).status, 200);
  }));
