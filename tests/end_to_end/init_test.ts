/** `muster init`: the configuration and the first records of a new server. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { call, callAs } from "../support/api.ts";
import { makeCertificate } from "../support/certificate.ts";
import { peer } from "../support/peers.ts";
import { runMuster, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { loadConfig } from "../../services/operation/config/mod.ts";

/** A field of what the command printed, such as the password. */
function fieldOf(stdout: string, name: string): string {
  const [, value = ""] = new RegExp(`^${name} +(\\S+)$`, "m").exec(stdout) ?? [];
  assert.notEqual(value, "", `${name} is not in ${stdout}`);
  return value;
}

/** The cookies that an answer sets, for the next request. */
function cookiesOf({ headers }: Response): string {
  return headers.getSetCookie().map((cookie) => cookie.split(";")[0]).join("; ");
}

async function configOf(folder: string, name = "config.yaml") {
  const file = join(folder, name);
  return (await loadConfig({ file, fileRequired: true, environment: {}, flags: {} })).config;
}

async function namesIn(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.map(({ name }) => name).toSorted();
}

Deno.test("a server that muster init prepared has the admin, the project and the agent", async () => {
  await withFolder(async (folder) => {
    const { code, stdout, stderr } = await runMuster(
      ["init", "--yes", "--admin", "ann", "--project", "demo", "--agent", "scout"],
      { folder },
    );
    assert.deepEqual([code, stderr], [0, ""]);
    assert.equal(((await Deno.stat(join(folder, "config.yaml"))).mode ?? 0) & 0o777, 0o600);
    assert.equal(((await Deno.stat(join(folder, "data"))).mode ?? 0) & 0o777, 0o700);
    const text = await Deno.readTextFile(join(folder, "config.yaml"));
    assert.match(text, /^api_addr: 127\.0\.0\.1:8080 +# REST API/m);
    assert.match(text, /^# {2}motd: "" +# message of the day/m);

    await using program = await startProgram({ folder });
    const password = fieldOf(stdout, "password");
    const login = await fetch(`${program.api}/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ username: "ann", password }),
    });
    assert.deepEqual(await login.json(), { username: "ann" });
    const admins = await (await call(program, "GET", "/v1/admins")).json();
    assert.deepEqual(admins.map(({ username }: { username: string }) => username), ["ann"]);

    const members = await call(program, "GET", "/v1/projects/demo/members");
    assert.deepEqual(
      (await members.json()).map(({ name, role }: Record<string, string>) => [name, role]),
      [["ann", "admin"], ["scout", "write"]],
    );
    const page = await fetch(`${program.api}/projects/demo`, {
      headers: { accept: "text/html", cookie: cookiesOf(login) },
    });
    assert.equal(page.status, 200, await page.text());

    const scout = { nick: "scout", passphrase: fieldOf(stdout, "passphrase") };
    const path = "/projects/demo/fossil/api/tickets";
    const ticket = await callAs(program, scout, "POST", path, { title: "First" });
    assert.equal(ticket.status, 201, await ticket.text());
  });
});

Deno.test("muster init takes an answer a line, and the defaults at the end of the input", {
  ...peer("openssl"),
}, async () => {
  await withFolder(async (folder) => {
    await makeCertificate(folder);
    const input = { folder, stdin: "0.0.0.0\ntls.crt\ntls.key\n\ndemo\n" };
    const { code, stdout, stderr } = await runMuster(["init", "--data-dir", "state"], input);
    assert.equal(code, 0, stderr);
    assert.equal(fieldOf(stdout, "admin"), "admin");
    assert.equal(fieldOf(stdout, "project"), "demo");
    assert.equal(stdout.includes("passphrase "), false);
    assert.equal(stderr.split("\n").filter((line) => line.includes("?")).length, 6, stderr);
    const config = await configOf(folder);
    assert.equal(config.data_dir, "state");
    assert.equal(config.api_addr, "0.0.0.0:8080");
    assert.equal(config.irc.listen, "127.0.0.1:6667");
    assert.equal(config.irc.tls_listen, "0.0.0.0:6697");
    assert.deepEqual([config.tls.cert, config.tls.key], ["tls.crt", "tls.key"]);
  });
});

Deno.test("muster init refuses names that nobody may have, and makes nothing then", async () => {
  await withFolder(async (folder) => {
    const refusals: readonly (readonly [args: string[], message: RegExp])[] = [
      [["--admin", "bridge"], /"bridge" of --admin must be .*reserved/],
      [["--agent", "NickServ"], /"NickServ" of --agent must be .*reserved/],
      [["--agent", "ADMIN"], /"ADMIN" .* the admin/],
      [["--admin", "ann", "--agent", "Ann"], /"Ann" .* the admin/],
    ];
    for (const [args, message] of refusals) {
      const { code, stderr } = await runMuster(["init", "--yes", ...args], { folder });
      assert.equal(code, 2, `${args}: ${stderr}`);
      assert.match(stderr, message);
    }
    const { code, stderr } = await runMuster(["init"], { folder, stdin: "\n\nann\n\nann\n" });
    assert.equal(code, 2, stderr);
    assert.match(stderr, /"ann" .* the admin/);
    assert.deepEqual(await namesIn(folder), []);
  });
});

Deno.test("muster init on earlier data says what was there, and makes the rest", async () => {
  await withFolder(async (folder) => {
    const again = async (...args: string[]) => {
      await Deno.remove(join(folder, "config.yaml")).catch(() => {});
      return await runMuster(["init", "--yes", ...args], { folder });
    };
    assert.equal((await again("--admin", "ann", "--project", "demo")).code, 0);
    const second = await again("--admin", "ann", "--project", "demo", "--agent", "scout");
    assert.deepEqual([second.code, second.stderr], [0, ""]);
    assert.match(second.stdout, /^admin +ann \(was there; .*muster admin passwd ann/m);
    assert.match(second.stdout, /^project +demo \(was there\)$/m);
    assert.notEqual(fieldOf(second.stdout, "passphrase"), "");

    const taken = await again("--admin", "ann", "--agent", "ann");
    assert.equal(taken.code, 2);
    const other = await again("--admin", "bob", "--agent", "ann");
    assert.equal(other.code, 1);
    assert.match(other.stderr, /The name "ann" is taken/);
    assert.match(other.stdout, /^password /m);
  });
});

Deno.test("muster init overwrites no configuration, and leaves none after a failure", async () => {
  await withFolder(async (folder) => {
    await Deno.writeTextFile(join(folder, "mine.yaml"), "log: { level: debug }\n");
    const again = await runMuster(["init", "--yes", "--config", "mine.yaml"], { folder });
    assert.equal(again.code, 1);
    assert.match(again.stderr, /already a file mine\.yaml.* overwrites nothing/);
    const wrong = await runMuster(["init"], { folder, stdin: "everywhere\n" });
    assert.equal(wrong.code, 2);
    assert.match(wrong.stderr, /The answer "everywhere" must be an IP address/);
    const reserved = await runMuster(["init", "--yes", "--project", "Demo"], { folder });
    assert.equal(reserved.code, 2);
    assert.match(reserved.stderr, /"Demo" of --project must be 1 to 64 lower-case letters/);
    assert.deepEqual(await namesIn(folder), ["mine.yaml"]);

    await using _ = await startProgram({ folder });
    const running = await runMuster(["init", "--yes"], { folder });
    assert.equal(running.code, 1);
    assert.deepEqual(await namesIn(folder), ["data", "mine.yaml"]);
  });
});
