import assert from "node:assert/strict";
import { join } from "node:path";
import { runMuster, startProgram } from "../support/program.ts";
import { call } from "../support/api.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

const PORTS = {
  MUSTER_API_ADDR: "127.0.0.1:0",
  MUSTER_MCP_ADDR: "127.0.0.1:0",
  MUSTER_IRC_LISTEN: "127.0.0.1:0",
};

async function names(folder: string): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.map(({ name }) => name).sort();
}

Deno.test("muster starts in an empty folder, serves, and SIGTERM ends it with code 0", async () => {
  await using program = await startProgram();
  const mode = (await Deno.stat(join(program.folder, "data", "api_token"))).mode ?? 0;
  assert.equal(mode & 0o777, 0o600);
  assert.match(program.token, /^[0-9a-f]{64}$/);

  const status = await call(program, "GET", "/v1/status");
  assert.equal(status.status, 200);
  const body = await status.json();
  assert.equal(body.status, "ok");
  assert.equal(body.agents, 0);
  assert.match(body.started, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

  const health = await fetch(`${program.api}/healthz`);
  assert.equal(health.status, 200);
  await health.body?.cancel();
  assert.equal(await program.stop(), 0);
});

Deno.test("a restart keeps the API token", async () => {
  await withFolder(async (folder) => {
    const first = await startProgram({ folder });
    await first.stop();
    await using second = await startProgram({ folder });
    assert.equal(second.token, first.token);
  });
});

Deno.test("a second start on the same data folder ends with one sentence and code 1", async () => {
  await using program = await startProgram();
  const before = await names(join(program.folder, "data"));
  const second = await runMuster(["serve"], { folder: program.folder, environment: PORTS });
  assert.equal(second.code, 1);
  assert.match(second.stderr, /^The data folder ".+" is in use by another muster\n$/);
  assert.deepEqual(await names(join(program.folder, "data")), before);
  const status = await call(program, "GET", "/v1/status");
  assert.equal(status.status, 200);
  await status.body?.cancel();
});

for (const key of Object.keys(PORTS)) {
  Deno.test(`${key} in use ends the start with one sentence and code 1, nothing touched`, async () => {
    await withFolder(async (folder) => {
      using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const environment = { ...PORTS, [key]: `127.0.0.1:${taken.addr.port}` };
      const { code, stderr } = await runMuster(["serve"], { folder, environment });
      assert.equal(code, 1);
      assert.equal(
        stderr,
        `The address 127.0.0.1:${taken.addr.port} is in use by another program\n`,
      );
      assert.deepEqual(await names(folder), []);
    });
  });
}

const CONFIGURATIONS: readonly (readonly [string, string, RegExp])[] = [
  [
    "an unknown key",
    "irc:\n  lissten: x\n",
    /^config\.yaml:2: irc\.lissten: is no key of muster\n$/,
  ],
  [
    "a wrong value",
    "bridge: { buffer_size: many }\n",
    /^config\.yaml:1: bridge\.buffer_size: .+\n$/,
  ],
  ["broken YAML", "irc: [\n", /^config\.yaml:\d+: .+\n$/],
];

for (const [name, text, expected] of CONFIGURATIONS) {
  Deno.test(`a configuration with ${name} ends the start with code 2, nothing touched`, async () => {
    await withFolder(async (folder) => {
      await writeFile(folder, "config.yaml", text);
      for (const args of [["serve"], ["config", "check"]]) {
        const { code, stderr } = await runMuster(args, { folder, environment: PORTS });
        assert.match(stderr, expected);
        assert.equal(code, 2);
      }
      assert.deepEqual(await names(folder), ["config.yaml"]);
    });
  });
}

Deno.test("a configuration file that cannot be read ends the start with code 2", async () => {
  await withFolder(async (folder) => {
    const { code, stderr } = await runMuster(["--config", "absent.yaml"], {
      folder,
      environment: PORTS,
    });
    assert.equal(code, 2);
    assert.match(stderr, /^absent\.yaml: cannot be read: .+\n$/);
  });
});

Deno.test("MUSTER_API_TOKEN pins the token", async () => {
  const pinned = "a-token-of-more-than-thirty-two-characters";
  await using program = await startProgram({ environment: { MUSTER_API_TOKEN: pinned } });
  const status = await call({ api: program.api, token: pinned }, "GET", "/v1/status");
  assert.equal(status.status, 200);
  await status.body?.cancel();
});

Deno.test("--version and --help print and end with code 0, an unknown command with code 2", async () => {
  await withFolder(async (folder) => {
    const version = await runMuster(["--version"], { folder });
    assert.deepEqual([version.code, version.stdout], [0, "0.1.0\n"]);
    const help = await runMuster(["--help"], { folder });
    assert.equal(help.code, 0);
    assert.match(help.stdout, /serve.*\n.*health/);
    for (const typed of ["serv", "sereve"]) {
      const wrong = await runMuster([typed], { folder });
      assert.equal(wrong.code, 2);
      assert.equal(
        wrong.stderr,
        `Unknown command "${typed}"; did you mean "serve"?\n"muster --help" shows how it is used\n`,
      );
    }
    assert.deepEqual(await names(folder), []);
  });
});
