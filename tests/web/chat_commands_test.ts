import assert from "node:assert/strict";
import { messagesOf, withChat } from "../support/chat.ts";

/** Logs in to the account of the nick. */
const LOGIN = { capabilities: "sasl", password: "correct horse" };

Deno.test("commands of IRC work in channels: /me, /topic, /join, /leave, /msg, /query, /search", () =>
  withChat(async ({ person, connect }) => {
    const bob = await connect("bob");
    await bob.join("#general");
    const write = (text: string) => person.post("/channels/general", { action: "say", text });
    assert.deepEqual(messagesOf((await write("/me waves `twice`")).html), [
      "ann: * ann waves twice",
    ]);
    const heard = await bob.expect(/PRIVMSG/);
    assert.ok(heard.endsWith("PRIVMSG #general :\x01ACTION waves `twice`\x01"), heard);
    assert.match((await write("//etc is a folder")).text, /\/etc is a folder/);
    assert.match((await write("/etc/passwd is a file")).text, /\/etc\/passwd is a file/);
    assert.match((await write("/join plans")).html, /<h1><bdi>#plans<\/bdi><\/h1>/);
    assert.match((await write("/leave plans")).text, /You left #plans/);
    assert.match((await write("/msg bob a word")).html, /<h1><bdi>bob<\/bdi><\/h1>/);
    assert.match(await bob.expect(/PRIVMSG bob/), /:a word$/);
    assert.match((await write("/query bob")).html, /<h1><bdi>bob<\/bdi><\/h1>/);
    assert.match((await write("/search waves")).text, /1 found/);
    const unknown = await write("/dance now");
    assert.equal(unknown.status, 400);
    assert.match(unknown.text, /There is no command \/dance\. The commands are \/me, \/join/);
    assert.match(unknown.html, />\/dance now<\/textarea>/);
    assert.match((await write("/nick other")).text, /Your nick is the name of your account/);
    assert.match((await write("/me")).text, /Write what you do after \/me/);
  }));

Deno.test("a script learns from the answer where a command leads", () =>
  withChat(async ({ person }) => {
    const headers = { accept: "application/json" };
    const write = (text: string) =>
      person.post("/channels/general", { action: "say", text }, { headers });
    assert.equal((await write("hello")).status, 204);
    const joined = await write("/join #plans");
    assert.deepEqual([joined.status, JSON.parse(joined.html)], [200, { to: "/channels/plans" }]);
  }));

Deno.test("an action reaches an agent and an absent person as what it is", () =>
  withChat(async ({ person, admin, addPerson }) => {
    await addPerson("cleo");
    const sent = await person.post("/messages/cleo", { action: "say", text: "/me waits" });
    assert.deepEqual(messagesOf(sent.html), ["ann: * ann waits"]);
    await admin.post("/messages/ann", { action: "say", text: "/me nods" });
    assert.deepEqual(messagesOf((await person.see("/messages/admin")).html), [
      "admin: * admin nods",
    ]);
    const topic = await person.post("/messages/cleo", { action: "say", text: "/topic plans" });
    assert.match(topic.text, /This command needs a channel around it/);
  }));

Deno.test("a topic is changed by those who may, and by admins everywhere", () =>
  withChat(async ({ person, admin, addPerson, connect }) => {
    await addPerson("bob");
    const bob = await connect("bob", LOGIN);
    await bob.join("#plans");
    const change = (who: typeof person, text: string) =>
      who.post("/channels/plans", { action: "say", text: `/topic ${text}` });
    const refused = await change(person, "mine");
    assert.equal(refused.status, 409);
    assert.match(refused.text, /#plans refuses the topic: You are not a channel operator/);
    await change(admin, "the plans");
    assert.match(await bob.expect(/TOPIC/), /^:admin!web@\S+ TOPIC #plans :the plans$/);
    assert.match((await person.see("/channels/plans")).html, /title="the plans"/);
    bob.send("MODE #plans -t");
    await bob.sync();
    await change(person, "ours");
    assert.match(await bob.expect(/TOPIC #plans :ours/), /^:ann!web@/);
    await change(person, "-");
    assert.match((await person.see("/channels/plans")).text, /No topic yet/);
    assert.match((await change(person, "x".repeat(2000))).text, /A topic has at most \d+ bytes/);
  }));

Deno.test("moderation and bans silence people on the web, and no admin", () =>
  withChat(async ({ person, admin, addPerson, connect }) => {
    await addPerson("bob");
    const bob = await connect("bob", LOGIN);
    await bob.join("#plans");
    bob.send("MODE #plans +m", "MODE #plans +b admin!*@*");
    await bob.sync();
    const said = await person.post("/channels/plans", { action: "say", text: "let me speak" });
    assert.equal(said.status, 409);
    assert.match(said.text, /Cannot send to channel/);
    const admins = await admin.post("/channels/plans", { action: "say", text: "an inspection" });
    assert.deepEqual(messagesOf(admins.html), ["admin: an inspection"]);
    assert.match(
      await bob.expect(/PRIVMSG #plans/),
      /^:admin!web@\S+ PRIVMSG #plans :an inspection/,
    );
  }));

Deno.test("a page lists who is here by status, leads to a day, and links channels", () =>
  withChat(async ({ person, addPerson, connect }) => {
    await addPerson("bob");
    const bob = await connect("bob", LOGIN);
    await bob.join("#plans");
    const carl = await connect("carl");
    await carl.join("#plans");
    bob.send("MODE #plans +v carl", "PRIVMSG #plans :see #general, (#Über-uns) and a#b #1 `#c`");
    await bob.sync();
    const { html } = await person.see("/channels/plans");
    const here = Array.from(
      html.matchAll(/<li data-nick="(.*?)" data-sign="(.*?)"/g),
      (found) => found.slice(1).join(" "),
    );
    assert.deepEqual(here, ["bob @", "bridge @", "carl +"]);
    const links = Array.from(html.matchAll(/<a href="\/channels\/([^"]*)">#/g), ([, to]) => to);
    assert.deepEqual(links, ["general", "%C3%9Cber-uns"]);
    assert.equal(messagesOf((await person.see("/channels/plans?day=2000-01-01")).html).length, 1);
    assert.equal(messagesOf((await person.see("/channels/plans?day=2100-01-01")).html).length, 0);
    assert.equal((await person.see("/channels/plans?day=<script>")).status, 200);
  }));
