/** The program with its accounts on an Ergo network that fails at chosen moments. */
import assert from "node:assert/strict";
import { call, registerAgent } from "../support/api.ts";
import { FakeErgo } from "../support/fake_ergo.ts";
import { FakeErgoIrc } from "../support/fake_ergo_irc.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";

/** What the program says when it has compared both sides and mended what differed. */
const SETTLED = /accounts of the IRC network can be reached/;

async function start(
  folder: string,
  ergo: FakeErgo,
  irc: FakeErgoIrc,
  until = SETTLED,
  operPassword = irc.operator.password,
): Promise<Program> {
  const tokenFile = `${folder}/ergo_token`;
  await Deno.writeTextFile(tokenFile, `${ergo.token}\n`);
  const program = await startProgram({
    folder,
    environment: {
      MUSTER_IRC_MODE: "external",
      MUSTER_IRC_ADDR: irc.address,
      MUSTER_IRC_ERGO_API_ADDR: `http://${ergo.address}`,
      MUSTER_IRC_ERGO_API_TOKEN_FILE: tokenFile,
      MUSTER_IRC_SERVICES_OPER: irc.operator.name,
      MUSTER_IRC_SERVICES_OPER_PASSWORD: operPassword,
      MUSTER_BRIDGE_ENABLED: "false",
      MUSTER_LOG_LEVEL: "debug",
    },
  });
  await program.inLog(until);
  return program;
}

async function register(program: Program, nick: string): Promise<string> {
  return (await registerAgent(program, nick)).passphrase;
}

/** Whether both sides take a passphrase: the network, and the program over HTTP. */
async function takes(program: Program, ergo: FakeErgo, nick: string, passphrase: string) {
  const response = await fetch(`${program.api}/v1/status`, {
    headers: { authorization: `Basic ${btoa(`${nick}:${passphrase}`)}` },
  });
  await response.body?.cancel();
  return [ergo.takes(nick, passphrase), response.status === 200];
}

Deno.test("a program killed between the network's change and its own starts with both sides equal", async () => {
  await using ergo = new FakeErgo();
  await using irc = new FakeErgoIrc(ergo);
  await withFolder(async (folder) => {
    const secrets = [ergo.token, irc.operator.password];
    const logs: string[] = [];
    {
      await using program = await start(folder, ergo, irc);
      secrets.push(await register(program, "rotated"), await register(program, "revoked"));
      const kept = await register(program, "kept");
      const moments = [
        ergo.failNext("/v1/ns/saregister", "stuck"),
        ergo.failNext("/v1/ns/passwd", "stuck"),
        ergo.failNext("NickServ SUSPEND ADD", "stuck"),
      ];
      const changes = [
        call(program, "POST", "/v1/agents/register", { nick: "made" }),
        call(program, "POST", "/v1/agents/rotated/rotate"),
        call(program, "POST", "/v1/agents/revoked/revoke"),
      ];
      const ended = Promise.allSettled(changes);
      await Promise.all(moments);
      await program.stop("SIGKILL");
      await ended;
      assert.ok(ergo.get("made") !== undefined && ergo.get("revoked")?.suspended);
      assert.ok(ergo.takes("kept", kept));
      logs.push(...program.log);
    }
    {
      await using program = await start(folder, ergo, irc);
      assert.equal(ergo.get("made"), undefined);
      const [, , rotated = "", revoked = ""] = secrets;
      assert.deepEqual(await takes(program, ergo, "rotated", rotated), [true, true]);
      assert.deepEqual(await takes(program, ergo, "revoked", revoked), [true, true]);
      await register(program, "made");

      const erased = ergo.failNext("NickServ ERASE rotated c0de", "stuck");
      const deletion = call(program, "DELETE", "/v1/agents/rotated").catch(() => null);
      await erased;
      await program.stop("SIGKILL");
      await deletion;
      assert.equal(ergo.get("rotated"), undefined);
      logs.push(...program.log);
    }
    await using program = await start(folder, ergo, irc);
    const [, , rotated = ""] = secrets;
    assert.deepEqual(await takes(program, ergo, "rotated", rotated), [true, true]);
    const readiness = await call(program, "GET", "/readyz");
    assert.deepEqual(await readiness.json(), { status: "ok", halted: false });
    assert.equal(await program.stop(), 0);
    const told = [...logs, ...program.log].join("\n") +
      new TextDecoder("latin1").decode(await Deno.readFile(`${folder}/data/muster.db`));
    for (const secret of secrets) assert.equal(told.includes(secret), false);
  });
});

/** What `/readyz` says, and what a registration is answered with. */
async function refusals(program: Program): Promise<string[]> {
  const answers = [
    await call(program, "GET", "/readyz"),
    await call(program, "POST", "/v1/agents/register", { nick: "late" }),
  ];
  assert.deepEqual(answers.map(({ status }) => status), [503, 503]);
  return await Promise.all(answers.map(async (answer) => (await answer.json()).error));
}

Deno.test("an operator without rights, or with a wrong password, stops registrations, and /readyz says why", async () => {
  await using ergo = new FakeErgo();
  await using irc = new FakeErgoIrc(ergo);
  ergo.capabilities.delete("ban");
  await withFolder(async (folder) => {
    await using program = await start(folder, ergo, irc, /cannot be reached.*ban/);
    assert.ok(program.log.some((line) => /lacks rights on the IRC network.*ban/.test(line)));
    for (const reason of await refusals(program)) assert.match(reason, /lacks rights.*: ban/);
  });
  ergo.capabilities.add("ban");
  await withFolder(async (folder) => {
    await using program = await start(folder, ergo, irc, /cannot be reached.*OPER/, "wrong");
    const [readiness, registration] = await refusals(program);
    assert.match(readiness ?? "", /network \(The network refused OPER for "muster"\)/);
    assert.match(registration ?? "", /OPER|a moment ago/);
  });
  assert.equal(ergo.get("late"), undefined);
});

Deno.test("a second muster answers 409 when it is asked to register or adopt an agent of the first", async () => {
  await using ergo = new FakeErgo();
  await using irc = new FakeErgoIrc(ergo);
  await withFolder(async (folder) => {
    await using first = await start(folder, ergo, irc);
    const passphrase = await register(first, "coder");
    await withFolder(async (other) => {
      await using second = await start(other, ergo, irc);
      const refusals = [
        await call(second, "POST", "/v1/agents/register", { nick: "Coder" }),
        await call(second, "POST", "/v1/agents/coder/adopt", {}),
      ];
      for (const refusal of refusals) {
        assert.equal(refusal.status, 409);
        assert.match((await refusal.json()).error, /"coder".* belongs to another muster/i);
      }
      assert.deepEqual(await (await call(second, "GET", "/v1/agents")).json(), []);
      assert.equal(await second.stop(), 0);
    });
    assert.deepEqual(await takes(first, ergo, "coder", passphrase), [true, true]);
    await register(first, "writer");
  });
});
