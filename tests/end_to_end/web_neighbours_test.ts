import assert from "node:assert/strict";
import { call } from "../support/api.ts";
import { TestBrowser } from "../support/browser.ts";
import { peer } from "../support/peers.ts";
import { type Program, runMuster, startProgram } from "../support/program.ts";

/** Another program on this machine, which keeps the cookies that browsers send to it. */
function startNeighbour(): { readonly port: number; readonly cookies: string[] } & AsyncDisposable {
  const cookies: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    cookies.push(request.headers.get("cookie") ?? "");
    return new Response("<!DOCTYPE html><title>x</title>", {
      headers: {
        "content-type": "text/html",
        "set-cookie": "muster_notice=forged; path=/",
      },
    });
  });
  return { port: server.addr.port, cookies, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** A file of a release that is a script, in a public project. */
async function addScript(program: Program): Promise<string> {
  const base = "/projects/demo/fossil/api";
  const post = async (path: string, body: object) => {
    const response = await call(program, "POST", path, body);
    assert.ok(response.ok, `${path}: ${await response.text()}`);
  };
  await post("/v1/projects", { slug: "demo", visibility: "public" });
  await post(`${base}/releases`, { tag_name: "v1", name: "v1", body: "", checkin: "trunk" });
  const path = `${base}/releases/v1/assets/a.js`;
  const put = await fetch(program.api + path, {
    method: "PUT",
    headers: {
      authorization: `Bearer ${program.token}`,
      "content-type": "text/javascript",
    },
    body: "globalThis.hurt = true;",
  });
  assert.ok(put.ok, await put.text());
  return path;
}

Deno.test({
  name: "other programs of this machine get no session, and set none; users' files do not run",
  ...peer("chromium"),
  fn: async () => {
    await using program = await startProgram();
    await using neighbour = startNeighbour();
    const script = await addScript(program);
    const { stdout } = await runMuster(["admin", "passwd", "admin"], { folder: program.folder });
    const [password = ""] = /\S{20,}/.exec(stdout) ?? [];
    await using browser = await TestBrowser.open({ base: program.pages });
    const { page } = browser;
    const api = new URL(program.api);

    // Who opens the old address comes to the new one.
    await page.goto(`${program.api}/login?next=%2Fagents`);
    assert.equal(page.url(), `${program.pages}login?next=%2Fagents`);
    await browser.logIn("admin", password);
    assert.equal(await browser.go("/agents"), 200);
    assert.equal(new URL(page.url()).pathname, "/agents");

    await page.evaluate(`new Promise((resolve) => {
      const script = document.createElement("script");
      script.src = ${JSON.stringify(script)};
      script.onload = script.onerror = resolve;
      document.body.append(script);
    })`);
    assert.equal(await page.evaluate("globalThis.hurt"), undefined);
    assert.match(browser.complaints.join(), /violates the following Content Security Policy/);

    for (const host of ["127.0.0.1", "localhost", "evil.localhost"]) {
      await page.goto(`http://${host}:${neighbour.port}/`);
      const told = await page.evaluate(`Promise.all([
        fetch("${program.api}/login", { method: "POST", mode: "no-cors", credentials: "include",
          body: '{"username":"admin","password":"x"}' }).then((answer) => answer.type),
        fetch("${program.api}/v1/agents").then(() => "read", () => "refused"),
        (() => {
          document.cookie = "muster_session=forged; path=/; domain=localhost";
          document.cookie = "muster_csrf=forged; path=/; domain=localhost";
          return "set";
        })(),
      ])`);
      assert.deepEqual(told, ["opaque", "refused", "set"]);
    }
    assert.ok(neighbour.cookies.length >= 3);
    // The browser gives them back what they set, and nothing else.
    for (const cookie of neighbour.cookies) {
      assert.doesNotMatch(cookie, /muster_\w+=(?!forged(?:;|$))/);
    }

    // Nothing of what they set changes what the pages show, there or under a shared name.
    await browser.go("/agents");
    assert.equal(new URL(page.url()).pathname, "/agents");
    assert.equal((await page.cookies()).some(({ value }) => value === "forged"), false);
    await page.goto(`http://127.0.0.1:${api.port}/projects/demo`);
    assert.doesNotMatch(await page.content(), /forged/);
  },
});
