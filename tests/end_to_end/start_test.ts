import assert from "node:assert/strict";
import { join } from "node:path";
import {
  cleanEnvironment,
  limitedCommand,
  musterCommand,
  runMuster,
  startProgram,
} from "../support/program.ts";
import { call } from "../support/api.ts";
import { freePort } from "../support/free_port.ts";
import { withFolder, writeFile } from "../support/temporary.ts";
import { until } from "../support/until.ts";

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

Deno.test("without a terminal, the log is nothing but JSON lines", async () => {
  await using program = await startProgram();
  const account = { account: "ann", password: "correct horse battery" };
  const made = await call(program, "POST", "/v1/irc/accounts", account);
  assert.equal(made.status, 201, await made.text());
  assert.equal(await program.stop(), 0);
  assert.notEqual(program.log.length, 0);
  for (const line of program.log) assert.equal(typeof JSON.parse(line), "object", line);
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
  // It closes the history once what the start has left is written.
  const isOpen = ({ name }: Deno.DirEntry) => name === "history.db-wal";
  await until(() => !Deno.readDirSync(join(program.folder, "data")).some(isOpen));
  const before = await names(join(program.folder, "data"));
  const second = await runMuster(["serve"], { folder: program.folder, environment: PORTS });
  assert.equal(second.code, 1);
  assert.match(second.stderr, /^The data folder ".+" is in use by another muster\n$/);
  assert.deepEqual(await names(join(program.folder, "data")), before);
  const status = await call(program, "GET", "/v1/status");
  assert.equal(status.status, 200);
  await status.body?.cancel();
});

/** The configuration keys of the ports' variables. */
const KEYS = {
  MUSTER_API_ADDR: "api_addr",
  MUSTER_MCP_ADDR: "mcp_addr",
  MUSTER_IRC_LISTEN: "irc.listen",
};

for (const [key, configurationKey] of Object.entries(KEYS)) {
  Deno.test(`${key} in use ends the start with one sentence and code 1, nothing touched`, async () => {
    await withFolder(async (folder) => {
      using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const environment = { ...PORTS, [key]: `127.0.0.1:${taken.addr.port}` };
      const { code, stderr } = await runMuster(["serve"], { folder, environment });
      assert.equal(code, 1);
      assert.equal(
        stderr,
        `The address 127.0.0.1:${taken.addr.port} is in use by another program: change ` +
          `${configurationKey}\n`,
      );
      assert.deepEqual(await names(folder), []);
    });
  });
}

Deno.test("a limit of few open files ends the start with one sentence, nothing touched", async () => {
  await withFolder(async (folder) => {
    for (const limit of [64, 100, 160]) {
      const { code, stderr } = await limitedCommand(limit, {
        cwd: folder,
        clearEnv: true,
        env: cleanEnvironment(PORTS),
      }).output();
      const text = new TextDecoder().decode(stderr);
      assert.match(text, /^muster needs to open at least 160 files, and .* "ulimit -n 1024"\n$/);
      assert.equal(code, 1, text);
      assert.deepEqual(await names(folder), []);
    }
  });
});

const CONFIGURATIONS: readonly (readonly [string, string, RegExp])[] = [
  [
    "an unknown key",
    "irc:\n  lissten: x\n",
    /^config\.yaml:2: irc\.lissten: is not a key of muster; did you mean "irc\.listen"\?\n$/,
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
    assert.equal(version.code, 0);
    assert.match(version.stdout, /^0\.1\.0 \(build [0-9a-f]{12}\)\n$/);
    const help = await runMuster(["--help"], { folder });
    assert.equal(help.code, 0);
    assert.match(help.stdout, /serve.*\n.*health/);
    for (const typed of ["serv", "sereve"]) {
      const wrong = await runMuster([typed], { folder });
      assert.equal(wrong.code, 2);
      assert.equal(
        wrong.stderr,
        `Unknown command "${typed}"; did you mean "serve"?\n"muster --help" shows the usage\n`,
      );
    }
    assert.deepEqual(await names(folder), []);
  });
});

for (const key of Object.keys(PORTS)) {
  Deno.test(`${key} taken between the check and the listening ends the start with one sentence`, async () => {
    await withFolder(async (folder) => {
      // A start reads the token after it has checked the addresses; a pipe makes it wait there.
      await Deno.mkdir(join(folder, "data"));
      const pipe = join(folder, "data", "api_token");
      assert.ok((await new Deno.Command("mkfifo", { args: [pipe] }).output()).success);
      const port = freePort();
      const environment = { ...PORTS, [key]: `127.0.0.1:${port}` };
      const starting = runMuster(["serve"], { folder, environment });
      using written = await Deno.open(pipe, { write: true });
      using _taken = Deno.listen({ hostname: "127.0.0.1", port });
      await written.write(new TextEncoder().encode("0".repeat(64)));
      written.close();
      const { code, stderr } = await starting;
      const last = stderr.trimEnd().split("\n").at(-1);
      assert.equal(last, `The address 127.0.0.1:${port} is in use by another program`);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.equal(code, 1);
    });
  });
}

/** Runs `config check` with a configuration, in a folder of its own. */
async function check(config: string): Promise<{ code: number; stdout: string; stderr: string }> {
  let result;
  await withFolder(async (folder) => {
    await writeFile(folder, "config.yaml", config);
    result = await runMuster(["config", "check"], { folder, environment: PORTS });
    assert.deepEqual(await names(folder), ["config.yaml"]);
  });
  assert.ok(result);
  return result;
}

Deno.test("config check finds missing TLS files and files with secrets", async () => {
  const { code, stderr } = await check("tls: { cert: absent.pem, key: absent.pem }\n");
  assert.equal(stderr, 'The file "absent.pem" (tls) cannot be read\n');
  assert.equal(code, 2);
  const external = await check(
    "irc: { mode: external, addr: 127.0.0.1:1, tls: { enabled: true }, " +
      "ergo: { api_addr: 127.0.0.1:2, api_token: t }, " +
      "services: { oper: o, oper_password_file: absent } }\n",
  );
  assert.equal(
    external.stderr,
    'The file "absent" (irc.services.oper_password_file) cannot be read\n',
  );
  assert.equal(external.code, 2);
});

Deno.test("config check finds addresses that collide or are in use", async () => {
  await withFolder(async (folder) => {
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = taken.addr;
    const table: [environment: Record<string, string>, code: number, stderr: string][] = [
      [
        { MUSTER_MCP_ADDR: `127.0.0.1:${port}` },
        1,
        `The address 127.0.0.1:${port} is in use by another program: change mcp_addr\n`,
      ],
      [
        { MUSTER_API_ADDR: `localhost:${port}`, MUSTER_IRC_LISTEN: `:${port}` },
        2,
        `The address localhost:${port} is in use by another program: change api_addr\n` +
        `api_addr and irc.listen collide: both want 0.0.0.0:${port}\n`,
      ],
    ];
    for (const [environment, code, expected] of table) {
      const result = await runMuster(["config", "check"], {
        folder,
        environment: { ...PORTS, ...environment },
      });
      assert.equal(result.stderr.replace(/^warning: .*\n/gm, ""), expected);
      assert.equal(result.code, code);
    }
    const start = await runMuster(["serve"], {
      folder,
      environment: { ...PORTS, MUSTER_API_ADDR: ":9", MUSTER_MCP_ADDR: "127.0.0.1:9" },
    });
    assert.equal(start.code, 2);
  });
});

Deno.test("config check warns about clear text as a start does", async () => {
  const { code, stdout, stderr } = await check(
    "irc: { websocket_listen: ':0' }\ncors: { origins: ['*'] }\n",
  );
  assert.equal(
    stderr,
    "warning: irc.websocket_listen: Passwords and tokens travel in the clear: no TLS, no trusted proxy\n",
  );
  assert.deepEqual([code, stdout], [0, "The configuration is valid\n"]);
});

Deno.test("config check counts the addresses of the running muster of the data folder as free", async () => {
  await using program = await startProgram();
  const environment = {
    MUSTER_API_ADDR: new URL(program.api).host,
    MUSTER_MCP_ADDR: new URL(program.mcp).host,
    MUSTER_IRC_LISTEN: `127.0.0.1:${program.irc.port}`,
  };
  const checked = await runMuster(["config", "check"], { folder: program.folder, environment });
  assert.equal(
    checked.stdout,
    `The configuration is valid\nA server with this data folder is running at ${program.api}\n` +
      `Its web pages are at ${program.pages}\n`,
  );
  assert.deepEqual([checked.code, checked.stderr], [0, ""]);
});

Deno.test("muster's own environment variables cause no warning", async () => {
  await withFolder(async (folder) => {
    const environment = {
      ...PORTS,
      MUSTER_API_TOKEN: "a-token-of-more-than-thirty-two-characters",
      MUSTER_EXECUTABLE: "dist/muster",
      MUSTER_BENCH_BEFORE: "/nowhere",
      MUSTER_BENCH_ERGO: "/nowhere",
      MUSTER_BENCH_SCUTTLEBOT: "/nowhere",
      MUSTER_GIT_CLIENTS: "/nowhere",
      MUSTER_MCP_CLIENTS: "/nowhere",
      MUSTER_NEWER_FOSSIL: "fossil",
      MUSTER_PEERS: "required",
      MUSTER_PEER_GITEA: "/nowhere",
      MUSTER_PYTHON_CLIENTS: "/nowhere",
      MUSTER_TEST_PORTS: "/nowhere",
      MUSTER_TOKEN: "token",
      MUSTER_URL: "http://127.0.0.1:1",
    };
    const own = await runMuster(["config", "check"], { folder, environment });
    assert.deepEqual([own.code, own.stderr], [0, ""]);
    const other = await runMuster(["config", "check"], {
      folder,
      environment: { ...PORTS, MUSTER_SERVICE_HOST: "10.0.0.1" },
    });
    assert.match(other.stderr, /^warning: MUSTER_SERVICE_HOST names no configuration key/);
  });
});

Deno.test("a start that replaces the API token logs it and writes an event", async () => {
  await withFolder(async (folder) => {
    await Deno.mkdir(join(folder, "data"));
    await writeFile(folder, "data/api_token", "broken");
    await using program = await startProgram({ folder });
    const replaced = program.log.filter((line) => line.includes("The API token was replaced"));
    assert.equal(replaced.length, 1);
    assert.match(replaced[0] ?? "", /64 hex digits/);
    assert.ok(!replaced[0]?.includes(program.token));
    const events = await call(program, "GET", "/v1/events?types=api_token.rotated");
    const { events: [event] } = await events.json();
    assert.equal(event.actor, "system");

    const logged = program.logged(/The API token was replaced.*operator/);
    const rotated = await call(program, "POST", "/v1/tokens/api/rotate");
    const { token } = await rotated.json();
    await logged;
    await program.stop();
    await using again = await startProgram({ folder });
    assert.equal(again.token, token);
    assert.ok(!again.log.some((line) => line.includes("The API token was replaced")));
  });
});

Deno.test("muster runs without a PATH", async () => {
  await withFolder(async (folder) => {
    // From the tree, the runtime needs a folder for its cache.
    const env = Object.fromEntries(
      ["HOME", "DENO_DIR"].flatMap((name) => {
        const value = Deno.env.get(name);
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const { code, stdout, stderr } = await musterCommand(["--version"], {
      cwd: folder,
      clearEnv: true,
      env,
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    assert.match(new TextDecoder().decode(stdout), /\d+\.\d+\.\d+/);
  });
});
