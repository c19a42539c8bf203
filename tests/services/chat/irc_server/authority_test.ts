import assert from "node:assert/strict";
import { Passwords } from "../../../../services/people/identity/mod.ts";
import {
  anAgent,
  BY_OPERATOR,
  openServices,
  type TestServices,
  withServices,
} from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";

const ADDRESS = "192.0.2.1";

Deno.test("a channel is muster's as long as the configuration or an agent's registration names it", async () => {
  await withServices(async (services) => {
    await anAgent(services, "scout", { channels: ["#Dev"] });
    await anAgent(services, "other", { channels: ["#dev"] });
    assert.ok(services.authority.ownsChannel("#General"));
    assert.ok(services.authority.ownsChannel("#dev"));
    assert.ok(!services.authority.ownsChannel("#other"));
    await services.agents.revoke("scout", BY_OPERATOR);
    assert.ok(services.authority.ownsChannel("#dev"));
    await services.agents.revoke("other", BY_OPERATOR);
    assert.ok(!services.authority.ownsChannel("#dev"));
  });
});

Deno.test("channelStatus() follows the agent's type everywhere", async () => {
  const table = [
    ["operator", "operator"],
    ["orchestrator", "operator"],
    ["worker", "voice"],
    ["observer", "none"],
  ] as const;
  await withServices(async (services) => {
    for (const [type, expected] of table) {
      await anAgent(services, type.toUpperCase() + "-1", { type, channels: ["#Dev"] });
      const status = (channel: string) => services.authority.channelStatus(`${type}-1`, channel);
      assert.deepEqual([status("#dev"), status("#DEV"), status("#ops")], [
        expected,
        expected,
        expected,
      ]);
    }
    await services.ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    assert.equal(services.authority.channelStatus("ann", "#dev"), null);
    assert.equal(services.authority.channelStatus("nobody", "#dev"), null);
  });
});

Deno.test("ownerOf() names a nick's owner, and keeps reserved nicks from everybody", async () => {
  await withServices(async (services) => {
    const { authority } = services;
    await anAgent(services, "Coder");
    assert.equal(authority.ownerOf("CODER"), "Coder");
    assert.equal(authority.ownerOf("anybody"), null);
    for (const nick of ["bridge", "NICKSERV", "oracle", "Everyone", "here"]) {
      const owner = authority.ownerOf(nick);
      assert.ok(owner !== null && !/^[A-Za-z[\]\\`_^{|}]/.test(owner));
    }
  });
});

Deno.test("verifyOperator() checks the operators of the configuration", async () => {
  const passwords = new Passwords();
  const operators = [{ name: "Root", password_hash: await passwords.hash("let me operate") }];
  passwords.close();
  await withServices(async ({ authority }) => {
    const attempts = [
      ["root", "let me operate", { kind: "accepted", account: "Root" }],
      ["root", "let me in", { kind: "refused" }],
      ["ann", "let me operate", { kind: "refused" }],
      ["admin", "let me operate", { kind: "refused" }],
    ] as const;
    for (const [name, password, expected] of attempts) {
      assert.deepEqual(await authority.verifyOperator(name, password, ADDRESS), expected);
    }
  }, { config: { irc: { operators } } });
});

Deno.test("an admin logs in to IRC and becomes an operator with the same password", async () => {
  await withFolder(async (folder) => {
    const services = await openServices(folder);
    await services.admins.create({ username: "Ann", password: "correct horse" }, BY_OPERATOR);
    const coder = await anAgent(services, "coder");
    const outcomes = async ({ authority }: TestServices) => [
      await authority.verify("ann", "correct horse", ADDRESS),
      await authority.verifyOperator("ann", "correct horse", ADDRESS),
      await authority.verifyOperator("ann", "wrong horse", ADDRESS),
      await authority.verifyOperator("coder", coder, ADDRESS),
    ];
    const accepted = { kind: "accepted", account: "Ann" };
    const refused = { kind: "refused" };
    assert.deepEqual(await outcomes(services), [accepted, accepted, refused, refused]);
    await services.close();

    const later = await openServices(folder, { config: { admins: { enabled: false } } });
    assert.deepEqual(await outcomes(later), [refused, refused, refused, refused]);
    assert.equal(later.authority.ownerOf("ann"), "Ann");
    await later.close();
  });
});
