/** `muster doctor`, against defects that are planted in the data of the real program. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { examineConfigured } from "../../cli/doctor.ts";
import { loadConfig } from "../../services/operation/config/mod.ts";
import { call } from "../support/api.ts";
import { makeCertificate } from "../support/certificate.ts";
import { freePort } from "../support/free_port.ts";
import { type Defect, DEFECTS, FREE, MISTAKES } from "../support/planted_defects.ts";
import { musterCommand, musterWords, runMuster, startProgram } from "../support/program.ts";
import { runOn, smallDisk } from "../support/small_disk.ts";
import { withFolder } from "../support/temporary.ts";

interface Finding {
  readonly level: string;
  readonly check: string;
  readonly message: string;
  readonly fix: string;
}

interface Report {
  readonly healthy: boolean;
  readonly findings: readonly Finding[];
}

const LOOPBACK = Object.fromEntries(
  Object.keys(FREE).map((key) => [key, "127.0.0.1:0"]),
);

async function examine(
  home: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Report> {
  const { code, stdout, stderr } = await runMuster(["doctor", "--json"], {
    folder: home,
    environment: Object.assign({}, LOOPBACK, environment),
  });
  assert.notEqual(stdout, "", stderr);
  const report: Report = JSON.parse(stdout);
  assert.equal(code, report.healthy ? 0 : 1, stderr);
  return report;
}

/** What the command finds, without a start of the program. */
async function findingsIn(
  home: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<readonly Finding[]> {
  const { config } = await loadConfig({
    file: join(home, "config.yaml"),
    fileRequired: false,
    environment: Object.assign({}, LOOPBACK, environment),
    flags: { data_dir: join(home, "data") },
  });
  return await examineConfigured(config, {});
}

/** The finding of a planted defect. */
function found(findings: readonly Finding[], { name, finding }: Omit<Defect, "plant">): Finding {
  const one = findings.find(({ level, check, message }) =>
    level === finding.level && check === finding.check && finding.message.test(message)
  );
  assert.ok(one !== undefined, `${name}: ${JSON.stringify(findings)}`);
  assert.notEqual(one.fix, "");
  return one;
}

/** Copies a home beside it. */
async function copyOf(healthy: string, name: string): Promise<string> {
  const home = join(dirname(healthy), name);
  await new Deno.Command("cp", { args: ["-a", healthy, home] }).output();
  return home;
}

/** Makes `healthy` with the data of a stopped program. */
async function makeHealthy(folder: string): Promise<string> {
  const home = join(folder, "healthy");
  await Deno.mkdir(home);
  await using program = await startProgram({ folder: home });
  const api = "/projects/demo/fossil/api";
  const requests: readonly (readonly [string, string, unknown])[] = [
    ["POST", "/v1/projects", { slug: "demo" }],
    ["POST", `${api}/tickets`, { title: "Leak" }],
    ["PUT", `${api}/wiki/Home`, { content: "Welcome" }],
    ["POST", "/v1/channels/general/messages", { text: "hello" }],
    ["POST", "/v1/projects", { slug: "removed" }],
    ["DELETE", "/v1/projects/removed", undefined],
  ];
  for (const [method, path, body] of requests) {
    const response = await call(program, method, path, body);
    assert.ok(response.ok, `${path}: ${await response.text()}`);
  }
  assert.equal(await program.stop(), 0);
  return home;
}

/** Makes a backup of `healthy`, with which defects are cured. */
async function makeBackup(folder: string): Promise<void> {
  const backup = join(folder, "backup.tar");
  const { code, stderr } = await runMuster(["backup", backup], { folder: join(folder, "healthy") });
  assert.equal(code, 0, stderr);
}

/** What files there are, when they were written, and how long they are. */
function stateOf(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    const { mtime, size } = Deno.statSync(path);
    return isDirectory ? stateOf(path) : [`${path} ${mtime?.getTime()} ${size}`];
  }).toSorted();
}

Deno.test("muster doctor finds each planted defect and each mistake, and its advice helps", async () => {
  await withFolder(async (folder) => {
    const healthy = await makeHealthy(folder);
    for (const name of ["demo.objects", "demo.objects-wal", "demo.pack"]) {
      await Deno.writeTextFile(`${healthy}/data/projects/${name}`, "");
    }
    await makeBackup(folder);
    await findInTurn(healthy);
    await findTogether(healthy);
    await findMistakes(healthy);
  });
});

async function findInTurn(healthy: string): Promise<void> {
  for (const [index, defect] of DEFECTS.entries()) {
    const home = await copyOf(healthy, `home${index}`);
    await defect.plant(home);
    const { fix } = found(await findingsIn(home), defect);
    if (defect.cure === undefined) continue;
    await defect.cure(home, fix);
    assert.deepEqual(await findingsIn(home), [], defect.name);
  }
}

/** Defects that hide no other one. Those that a restored backup cures come last. */
const TOGETHER: readonly string[] = [
  "a token that others can read",
  "a data folder that others can enter",
  "a missing key",
  "a key file with something else",
  "derived tables that lack a row",
  "a repository without a project",
  "what an export has left",
  "a row that names another one that does not exist",
  "a changed event",
  "a damaged history",
];

/** The program finds many defects at once, and is content before and after. It changes nothing. */
async function findTogether(healthy: string): Promise<void> {
  const before = stateOf(healthy);
  assert.deepEqual(await examine(healthy), { healthy: true, findings: [] });
  assert.deepEqual(stateOf(healthy), before, "the doctor changed something");
  const home = await copyOf(healthy, "together");
  const defects = TOGETHER.map((name) =>
    DEFECTS.find((defect) => defect.name === name) ?? assert.fail(name)
  );
  for (const { plant } of defects) await plant(home);
  const { findings } = await examine(home);
  const fixes = defects.map((defect) => found(findings, defect).fix);
  for (const [index, { cure }] of defects.entries()) await cure?.(home, fixes[index] ?? "");
  assert.deepEqual(await examine(home), { healthy: true, findings: [] });
}

async function findMistakes(healthy: string): Promise<void> {
  for (const { plant, cure, environment, ...mistake } of MISTAKES) {
    await plant?.(healthy);
    const { fix } = found((await examine(healthy, environment)).findings, mistake);
    await cure?.(healthy, fix);
  }
  assert.deepEqual(await examine(healthy), { healthy: true, findings: [] });
}

Deno.test("muster doctor finds a taken address, an expired certificate and a foreign key", async () => {
  await withFolder(async (folder) => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { cert } = await makeCertificate(folder);
    const [old, other] = [join(folder, "old"), join(folder, "other")];
    await Deno.mkdir(old);
    await Deno.mkdir(other);
    await makeCertificate(other);
    await new Deno.Command("openssl", {
      cwd: folder,
      args: [
        ...["x509", "-in", "tls.crt", "-signkey", "tls.key", "-days", "-1", "-out", "old/tls.crt"],
      ],
    }).output();
    assert.notEqual(cert, Deno.readTextFileSync(join(old, "tls.crt")));
    const tls = (crt: string, key: string) => ({
      MUSTER_TLS_CERT: join(folder, crt),
      MUSTER_TLS_KEY: join(folder, key),
    });
    const messagesOf = async (environment: Record<string, string>) =>
      (await examine(folder, environment)).findings.map(({ message }) => message).join("\n");
    const taken = { MUSTER_API_ADDR: `127.0.0.1:${listener.addr.port}` };
    assert.match(await messagesOf(taken), /in use.*api_addr/);
    assert.match(await messagesOf(tls("old/tls.crt", "tls.key")), /tls\.crt" has expired/);
    assert.match(await messagesOf(tls("tls.crt", "other/tls.key")), /does not go with/);
    assert.doesNotMatch(await messagesOf(tls("tls.crt", "tls.key")), /tls/);
    await Deno.chmod(join(folder, "tls.key"), 0o644);
    assert.match(
      await messagesOf(tls("tls.crt", "tls.key")),
      /can read "[^"]*tls\.key" \(mode 644/,
    );
  });
});

Deno.test("the advice of muster doctor on an address fits what is wrong with it", () =>
  withFolder(async (folder) => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const taken = `127.0.0.1:${listener.addr.port}`;
    const fixesOf = async (environment: Readonly<Record<string, string>>) =>
      (await findingsIn(folder, environment)).filter(({ level }) => level !== "note")
        .map(({ message, fix }) => `${message}; ${fix}`);
    assert.deepEqual(await fixesOf({ MUSTER_API_ADDR: taken }), [
      `The address ${taken} is in use by another program: change api_addr; ` +
      "if the key is right, end the program that uses the address (ss -ltnp shows it)",
    ]);
    const free = `127.0.0.1:${freePort()}`;
    assert.deepEqual(await fixesOf({ MUSTER_API_ADDR: free, MUSTER_MCP_ADDR: free }), [
      `api_addr and mcp_addr collide: both want ${free}; give each key a port of its own`,
    ]);
    assert.deepEqual(
      await fixesOf({ MUSTER_API_ADDR: "192.0.2.1:8080", MUSTER_TRUSTED_PROXIES: "[192.0.2.9]" }),
      [
        "This machine cannot listen on 192.0.2.1:8080: change api_addr; " +
        "name an address of this machine (ip addr shows them)",
      ],
    );
    const network = {
      MUSTER_IRC_MODE: "external",
      MUSTER_IRC_ADDR: "irc.example.com:6667",
      MUSTER_IRC_ERGO_API_ADDR: "irc.example.com:8089",
      MUSTER_IRC_ERGO_API_TOKEN: "token",
      MUSTER_IRC_SERVICES_OPER: "muster",
      MUSTER_IRC_SERVICES_OPER_PASSWORD: "password",
    };
    const clear = "Passwords travel to the IRC network in the clear: no TLS";
    assert.deepEqual(await fixesOf(network), [
      `irc.addr: ${clear}; set irc.tls.enabled, and irc.addr to a port with TLS`,
      `irc.ergo.api_addr: ${clear}; let Ergo's API listen with TLS, and name it with https://`,
    ]);
  }));

Deno.test("muster doctor finds a full disk", smallDisk(), async () => {
  await withFolder(async (folder) => {
    await makeHealthy(folder);
    const disk = join(folder, "disk");
    await Deno.mkdir(disk);
    const script = 'cp -a "$1" "$0/data"; cd "$0"; shift; "$@" doctor --quick';
    const data = join(folder, "healthy", "data");
    const { stdout, code } = runOn(disk, 20, script, [data, ...musterWords()]);
    assert.match(stdout, /^error: space: Only \d+ MB are free on the disk of/m);
    assert.equal(code, 1);
  });
});

Deno.test(
  "a disk that cannot be written is at fault, not the data on it",
  smallDisk(),
  async () => {
    await withFolder(async (folder) => {
      await makeHealthy(folder);
      const disk = join(folder, "disk");
      await Deno.mkdir(disk);
      const addresses = Object.entries(LOOPBACK).map(([name, value]) => `export ${name}=${value};`);
      const script = `${addresses.join(" ")} cp -a "$1" "$0/data"; ` +
        'mount -o remount,ro "$0"; cd "$0"; shift; ' +
        '"$@" doctor --quick; "$@" serve; "$@" backup ../b.tar; "$@" upgrade --check; true';
      const data = join(folder, "healthy", "data");
      const { stdout, stderr } = runOn(disk, 20, script, [data, ...musterWords()]);
      const said = stdout + stderr;
      assert.match(stdout, /^error: permissions: .*muster\.db" cannot be written: Read-only file/m);
      assert.doesNotMatch(said, /no database|damaged|restore a backup/);
      const sentences = stderr.split("\n").filter((line) => /Read-only file|be written/.test(line));
      assert.equal(sentences.length, 3, stderr);
    });
  },
);

Deno.test("muster doctor finds a low limit of open files", async () => {
  await withFolder(async (folder) => {
    const script = 'ulimit -n 400; exec "$0" "$@" doctor';
    const { stdout } = await new Deno.Command("bash", {
      cwd: folder,
      args: ["-c", script, ...musterWords()],
    }).output();
    const text = new TextDecoder().decode(stdout);
    assert.match(text, /^warning: descriptors: A process may open only about 3\d\d files; raise/m);
  });
});

Deno.test("muster doctor finds nothing wrong with a running server", async () => {
  await using program = await startProgram();
  await call(program, "POST", "/v1/projects", { slug: "demo" });
  await assertHealthy(program.folder);
});

Deno.test("muster doctor finds nothing wrong with a restored backup that has no projects", async () => {
  await using program = await startProgram();
  const archive = join(program.folder, "backup.tar");
  assert.equal((await runMuster(["backup", archive], { folder: program.folder })).code, 0);
  assert.equal(await program.stop(), 0);
  assert.equal(
    (await runMuster(["restore", archive, "--replace"], { folder: program.folder })).code,
    0,
  );
  await assertHealthy(program.folder);
});

async function assertHealthy(folder: string): Promise<void> {
  const { stdout, success } = await musterCommand(["doctor"], { cwd: folder, env: LOOPBACK })
    .output();
  assert.equal(new TextDecoder().decode(stdout), "Everything is in order\n");
  assert.ok(success);
}

Deno.test("a running server examines itself, as it was started", async () => {
  await using program = await startProgram();
  const examined = async (method: string) => {
    const response = await call(program, method, "/v1/doctor");
    const { at, ...report } = await response.json();
    if (response.ok) assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000, at);
    return report;
  };
  assert.match((await examined("GET")).error, /Nobody has examined/);
  assert.deepEqual(await examined("POST"), { healthy: true, findings: [], more: 0 });
  const key = join(program.folder, "data", "token_key");
  await Deno.chmod(key, 0o644);
  const { healthy, findings: [finding, ...others] } = await examined("POST");
  assert.deepEqual([healthy, others], [false, []]);
  assert.match(finding.message, /token_key" \(mode 644\)/);
  assert.match(finding.fix, /chmod/);
  assert.deepEqual((await examined("GET")).findings, [finding]);
  assert.equal((await call(program, "POST", "/v1/projects", { slug: "demo" })).status, 201);
});

Deno.test("muster doctor shows what grows, and warns before a quota is used up", async () => {
  await using program = await startProgram();
  await call(program, "POST", "/v1/projects", { slug: "demo" });
  await call(program, "POST", "/v1/projects", { slug: "gone" });
  await call(program, "DELETE", "/v1/projects/gone");
  const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}) =>
    runMuster(args, {
      folder: program.folder,
      environment: Object.assign({}, LOOPBACK, environment),
    });
  const { stdout } = await run(["doctor", "stored"]);
  for (
    const line of [
      /^kept: check_history: 0 rows, 90 days after the end \(retention\.check_history_days\)$/m,
      /^kept: projects: 1 row, 90 days after the end \(retention\.removed_project_days\)$/m,
      /^kept: projects\/removed: 1 file, \d+ bytes$/m,
      /^quota: limits\.project_bytes: at most \d+; the most is \d+ of "demo"$/m,
      /^quota: limits\.pushes_per_hour: at most 1200; /m,
    ]
  ) assert.match(stdout, line);
  const { rows, quotas } = JSON.parse((await run(["doctor", "stored", "--json"])).stdout);
  assert.equal(rows.length, 9);
  const { used } = quotas[0];
  const checked = await run(["doctor", "--quick"], {
    MUSTER_LIMITS_PROJECT_BYTES: String(Math.ceil(used * 1.05)),
  });
  assert.equal(checked.code, 1);
  assert.match(
    checked.stdout,
    /^warning: quotas: "demo" has stored \d+ bytes of \d+ \(limits\.project_bytes\); /m,
  );
});
