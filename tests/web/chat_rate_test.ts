import assert from "node:assert/strict";
import type { Principal } from "../../services/people/identity/mod.ts";
import { withChat } from "../support/chat.ts";
import { anAgent } from "../support/services.ts";

/** Some lines at once, three by default, then one each two seconds. */
function slow(burst = 3) {
  return { config: { irc: { limits: { account_lines_per_second: 0.5, account_burst: burst } } } };
}

Deno.test("an account on the web writes as much as its rate allows, to channels and people", () =>
  withChat(
    async ({ person, admin, addPerson, connect, api: { services } }) => {
      const bob = await connect("bob");
      await bob.join("#general");
      await anAgent(services, "scout");
      await addPerson("carl");
      const say = (to: string, text: string) => person.post(to, { action: "say", text });
      for (const to of ["/channels/general", "/messages/bob", "/messages/scout"]) {
        assert.equal((await say(to, `within the rate of ${to}`)).status, 200, to);
      }
      for (
        const to of ["/channels/general", "/messages/bob", "/messages/scout", "/messages/carl"]
      ) {
        const refused = await say(to, "one too many");
        assert.equal(refused.status, 429, to);
        assert.equal(refused.headers.get("retry-after"), "2", to);
        assert.match(refused.text, /You write faster than an account may: wait a moment/);
        assert.match(refused.html, />one too many<\/textarea>/);
      }
      assert.equal(
        (await admin.post("/channels/general", { action: "say", text: "mine" })).status,
        200,
      );
      services.clock.advance(2000);
      assert.equal((await say("/channels/general", "its turn")).status, 200);
      assert.equal((await say("/channels/general", "too early")).status, 429);
      await bob.sync();
      const heard = bob.lines.filter((line) => line.includes(" PRIVMSG "));
      assert.deepEqual(heard.map((line) => line.replace(/^\S+ PRIVMSG /, "")), [
        "#general :within the rate of /channels/general",
        "bob :within the rate of /messages/bob",
        "#general :mine",
        "#general :its turn",
      ]);
    },
    slow(),
  ));

Deno.test("an admin's lines count too, line by line, also beside an IRC client of their own", () =>
  withChat(async ({ admin, person, connect }) => {
    const client = await connect("ann", { capabilities: "sasl", password: "correct horse" });
    await client.join("#general");
    for (const speaker of [admin, person]) {
      const say = (text: string) => speaker.post("/channels/general", { action: "say", text });
      assert.equal((await say("line\n".repeat(30))).status, 200);
      const refused = await say("one more");
      assert.equal(refused.status, 429);
      assert.equal(refused.headers.get("retry-after"), "2");
    }
  }, slow(30)));

Deno.test("a login after a logout does not begin with a new burst", () =>
  withChat(async ({ person, logIn }) => {
    await person.post("/channels/general", { action: "say", text: "one\ntwo\nthree" });
    await person.post("/enter", { action: "leave" });
    const again = await logIn("ann");
    const refused = await again.post("/channels/general", { action: "say", text: "four" });
    assert.equal(refused.status, 429);
  }, slow()));

Deno.test("lines that the bridge says for a person count for the same account", () =>
  withChat(async ({ person, bridge, api: { services: { accounts } } }) => {
    const principal: Principal = {
      kind: "person",
      id: accounts.find("ann")?.id ?? "",
      name: "ann",
      scopes: new Set(),
      project: null,
      tokenId: null,
      sessionId: null,
    };
    const caller = { principal, address: "::1", requestId: null };
    const post = () => bridge.post("general", { text: "by the bridge" }, caller);
    await post();
    await person.post("/channels/general", { action: "say", text: "two\nthree" });
    await assert.rejects(post, { name: "TooMany", retryAfterSeconds: 2 });
  }, slow()));
