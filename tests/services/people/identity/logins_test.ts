import assert from "node:assert/strict";
import { TooMany, Unauthorized } from "../../../../services/kernel/errors.ts";
import {
  anAgent,
  BY_OPERATOR,
  type TestServices,
  withServices,
} from "../../../support/services.ts";

const MINUTE = 60_000;
const HERE = "192.0.2.1";
const ELSEWHERE = "198.51.100.7";

/** Presents a nick and a passphrase over HTTP Basic; says how it went. */
async function basic({ identity }: TestServices, name: string, password: string, address = HERE) {
  try {
    const { kind, scopes } = await identity.authenticate(
      { kind: "basic", name, password },
      address,
    );
    return `${kind} ${[...scopes].sort().join(" ")}`;
  } catch (error) {
    assert.ok(error instanceof Error);
    return error.name;
  }
}

async function failTimes(count: number, attempt: () => Promise<string>): Promise<void> {
  for (let times = 0; times < count; times++) assert.equal(await attempt(), "Unauthorized");
}

Deno.test("an agent's nick and passphrase stand for the agent, under any case", async () => {
  await withServices(async (services) => {
    const passphrase = await anAgent(services, "Coder");
    for (const name of ["Coder", "coder", "CODER"]) {
      assert.equal(await basic(services, name, passphrase), "agent read write");
    }
    await services.ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    for (
      const [name, password] of [
        ["Coder", passphrase.toUpperCase()],
        ["Coder", ""],
        ["nobody", passphrase],
        ["ann", "correct horse"],
        ["", ""],
        ["x".repeat(100_000), "y".repeat(100_000)],
      ] as const
    ) {
      assert.equal(await basic(services, name, password), "Unauthorized");
    }
  });
});

Deno.test("ten wrong passwords lock out only their address and account", async () => {
  await withServices(async (services) => {
    const passphrase = await anAgent(services, "coder");
    const other = await anAgent(services, "other");
    await failTimes(9, () => basic(services, "Coder", "wrong"));
    assert.equal(await basic(services, "coder", passphrase), "agent read write");
    await failTimes(1, () => basic(services, "coder", "wrong"));
    assert.equal(await basic(services, "CODER", passphrase), "TooMany");
    assert.equal(await basic(services, "coder", passphrase, ELSEWHERE), "agent read write");
    assert.equal(await basic(services, "other", other), "agent read write");

    services.clock.advance(14 * MINUTE);
    await assert.rejects(
      services.identity.authenticate({ kind: "basic", name: "coder", password: passphrase }, HERE),
      (error) => error instanceof TooMany && error.retryAfterSeconds === 60,
    );
    services.clock.advance(MINUTE);
    assert.equal(await basic(services, "coder", passphrase), "agent read write");
  });
});

Deno.test("wrong passwords over IRC and HTTP count together", async () => {
  await withServices(async (services) => {
    const passphrase = await anAgent(services, "coder");
    await failTimes(5, () => basic(services, "coder", "wrong"));
    for (let times = 0; times < 5; times++) {
      const refused = await services.authority.verify("coder", "wrong", HERE);
      assert.deepEqual(refused, { kind: "refused" });
    }
    const throttled = { kind: "throttled", retryAfterSeconds: 15 * 60 };
    assert.deepEqual(await services.authority.verify("coder", passphrase, HERE), throttled);
    assert.deepEqual(await services.authority.verifyOperator("coder", "x", HERE), throttled);
    assert.equal(await basic(services, "coder", passphrase), "TooMany");
  });
});

Deno.test("an IPv6 address counts with its /64, an IPv4 address written as IPv6 as itself", async () => {
  const same = [
    ["2001:db8:1:2::1", "2001:0DB8:1:2:ffff::9%eth0"],
    ["2001:db8::1", "2001:db8:0:0:5:6:7:8"],
    ["::1:2:3:4", "0:0:0:0:9:9:9:9"],
    ["192.0.2.9", "::ffff:192.0.2.9"],
  ] as const;
  const different = [
    ["2001:db8:1:2::1", "2001:db8:1:3::1"],
    ["192.0.2.9", "192.0.2.10"],
    ["::ffff:192.0.2.9", "::ffff:192.0.2.10"],
  ] as const;
  const pairs = [
    ...same.map((pair) => [...pair, "TooMany"] as const),
    ...different.map((pair) => [...pair, "agent read write"] as const),
  ];
  await withServices(async (services) => {
    for (const [index, [one, other, expected]] of pairs.entries()) {
      const name = `coder-${index}`;
      const passphrase = await anAgent(services, name);
      await failTimes(10, () => basic(services, name, "", one));
      assert.equal(await basic(services, name, passphrase, other), expected, `${one} ${other}`);
    }
  });
});

Deno.test("one address cannot try people's passwords without end; passphrases still pass", async () => {
  await withServices(async (services) => {
    const { authority, ircAccounts } = services;
    const passphrase = await anAgent(services, "coder");
    await ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    for (let account = 0; account < 20; account++) {
      await failTimes(5, () => basic(services, `guess-${account}`, ""));
    }
    const kindOf = async (address: string) =>
      (await authority.verify("ann", "correct horse", address)).kind;
    assert.equal(await kindOf(HERE), "throttled");
    assert.equal(await kindOf(ELSEWHERE), "accepted");
    assert.equal(await basic(services, "coder", passphrase), "agent read write");
  });
});

Deno.test("concurrent guesses gain nothing over single ones", async () => {
  await withServices(async (services) => {
    await services.ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    const guesses = Array.from({ length: 30 }, (_, guess) => `guess ${guess}`);
    const outcomes = await Promise.all(
      guesses.map((guess) => services.authority.verify("ann", guess, HERE)),
    );
    const refused = outcomes.filter(({ kind }) => kind === "refused").length;
    assert.equal(refused, 10);
    assert.equal(outcomes.filter(({ kind }) => kind === "unavailable").length, 20);
    assert.equal((await services.authority.verify("ann", "correct horse", HERE)).kind, "throttled");
  });
});

Deno.test("a password that was right when its account vanished opens nothing", async () => {
  await withServices(async ({ authority, ircAccounts, passwords }) => {
    await ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    const vanished = Promise.withResolvers<void>();
    const verify = passwords.verify.bind(passwords);
    let wasRight = false;
    passwords.verify = async (...attempt) => {
      wasRight = await verify(...attempt);
      await vanished.promise;
      return wasRight;
    };
    const verification = authority.verify("ann", "correct horse", HERE);
    await ircAccounts.delete("ann", BY_OPERATOR);
    vanished.resolve();
    assert.deepEqual(await verification, { kind: "refused" });
    assert.equal(wasRight, true);
  });
});

Deno.test("a refusal does not say whether the name exists", async () => {
  await withServices(async (services) => {
    await anAgent(services, "coder");
    const messages = new Set<string>();
    for (const name of ["coder", "nobody"]) {
      const attempt = services.identity.authenticate({ kind: "basic", name, password: "x" }, HERE);
      await attempt.catch((error) => {
        assert.ok(error instanceof Unauthorized);
        messages.add(error.message);
      });
    }
    assert.equal(messages.size, 1);
  });
});
