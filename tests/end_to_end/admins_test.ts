import assert from "node:assert/strict";
import { call, ChannelStream } from "../support/api.ts";
import { peer } from "../support/peers.ts";
import {
  type Finished,
  musterWords,
  type Program,
  runMuster,
  startProgram,
} from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { Terminal } from "../support/terminal.ts";
import { WAIT_LIMIT } from "../support/until.ts";

const PASSWORD = "correct horse";

/** Runs a command against a started program, in its folder, as a person would. */
function run(program: Program, args: readonly string[], stdin?: string): Promise<Finished> {
  return runMuster(args, {
    folder: program.folder,
    environment: { MUSTER_URL: program.api },
    ...(stdin === undefined ? {} : { stdin }),
  });
}

async function succeed(program: Program, args: readonly string[], stdin?: string): Promise<string> {
  const { code, stdout, stderr } = await run(program, args, stdin);
  assert.equal(code, 0, stderr);
  return stdout;
}

function logIn(api: string, password: string, username = "admin"): Promise<Response> {
  return fetch(`${api}/login`, { method: "POST", body: JSON.stringify({ username, password }) });
}

/**
 * Opens a stream with a token of scout that lasts so many milliseconds, or else twice as long: on a
 * busy machine, the token may have expired before the stream is open.
 */
async function streamUntilExpiry(
  program: Program,
  milliseconds: number,
): Promise<{ stream: ChannelStream; expiresAt: number }> {
  const expiresAt = Date.now() + milliseconds;
  const expires_at = new Date(expiresAt).toISOString();
  const request = { owner: "scout", name: `${milliseconds}`, scopes: ["read"], expires_at };
  const { token } = await (await call(program, "POST", "/v1/tokens", request)).json();
  try {
    const stream = await ChannelStream.open({ api: program.api, token }, "general");
    return { stream, expiresAt };
  } catch (error) {
    if (Date.now() < expiresAt || milliseconds > WAIT_LIMIT) throw error;
    return await streamUntilExpiry(program, 2 * milliseconds);
  }
}

/** The status of an answer whose body nobody reads. */
async function statusOf(answer: Promise<Response>): Promise<number> {
  const response = await answer;
  await response.body?.cancel();
  return response.status;
}

Deno.test("without a terminal no password is shown, and muster admin passwd sets one", async () => {
  await withFolder(async (folder) => {
    const first = await startProgram({ folder });
    assert.equal(
      await succeed(first, ["admin", "passwd", "admin", "--password-stdin"], PASSWORD),
      "",
    );
    const response = await logIn(first.api, PASSWORD);
    assert.deepEqual(await response.json(), { username: "admin" });
    const cookie = response.headers.getSetCookie().map((line) => line.split(";")[0]).join("; ");
    const session = () => ({ headers: { cookie } });
    assert.equal(await statusOf(fetch(`${first.api}/session`, session())), 200);
    await first.stop();
    assert.ok(!first.log.some((line) => /[0-9a-f]{40}/.test(line)), "no secret is logged");

    await using second = await startProgram({ folder });
    assert.equal(await statusOf(fetch(`${second.api}/session`, session())), 200);
    assert.equal(await statusOf(fetch(`${second.api}/v1/status`, session())), 401);
    await succeed(second, ["admin", "passwd", "admin", "--password-stdin"], "another horse");
    assert.equal(await statusOf(fetch(`${second.api}/session`, session())), 401);
  });
});

Deno.test({
  name: "on a terminal the first start shows the admin's password, once, and passwd asks for one",
  ignore: peer("tmux").ignore,
  fn: async () => {
    await withFolder(async (folder) => {
      const ports = ["API_ADDR", "MCP_ADDR", "IRC_LISTEN"].map((key) =>
        `MUSTER_${key}=127.0.0.1:0`
      );
      const muster = musterWords().map((word) => `'${word}'`).join(" ");
      const serve = `cd '${folder}' && NO_COLOR=1 ${ports.join(" ")} ${muster}`;
      let shown = "";
      await onTerminal(serve, async (terminal) => {
        await terminal.expect("Try next");
        const screen = await terminal.screen();
        const [password = "", ...more] = screen.match(/\b[0-9a-f]{64}\b/g) ?? [];
        assert.deepEqual(more, []);
        assert.equal(await statusOf(logIn(apiOn(screen), password)), 200);
        shown = password;
      });
      await onTerminal(serve, async (terminal) => {
        await terminal.expect("Try next");
        const screen = await terminal.screen();
        assert.doesNotMatch(screen, /[0-9a-f]{64}/);
        const api = apiOn(screen);
        assert.equal(await statusOf(logIn(api, shown)), 200);

        const passwd = `cd '${folder}' && MUSTER_URL=${api} ${muster} admin passwd admin`;
        await onTerminal(passwd, async (asking) => {
          await asking.expect("Password (empty for a random one):");
          await asking.type(PASSWORD);
          await asking.expect("Repeat the password:");
          await asking.type(PASSWORD);
          await asking.expect("ended with 0");
          assert.ok(!(await asking.screen()).includes(PASSWORD));
        });
        assert.equal(await statusOf(logIn(api, PASSWORD)), 200);
      });
    });
  },
});

Deno.test("admins are made, listed and removed from the command line", async () => {
  await using program = await startProgram();
  const created = await succeed(program, ["admin", "create", "ann"]);
  const password = /^password +(\S+)\n$/.exec(created)?.[1];
  assert.ok(password);
  assert.equal(await statusOf(logIn(program.api, password, "ann")), 200);
  await succeed(program, ["admin", "create", "bob", "--password-stdin"], `${PASSWORD}\n`);
  const list = await succeed(program, ["admin", "list"]);
  assert.match(list, /^USERNAME +CREATED\nadmin .*\nann .*\nbob .*\n$/);
  await succeed(program, ["admin", "delete", "admin"]);
  await succeed(program, ["admin", "delete", "ann"]);
  const last = await run(program, ["admin", "delete", "bob"]);
  assert.deepEqual([last.code, last.stdout], [1, ""]);
  assert.equal(
    last.stderr,
    `"bob" is the last admin and cannot be removed (from ${program.api})\n`,
  );
  const short = await run(program, ["admin", "passwd", "bob", "--password-stdin"], "short\n");
  assert.deepEqual([short.code, short.stderr], [
    1,
    `"password" must have at least 8 characters (from ${program.api})\n`,
  ]);
});

Deno.test("tokens are made, listed, revoked and rotated from the command line", async () => {
  await using program = await startProgram();
  await succeed(program, ["agent", "register", "scout"]);
  const args = ["token", "create", "scout", "--name", "laptop", "--scopes", "read,write"];
  const { id, token } = JSON.parse(await succeed(program, [...args, "--days", "30", "--json"]));
  const byToken = { api: program.api, token };
  assert.equal(await statusOf(call(byToken, "GET", "/v1/status")), 200);
  assert.match(await succeed(program, ["token", "list"]), new RegExp(`^${id} +scout +laptop`, "m"));
  await succeed(program, ["token", "revoke", id]);
  assert.equal(await statusOf(call(byToken, "GET", "/v1/status")), 401);

  await using stream = await ChannelStream.open(program, "general");
  const rotated = (await succeed(program, ["token", "rotate"])).trim();
  assert.equal(await stream.next(), null);
  assert.equal(await statusOf(call(program, "GET", "/v1/status")), 401);
  assert.equal(await statusOf(call({ ...program, token: rotated }, "GET", "/v1/status")), 200);
  assert.deepEqual(JSON.parse(await succeed(program, ["token", "list", "--json"])), []);
});

Deno.test("an event stream ends when its token expires", async () => {
  await using program = await startProgram();
  await succeed(program, ["agent", "register", "scout"]);
  const { stream, expiresAt } = await streamUntilExpiry(program, 4000);
  await using _ = stream;
  assert.equal(await stream.next(), null);
  assert.ok(Date.now() >= expiresAt);
});

Deno.test("behind TLS of muster or of a trusted proxy, cookies are sent only over TLS", async () => {
  const environment = { MUSTER_TRUSTED_PROXIES: "[127.0.0.1]" };
  await using program = await startProgram({ environment });
  await succeed(program, ["admin", "passwd", "admin", "--password-stdin"], PASSWORD);
  for (const [scheme, secure] of [["https", true], ["http", false]] as const) {
    const response = await fetch(`${program.api}/login`, {
      method: "POST",
      headers: { "x-forwarded-proto": scheme, "x-forwarded-for": "192.0.2.1" },
      body: JSON.stringify({ username: "admin", password: PASSWORD }),
    });
    await response.body?.cancel();
    const cookies = response.headers.getSetCookie();
    assert.deepEqual(cookies.map((line) => /; Secure/.test(line)), [secure, secure]);
  }
});

Deno.test("wrong logins behind a proxy that writes ip:port are limited, and nonsense is not logged", async () => {
  const environment = { MUSTER_TRUSTED_PROXIES: "[127.0.0.1]" };
  await using program = await startProgram({ environment });
  const attempt = (forwarded: string) =>
    statusOf(fetch(`${program.api}/login`, {
      method: "POST",
      headers: { "x-forwarded-for": forwarded },
      body: JSON.stringify({ username: "admin", password: "wrong horse" }),
    }));
  const hops = Array.from({ length: 15 }, (_, number) => `203.0.113.9:${40_000 + number}`);
  const statuses = [];
  for (const hop of hops) statuses.push(await attempt(hop));
  assert.deepEqual(statuses, [...Array(10).fill(401), ...Array(5).fill(429)]);

  assert.equal(await attempt("198.51.100.7:1"), 401, "another address has its own attempts");
  const logged = program.logged(/"address":"127\.0\.0\.1"/);
  assert.equal(await attempt("203.0.113.9, smuggled-text"), 401);
  await logged;
  const log = program.log.join("\n");
  assert.match(log, /"address":"203\.0\.113\.9"/);
  assert.doesNotMatch(log, /smuggled-text|203\.0\.113\.9:4/);
});

Deno.test("with admins switched off, their endpoints and commands say so with 404", async () => {
  await using program = await startProgram({ environment: { MUSTER_ADMINS_ENABLED: "false" } });
  const answers = [
    call(program, "GET", "/v1/admins"),
    call(program, "PUT", "/v1/admins/admin/password", { password: PASSWORD }),
    logIn(program.api, PASSWORD),
    fetch(`${program.api}/logout`, { method: "POST" }),
    fetch(`${program.api}/session`),
  ];
  for (const response of await Promise.all(answers)) {
    assert.equal(response.status, 404);
    assert.match((await response.json()).error, /admins\.enabled is false/);
  }
});

/** Where the API is, as the welcome on a terminal tells. */
function apiOn(screen: string): string {
  return /API +(http:\S+)/.exec(screen)?.[1] ?? "";
}

/** Runs a command on a terminal, and interrupts it at the end where it still runs. */
async function onTerminal(
  command: string,
  use: (terminal: Terminal) => Promise<void>,
): Promise<void> {
  await withFolder(async (folder) => {
    const script = `trap : INT; (${command}); echo "ended with $?"; exec cat`;
    await using terminal = await Terminal.open(folder, script);
    try {
      await use(terminal);
    } finally {
      if (!(await terminal.screen()).includes("ended with")) await terminal.interrupt();
      await terminal.expect("ended with 0");
    }
  });
}
