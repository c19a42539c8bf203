import assert from "node:assert/strict";
import { BY_OPERATOR, withServices } from "../../../support/services.ts";
import { until } from "../../../support/until.ts";

Deno.test("mentions count in every channel that one may read, joined or not", () =>
  withServices(async ({ bridge, chats, ircAccounts, accounts, server, clock }) => {
    assert.ok(bridge);
    await bridge.whenReady();
    await ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    const id = accounts.find("ann")?.id ?? null;
    const principal = {
      kind: "person",
      id,
      name: "ann",
      scopes: new Set(["read"] as const),
      project: null,
      tokenId: null,
      sessionId: "s",
    } as const;
    const caller = { principal, address: null, requestId: null };
    for (const channel of ["open", "closed", "quiet"]) {
      await bridge.post(channel, { nick: "bob", text: "hello ann" }, BY_OPERATOR);
    }
    await bridge.post("quiet", { nick: "bob", text: "and you" }, BY_OPERATOR);
    await chats.markRead("#quiet", clock.now() + 1000, caller);
    const operator = server.connect({ account: "judge", privileged: true });
    for (const line of ["NICK judge", "USER j 0 * :j", "JOIN #closed", "MODE #closed +i"]) {
      operator.send(line);
    }
    await until(() => !bridge.mayRead("#closed", caller));
    await bridge.post("open", { nick: "bob", text: "again, ann" }, BY_OPERATOR);
    const named = (text: string, nick: string) => text.includes(nick);
    assert.deepEqual(chats.sidebar(caller, named), [
      { name: "#open", unread: 2, mentions: 2, joined: false },
    ]);
    await chats.markRead("#open", clock.now() + 1000, caller);
    assert.deepEqual(chats.sidebar(caller, named), []);
    operator.close();
  }, { config: { bridge: { enabled: true } }, ircServer: true }));

Deno.test("the sidebar has the first channels of a person, the number of others, and mentions in them", () =>
  withServices(async ({ bridge, chats, ircAccounts, accounts, clock, virtualUsers }) => {
    assert.ok(bridge);
    await bridge.whenReady();
    await ircAccounts.create({ account: "ann", password: "correct horse" }, BY_OPERATOR);
    const principal = {
      kind: "person",
      id: accounts.find("ann")?.id ?? null,
      name: "ann",
      scopes: new Set(["read"] as const),
      project: null,
      tokenId: null,
      sessionId: "s",
    } as const;
    const caller = { principal, address: null, requestId: null };
    assert.equal(chats.beyondSidebar(caller), 0);
    for (let index = 100; index < 153; index++) {
      virtualUsers.speaker(principal)?.join(`#c${index}`);
    }
    await bridge.join("c152", BY_OPERATOR);
    clock.advance(1000);
    await bridge.post("c152", { nick: "bob", text: "hello ann" }, BY_OPERATOR);
    const shown = chats.sidebar(caller, (text, nick) => text.includes(nick));
    assert.equal(chats.beyondSidebar(caller), 3);
    assert.deepEqual(shown.slice(49), [
      { name: "#c149", unread: 0, mentions: 0, joined: true },
      { name: "#c152", unread: 1, mentions: 1, joined: true },
    ]);
  }, { config: { bridge: { enabled: true } }, ircServer: true }));
