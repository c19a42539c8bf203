/** `muster doctor`, against defects that are planted in the data of the real program. */
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openSqlite } from "../../services/database/mod.ts";
import { newEvent } from "../../services/events/mod.ts";
import { openKeyFile } from "../../services/identity/mod.ts";
import { Journal } from "../../services/irc_server/history/journal.ts";
import { silentLog } from "../../services/log.ts";
import { call } from "../support/api.ts";
import { makeCertificate } from "../support/certificate.ts";
import { musterCommand, musterWords, runMuster, startProgram } from "../support/program.ts";
import { runOn, smallDisk } from "../support/small_disk.ts";
import { withFolder, writeFile } from "../support/temporary.ts";

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

const FREE = { MUSTER_API_ADDR: ":0", MUSTER_MCP_ADDR: ":0", MUSTER_IRC_LISTEN: ":0" };
const LOOPBACK = Object.fromEntries(
  Object.keys(FREE).map((key) => [key, "127.0.0.1:0"]),
);

/** Leaves a deletion in the journal of the history, as a kill would. */
function leaveInJournal(home: string): void {
  const path = join(home, "data", "history.db");
  using opened = new DatabaseSync(path);
  const { sequence } = opened.prepare("SELECT sequence FROM last_change").get() ?? {};
  const last = Number(sequence);
  const { journal } = Journal.open(path, last, silentLog);
  journal.add([{ kind: "redact", sequence: last + 1, id: "nothing" }]);
  journal.close();
}

/** A planted defect. */
interface Defect {
  readonly name: string;
  /** Plants it in a folder with the data of a stopped program. */
  plant(home: string): unknown;
  readonly finding: { readonly level: string; readonly check: string; readonly message: RegExp };
  /** Follows the advice; absent where that takes another machine, or another program. */
  cure?(home: string, fix: string): unknown;
  readonly environment?: Readonly<Record<string, string>>;
}

const database = (home: string, sql: string, file = "muster.db") => {
  using opened = new DatabaseSync(join(home, "data", file));
  opened.exec(sql);
};

/** Overwrites pages in the middle of a file. */
function damage(path: string): void {
  using file = Deno.openSync(path, { read: true, write: true });
  const { size } = file.statSync();
  file.seekSync(Math.floor(size / 2 / 4096) * 4096, Deno.SeekMode.Start);
  file.writeSync(new Uint8Array(3 * 4096).fill(0x5a));
}

/** The advice is a line for the shell, after its last colon. */
async function inShell(home: string, fix: string): Promise<void> {
  const line = fix.slice(fix.lastIndexOf(": ") + 1).trim();
  const { success } = await new Deno.Command("sh", { args: ["-c", line], cwd: home }).output();
  assert.ok(success, line);
}

const restoreAll = async (home: string) => {
  const backup = join(dirname(home), "backup.tar");
  const { code, stderr } = await runMuster(["restore", backup, "--replace"], { folder: home });
  assert.equal(code, 0, stderr);
};

const restoreFile = (name: string) => (home: string) =>
  Deno.copyFileSync(join(dirname(home), "healthy", "data", name), join(home, "data", name));

async function logEvent(
  home: string,
  event: Parameters<typeof newEvent<"program.started">>[1],
  time: number,
) {
  const folder = join(home, "data");
  const journalKey = await openKeyFile(join(folder, "event_key"));
  const opened = openSqlite(join(folder, "muster.db"), { journalKey });
  const origin = { actor: "system", actorId: null, address: null, cause: null };
  await opened.commit({ events: [newEvent("program.started", event, origin, time)] });
  await opened.close();
}

const DEFECTS: readonly Defect[] = [
  {
    name: "an unknown key in the configuration",
    plant: (home) => writeFile(home, "config.yaml", "irc:\n  listn: 127.0.0.1:6667\n"),
    finding: { level: "error", check: "configuration", message: /config\.yaml:2: irc\.listn/ },
    cure: (home) => Deno.remove(join(home, "config.yaml")),
  },
  {
    name: "a token that others can read",
    plant: (home) => Deno.chmod(join(home, "data", "api_token"), 0o644),
    finding: { level: "error", check: "permissions", message: /api_token" \(mode 644\)/ },
    cure: inShell,
  },
  {
    name: "a data folder that others can enter",
    plant: (home) => Deno.chmod(join(home, "data"), 0o755),
    finding: { level: "error", check: "permissions", message: /data" \(mode 755\)/ },
    cure: inShell,
  },
  {
    name: "a missing key",
    plant: (home) => Deno.remove(join(home, "data", "token_key")),
    finding: { level: "error", check: "keys", message: /token_key" is missing.*all tokens/ },
    cure: restoreFile("token_key"),
  },
  {
    name: "a key file with something else",
    plant: (home) => writeFile(home, "data/cloak_key", "oops"),
    finding: { level: "error", check: "keys", message: /cloak_key" holds no key/ },
    cure: restoreFile("cloak_key"),
  },
  {
    name: "a damaged database",
    plant: (home) => damage(join(home, "data", "muster.db")),
    finding: {
      level: "error",
      check: "database",
      message: /muster\.db" (?:is damaged|cannot be read)/,
    },
    cure: restoreAll,
  },
  {
    name: "a row that names another one that does not exist",
    plant: (home) =>
      database(
        home,
        "PRAGMA foreign_keys = OFF; INSERT INTO agent_channels VALUES ('x', 'a', 'a', 0)",
      ),
    finding: { level: "error", check: "database", message: /1 rows of .* in agent_channels/ },
    cure: restoreAll,
  },
  {
    name: "a database of a newer version",
    plant: (home) => database(home, "PRAGMA user_version = 999"),
    finding: { level: "error", check: "versions", message: /version 999 and comes from a newer/ },
  },
  {
    name: "a newer program that used the data",
    plant: (home) => logEvent(home, { version: "99.0.0" }, Date.now()),
    finding: { level: "warning", check: "versions", message: /muster 99\.0\.0 started last/ },
  },
  {
    name: "a changed event",
    plant: (home) =>
      database(home, "UPDATE events SET actor = 'nobody' WHERE type = 'project.created'"),
    finding: { level: "error", check: "events", message: /is not as it was written/ },
    cure: restoreAll,
  },
  {
    name: "a damaged history",
    plant: (home) => damage(join(home, "data", "history.db")),
    finding: { level: "error", check: "history", message: /history\.db" (?:is damaged|cannot be)/ },
    cure: restoreAll,
  },
  {
    name: "what a kill left in the history's journal",
    plant: leaveInJournal,
    finding: { level: "note", check: "history", message: /1 changes of the history are only/ },
  },
  {
    name: "a missing repository",
    plant: (home) => Deno.remove(join(home, "data", "projects", "demo.fossil")),
    finding: { level: "error", check: "repositories", message: /of the project "demo" is missing/ },
    cure: restoreFile("projects/demo.fossil"),
  },
  {
    name: "a damaged artifact",
    plant: (home) =>
      database(
        home,
        "UPDATE blob SET content = (SELECT content FROM blob WHERE rid = 1) WHERE rid = 3",
        "projects/demo.fossil",
      ),
    finding: { level: "error", check: "repositories", message: /"demo" has 1 damaged artifacts/ },
    cure: restoreFile("projects/demo.fossil"),
  },
  {
    name: "derived tables that lack a row",
    plant: (home) => database(home, "DELETE FROM event WHERE type = 'w'", "projects/demo.fossil"),
    finding: { level: "error", check: "repositories", message: /differ from a rebuild: event/ },
    cure: async (home, fix) => {
      const [, path = ""] = /muster fossil rebuild (\S+)$/.exec(fix) ?? [];
      const { code, stderr } = await runMuster(["fossil", "rebuild", path], { folder: home });
      assert.equal(code, 0, stderr);
    },
  },
  {
    name: "a repository without a project",
    plant: (home) => {
      const folder = join(home, "data", "projects");
      Deno.copyFileSync(join(folder, "demo.fossil"), join(folder, "stray.fossil"));
      Deno.mkdirSync(join(folder, "removed"), { recursive: true, mode: 0o700 });
    },
    finding: { level: "warning", check: "repositories", message: /stray\.fossil" belongs to no/ },
    cure: inShell,
  },
  {
    name: "a clock that is behind",
    plant: (home) => logEvent(home, { version: "0.0.1" }, Date.now() + 86_400_000),
    finding: { level: "error", check: "clock", message: /86\d{3} s behind the newest event/ },
  },
  {
    name: "what an export has left",
    plant: async (home) => {
      const path = join(home, "data", "projects", ".export-abc");
      await Deno.mkdir(path);
      await Deno.utime(path, 0, 0);
    },
    finding: { level: "warning", check: "leftovers", message: /\.export-abc" is left/ },
    cure: inShell,
  },
  {
    name: "a public address without a host",
    plant: () => {},
    environment: { MUSTER_IRC_PUBLIC_ADDRESS: "irc.invalid:6697" },
    finding: { level: "warning", check: "addresses", message: /irc\.invalid:6697" has no address/ },
  },
  {
    name: "passwords in the clear",
    plant: () => {},
    environment: FREE,
    finding: { level: "warning", check: "configuration", message: /api_addr: .*in the clear/ },
  },
];

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

/** Makes `healthy` with the data of a stopped program, and a backup of it. */
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
  ];
  for (const [method, path, body] of requests) {
    const response = await call(program, method, path, body);
    assert.ok(response.ok, `${path}: ${await response.text()}`);
  }
  assert.equal(await program.stop(), 0);
  const backup = join(folder, "backup.tar");
  const { code, stderr } = await runMuster(["backup", backup], { folder: home });
  assert.equal(code, 0, stderr);
  return home;
}

/** What files there are, when they were written, and how long they are. */
function stateOf(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    const { mtime, size } = Deno.statSync(path);
    return isDirectory ? stateOf(path) : [`${path} ${mtime?.getTime()} ${size}`];
  }).toSorted();
}

Deno.test("muster doctor finds each planted defect, and its advice helps", async () => {
  await withFolder(async (folder) => {
    const healthy = await makeHealthy(folder);
    const before = stateOf(healthy);
    assert.deepEqual(await examine(healthy), { healthy: true, findings: [] });
    assert.deepEqual(stateOf(healthy), before, "the doctor changed something");
    for (const [index, { name, plant, finding, cure, environment }] of DEFECTS.entries()) {
      const home = join(folder, `home${index}`);
      await new Deno.Command("cp", { args: ["-a", healthy, home] }).output();
      await plant(home);
      const { findings } = await examine(home, environment);
      const found = findings.find(({ level, check, message }) =>
        level === finding.level && check === finding.check && finding.message.test(message)
      );
      assert.ok(found !== undefined, `${name}: ${JSON.stringify(findings)}`);
      assert.notEqual(found.fix, "");
      if (cure === undefined) continue;
      await cure(home, found.fix);
      assert.deepEqual(await examine(home), { healthy: true, findings: [] }, name);
    }
  });
});

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
  });
});

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
  const { stdout, success } = await musterCommand(["doctor"], { cwd: folder }).output();
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
