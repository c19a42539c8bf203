import assert from "node:assert/strict";
import { join } from "node:path";
import { call, callAs, order, registerAgent } from "../support/api.ts";
import { run, succeed } from "../support/commands.ts";
import { peer } from "../support/peers.ts";
import { postgresOf, query } from "../support/postgres.ts";
import { runMuster, startProgram } from "../support/program.ts";
import { withFolder, writeFile } from "../support/temporary.ts";
import { asked } from "../support/until.ts";

const ELSEWHERE = "postgres://muster@127.0.0.1:1/muster";

function configOf(url: string): string {
  return `database: { url: "${url}" }\n`;
}

/** Ends every connection to a database, as a restart of PostgreSQL does. */
async function endConnections(url: string): Promise<void> {
  await query(
    url,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid()`,
  );
}

Deno.test(
  "a muster on PostgreSQL keeps what it acknowledged over a kill and lost connections",
  peer("postgres server"),
  () =>
    withFolder(async (folder) => {
      const url = await postgresOf(folder);
      await using killed = await startProgram({ folder, config: configOf(url) });
      const scout = await registerAgent(killed, "scout", { channels: ["general"] });
      await order(killed, "POST /v1/projects", { slug: "demo" });
      await order(killed, "PUT /v1/projects/demo/members/scout", { role: "write" });
      await killed.stop("SIGKILL");

      await using program = await startProgram({ folder });
      const file = (title: string) =>
        callAs(program, scout, "POST", "/projects/demo/fossil/api/tickets", { title });
      const first = await file("First");
      assert.equal(first.status, 201, await first.text());
      await endConnections(url);
      await asked(
        () => call(program, "GET", "/readyz").then(statusOf),
        (status) => status === 200,
      );
      // It may notice an ended connection only when it uses it.
      await asked(() => file("Second").then(statusOf), (status) => status === 201);

      assert.match(await succeed(program, "doctor", "log"), /^events {2}\d+$/m);
      const doctor = await run(program, "doctor", "--json");
      const { findings } = JSON.parse(doctor.stdout) as { findings: { check: string }[] };
      const checks = ["database", "events", "versions", "unfinished"];
      assert.deepEqual(findings.filter(({ check }) => checks.includes(check)), []);
      const { code, stderr } = await run(program, "upgrade", "--check");
      assert.equal(code, 1);
      assert.match(stderr, /in PostgreSQL .*\(database\.url\)/);
    }),
);

Deno.test(
  "a backup has the data folder of a server whose database is in PostgreSQL",
  peer("postgres server"),
  () =>
    withFolder(async (folder) => {
      const url = await postgresOf(folder);
      const config = configOf(url);
      const backup = join(folder, "backup.tar");
      const restore = () => runMuster(["restore", backup, "--replace"], { folder });
      {
        await using program = await startProgram({ folder, config });
        await order(program, "POST /v1/projects", { slug: "demo" });
        const path = "/projects/demo/fossil/api/wiki/Home";
        await order(program, `PUT ${path}`, { content: "Welcome" });
        await order(program, "POST /v1/channels/general/messages", { text: "hello" });
        const { code, stderr, stdout } = await run(program, "backup", backup);
        assert.equal(code, 0, stderr);
        assert.match(stderr, /^note: the app database is in PostgreSQL, .* run pg_dump before/m);
        assert.match(stdout, /backup\.tar$/m);
        assert.equal(await program.stop(), 0);
      }
      await writeFile(folder, "config.yaml", "");
      const refused = await restore();
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /was in PostgreSQL, and is not in it: set database\.url/);

      await writeFile(folder, "config.yaml", config);
      await Deno.remove(join(folder, "data"), { recursive: true });
      const restored = await restore();
      assert.equal(restored.code, 0, restored.stderr);
      assert.match(restored.stderr, /^note: .* let pg_restore put back the dump/m);
      await using program = await startProgram({ folder });
      const page = await order(program, "GET /projects/demo/fossil/api/wiki/Home");
      assert.match(JSON.stringify(page), /Welcome/);
      const messages = await order(program, "GET /v1/channels/general/messages");
      assert.match(JSON.stringify(messages), /hello/);
      assert.equal(await program.stop(), 0);
      // Without a server, too.
      const still = await run(program, "backup", join(folder, "second.tar"));
      assert.equal(still.code, 0, still.stderr);
    }),
);

Deno.test(
  "a backup with its database is not restored where database.url names another",
  peer("postgres server"),
  () =>
    withFolder(async (folder) => {
      const backup = join(folder, "backup.tar");
      {
        await using program = await startProgram({ folder });
        assert.equal((await run(program, "backup", backup)).code, 0);
        assert.equal(await program.stop(), 0);
      }
      await writeFile(folder, "config.yaml", configOf(await postgresOf(folder)));
      const { code, stderr } = await runMuster(["restore", backup, "--replace"], { folder });
      assert.equal(code, 1);
      assert.match(stderr, /holds its app database, "muster\.db", and database\.url names one/);
    }),
);

Deno.test(
  "a data folder and its database in PostgreSQL are not used with others",
  peer("postgres server"),
  () =>
    withFolder(async (home) => {
      const [one, other] = [join(home, "one"), join(home, "other")];
      const [urlOfOne, urlOfOther] = [await postgresOf(one), await postgresOf(other)];
      const refusal = async (folder: string, config: string) => {
        await writeFile(folder, "config.yaml", config);
        const { code, stderr } = await runMuster(["serve"], {
          folder,
          environment: {
            MUSTER_API_ADDR: "127.0.0.1:0",
            MUSTER_MCP_ADDR: "127.0.0.1:0",
            MUSTER_IRC_LISTEN: "127.0.0.1:0",
          },
        });
        assert.notEqual(code, 0);
        return stderr;
      };
      {
        await using program = await startProgram({ folder: one, config: configOf(urlOfOne) });
        assert.equal(await program.stop(), 0);
      }
      assert.match(await refusal(one, ""), /are in PostgreSQL: set database\.url/);
      assert.match(await refusal(one, configOf(urlOfOther)), /belongs to another database/);
      assert.match(await refusal(one, configOf(ELSEWHERE)), /cannot be opened: /);

      await Deno.mkdir(join(other, "data"));
      await Deno.writeTextFile(join(other, "data", "muster.db"), "");
      assert.match(
        await refusal(other, configOf(urlOfOther)),
        /copy it to PostgreSQL with muster migrate/,
      );
    }),
);

Deno.test(
  "muster migrate moves a server's data to PostgreSQL and back, and nothing while it runs",
  peer("postgres server"),
  () =>
    withFolder(async (folder) => {
      const url = await postgresOf(folder);
      const migrate = async (...args: string[]) => {
        const { code, stdout, stderr } = await runMuster(["migrate", ...args], { folder });
        return `${code} ${stdout}${stderr}`;
      };
      const lineOf = (text: string) => new RegExp(`^0 .*${text}`, "s");
      const [there, back] = [["--from", "sqlite", "--to"], ["--to", "sqlite", "--from"]];
      let scout;
      {
        await using program = await startProgram({ folder, config: "" });
        scout = await registerAgent(program, "scout", { channels: ["general"] });
        await order(program, "POST /v1/projects", { slug: "demo" });
        await order(program, "PUT /v1/projects/demo/members/scout", { role: "write" });
        assert.match(await migrate(...there, url), /^1 .*in use/);
        assert.equal(await program.stop(), 0);
      }
      assert.match(await migrate("--to", url), /^2 .*--from sqlite and --to postgres/);
      assert.match(
        await migrate(...there, "mysql://x/y"),
        /^2 .*must be sqlite, postgres or a URL/,
      );
      assert.match(await migrate(...there, "postgres"), /^2 .*Set database\.url/);
      assert.match(await migrate(...back, url), /^1 .*is not in PostgreSQL/);
      assert.match(await migrate(...there, ELSEWHERE), /^1 .*cannot be opened/);
      assert.match(await migrate(...there, url), lineOf("event log is intact.*Set database\\.url"));
      assert.match(await migrate(...there, url), /^1 .*is in PostgreSQL already/);
      {
        await using program = await startProgram({ folder, config: configOf(url) });
        const filed = await callAs(program, scout, "POST", "/projects/demo/fossil/api/tickets", {
          title: "First",
        });
        assert.equal(filed.status, 201, await filed.text());
        assert.equal(await program.stop(), 0);
      }
      assert.match(await migrate(...back, "postgres"), lineOf('Set database\\.url to ""'));
      await using program = await startProgram({ folder, config: "" });
      const tickets = await callAs(program, scout, "GET", "/projects/demo/fossil/api/tickets");
      assert.match(await tickets.text(), /"title":"First"/);
      assert.match(await succeed(program, "doctor", "log"), /^events {2}\d+$/m);
      assert.match(await succeed(program, "log", "--lines", "1000"), /project\.ticket/);
    }),
);

async function statusOf(response: Response): Promise<number> {
  await response.body?.cancel();
  return response.status;
}
