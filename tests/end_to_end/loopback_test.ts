import assert from "node:assert/strict";
import { join } from "node:path";
import { type Program, runMuster, startProgram } from "../support/program.ts";

const PASSWORD = "correct horse battery";

const BROWSER = { "sec-fetch-mode": "navigate", "sec-fetch-site": "none", accept: "text/html" };

interface Asked {
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The port; that of the API by default. */
  readonly url?: string;
}

/** Sends a request as it is written, because `fetch` sets `Host` itself; returns the whole answer. */
async function ask(program: Program, line: string, asked: Asked = {}): Promise<string> {
  const { hostname, port } = new URL(asked.url ?? program.api);
  const { host = `${hostname}:${port}`, headers = {}, body = "" } = asked;
  const [method = "", path = ""] = line.split(" ");
  const lines = Object.entries({
    host,
    connection: "close",
    ...body === "" ? {} : { "content-length": String(new TextEncoder().encode(body).length) },
    ...headers,
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  using conn = await Deno.connect({ hostname, port: Number(port) });
  await conn.write(
    new TextEncoder().encode(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n${body}`),
  );
  if (headers["upgrade"] === undefined) return await new Response(conn.readable).text();
  const head = new Uint8Array(4096);
  return new TextDecoder().decode(head.subarray(0, await conn.read(head) ?? 0));
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const leadsTo = (answer: string) => /\r\nlocation: (\S+)/i.exec(answer)?.[1] ?? "";
const cookiesOf = (answer: string) =>
  [...answer.matchAll(/\r\nset-cookie: ([^;\r]+)/gi)].map(([, pair]) => pair).join("; ");

async function withAdmin(
  run: (program: Program) => Promise<void>,
  config = "",
): Promise<void> {
  await using program = await startProgram({
    config:
      `public_hosts: [muster.example]\nirc: { websocket_listen: "127.0.0.1:0" }\nlimits: { login_attempts: 1000 }\n${config}`,
  });
  const path = `${program.api}/v1/admins/admin/password`;
  const set = await fetch(path, {
    method: "PUT",
    headers: { authorization: `Bearer ${program.token}` },
    body: JSON.stringify({ password: PASSWORD }),
  });
  assert.equal(set.status, 204, await set.text());
  await run(program);
}

Deno.test("every door on loopback refuses what comes for another host", async () => {
  await withAdmin(async (program) => {
    const { port } = new URL(program.api);
    const json = JSON.stringify({ username: "admin", password: PASSWORD });
    const endpoints = await Deno.readTextFile(join(program.folder, "data", "endpoints.json"));
    const webSocket = JSON.parse(endpoints).irc_websocket.replace("ws:", "http:");
    const handshake = {
      upgrade: "websocket",
      connection: "Upgrade",
      "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
      "sec-websocket-version": "13",
    };
    const authorization = `Bearer ${program.token}`;
    const mcp = { url: program.mcp, headers: { authorization } };
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    for (const host of [`evil.example:${port}`, "127.0.0.1.evil.example", "x.muster.example"]) {
      const refused = await Promise.all([
        ask(program, "GET /", { host, headers: BROWSER }),
        ask(program, "GET /v1/status", { host, headers: { authorization } }),
        ask(program, "GET /projects", { host, headers: { accept: "text/html" } }),
        ask(program, "POST /login", { host, body: json }),
        ask(program, "OPTIONS /v1/agents", { host }),
        ask(program, "GET /assets/0/muster.css", { host }),
        ask(program, "POST /mcp", { host, body: ping, headers: { authorization } }),
        ask(program, "POST /mcp", { ...mcp, host, body: ping }),
        ask(program, `GET http://${host}/v1/status`, { headers: { authorization } }),
        ask(program, `GET http://127.0.0.1:${port}/v1/status`, {
          host,
          headers: { authorization },
        }),
        ask(program, "GET /", { url: webSocket, host, headers: handshake }),
      ]);
      assert.deepEqual(refused.map(statusOf), refused.map(() => 403), `${host}\n${refused}`);
      assert.match(refused[1] ?? "", /public_hosts/);
      assert.equal(cookiesOf(refused.join("")), "");
      for (const path of ["/healthz", "/readyz"]) {
        assert.equal(statusOf(await ask(program, `GET ${path}`, { host })), 200);
      }
    }
    for (const host of [`localhost:${port}`, "muster.example", "any.localhost", `[::1]:${port}`]) {
      const taken = await Promise.all([
        ask(program, "GET /v1/status", { host, headers: { authorization } }),
        ask(program, "POST /mcp", { ...mcp, host, body: ping }),
        ask(program, "POST /login", { host, body: json }),
      ]);
      assert.deepEqual(taken.map(statusOf), [200, 200, 200], `${host}\n${taken}`);
    }
  });
});

Deno.test("browsers log in at the host of the pages alone, programs everywhere", async () => {
  await withAdmin(async (program) => {
    const pages = new URL(program.pages);
    const { port } = pages;
    assert.match(program.pages, /^http:\/\/muster-[a-z2-7]{8}\.localhost:\d+\/$/);
    const json = JSON.stringify({ username: "admin", password: PASSWORD });
    const form = `action=enter&username=admin&password=${encodeURIComponent(PASSWORD)}`;
    const formType = { "content-type": "application/x-www-form-urlencoded" };
    const home = `http://${pages.hostname}:9999/login`;
    for (
      const name of ["127.0.0.1", "127.1.2.3", "[::1]", "localhost", "LOCALHOST.", "a.localhost"]
    ) {
      const host = `${name}:9999`;
      const asked = { host, headers: BROWSER };
      const typed = { host, headers: { ...BROWSER, ...formType }, body: form };
      const led = [
        await ask(program, "GET /login?next=%2Fagents", asked),
        await ask(program, "GET /login", asked),
        await ask(program, "GET /enter", asked),
        await ask(program, "POST /login", { ...asked, body: json }),
        await ask(program, "POST /login", typed),
        await ask(program, "POST /login", { host, headers: formType, body: form }),
        await ask(program, "POST /enter", typed),
        await ask(program, "POST /enter", { host, headers: formType, body: form }),
      ];
      assert.deepEqual(led.map(statusOf), led.map(() => 303), `${name}\n${led}`);
      const to = [`${home}?next=%2Fagents`, ...Array<string>(7).fill(home)];
      assert.deepEqual(led.map(leadsTo), to, name);
      assert.equal(cookiesOf(led.join("")), "", name);
      // The contract's login, also of a program whose `fetch` says that it follows CORS.
      const made = [
        await ask(program, "POST /login", { host, body: json }),
        await ask(program, "POST /login", {
          host,
          body: json,
          headers: { "sec-fetch-mode": "cors" },
        }),
        await ask(program, "POST /login", { host, body: json, headers: formType }),
      ];
      assert.deepEqual(made.map(statusOf), [200, 200, 200], made.join("\n"));
      const cookie = cookiesOf(made[0] ?? "");
      const whose = async (asked: Asked) => statusOf(await ask(program, "GET /session", asked));
      assert.equal(await whose({ host, headers: { cookie } }), 200);
      assert.equal(await whose({ host, headers: { ...BROWSER, cookie } }), 401);
      assert.equal(await whose({ host: pages.host, headers: { ...BROWSER, cookie } }), 200);
      const page = await ask(program, "GET /agents", { host, headers: { ...BROWSER, cookie } });
      assert.equal(leadsTo(page), "/login?next=%2Fagents");
    }
    const there = { host: pages.host, headers: { ...BROWSER, ...formType }, body: form };
    const entered = await ask(program, "POST /enter", there);
    assert.deepEqual([statusOf(entered), leadsTo(entered)], [303, "/"]);
    assert.match(cookiesOf(entered), /muster_session=[0-9a-f]{64}/);
    const named = await ask(program, "POST /enter", { ...there, host: "muster.example" });
    assert.deepEqual([statusOf(named), leadsTo(named)], [303, "/"]);
    assert.equal(port, new URL(program.api).port);

    const { stdout } = await runMuster(["status"], { folder: program.folder });
    assert.match(stdout, new RegExp(`^pages +${program.pages}$`, "m"));
  });
});

Deno.test("agents are not told the host of the pages", async () => {
  await withAdmin(async (program) => {
    const headers = { authorization: `Bearer ${program.token}` };
    const body = JSON.stringify({ nick: "scout", channels: ["general"] });
    const registered = await ask(program, "POST /v1/agents/register", { headers, body });
    const { passphrase } = JSON.parse(registered.split("\r\n\r\n")[1] ?? "").credentials;
    const scout = { authorization: `Basic ${btoa(`scout:${passphrase}`)}` };
    const call = (method: string, params: object) =>
      ask(program, "POST /mcp", {
        url: program.mcp,
        headers: scout,
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
    const html = { ...scout, accept: "text/html" };
    const read = [
      registered,
      await call("initialize", {}),
      await call("tools/list", {}),
      await call("tools/call", { name: "list_channels", arguments: {} }),
      ...await Promise.all(
        ["/", "/login", "/enter", "/projects", "/docs", "/openapi.json", "/llms.txt", "/v1/status"]
          .flatMap((path) => [
            ask(program, `GET ${path}`, { headers: scout }),
            ask(program, `GET ${path}`, { headers: html }),
          ]),
      ),
    ];
    const label = new URL(program.pages).hostname.split(".")[0] ?? "?";
    for (const answer of read) assert.ok(!answer.includes(label), answer);
  });
});

Deno.test("any_loopback_host lets browsers log in where they came", async () => {
  await withAdmin(async (program) => {
    assert.equal(program.pages, `${program.api}/`);
    const form = `action=enter&username=admin&password=${encodeURIComponent(PASSWORD)}`;
    const headers = { ...BROWSER, "content-type": "application/x-www-form-urlencoded" };
    assert.equal(statusOf(await ask(program, "GET /login", { headers: BROWSER })), 200);
    const entered = await ask(program, "POST /enter", { headers, body: form });
    const cookie = cookiesOf(entered);
    assert.deepEqual([statusOf(entered), leadsTo(entered)], [303, "/"]);
    const asked = { headers: { ...BROWSER, cookie } };
    assert.equal(statusOf(await ask(program, "GET /session", asked)), 200);
  }, "admins: { any_loopback_host: true }\n");
});
