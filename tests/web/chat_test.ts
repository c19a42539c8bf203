import assert from "node:assert/strict";
import { anAgent } from "../support/services.ts";
import { messagesOf, withChat } from "../support/chat.ts";

/** Capabilities of an IRC client that shares its read markers. */
const MARKING = { capabilities: "sasl draft/read-marker", password: "correct horse" };

Deno.test("a person on the web and an IRC client see each other's lines under their own names", () =>
  withChat(async ({ person, connect, bridge, api }) => {
    const bob = await connect("bob");
    await bob.join("#general");
    const sent = await person.post("/channels/general", { action: "say", text: "hello from ann" });
    assert.equal(sent.status, 200);
    assert.deepEqual(messagesOf(sent.html), ["ann: hello from ann"]);
    assert.match(await bob.expect(/ JOIN /), /^:ann!web@/);
    assert.match(await bob.expect(/PRIVMSG/), /^:ann!web@\S+ PRIVMSG #general :hello from ann$/);
    bob.send("PRIVMSG #general :hello ann", "PRIVMSG #general :\x01ACTION waves\x01");
    await bob.sync();
    const { html, text } = await person.see("/channels/general");
    assert.deepEqual(messagesOf(html), [
      "ann: hello from ann",
      "bob: hello ann",
      "bob: * bob waves",
    ]);
    assert.match(text, /3 here.*bridge.*ann.*bob/);
    bob.send("WHOIS ann");
    assert.match(await bob.expect(/ 311 /), /ann web \S+ \* :On the web pages$/);
    await bob.expect(/ 318 /);
    assert.ok(!bob.lines.some((line) => / 335 /.test(line)), "ann is no bot");
    assert.equal(api.services.accounts.find("ann")?.kind, "person");
    assert.ok(bridge.sees("ann", "#general"));
  }));

Deno.test("a person reads and joins only what IRC lets them", () =>
  withChat(async ({ person, connect }) => {
    const bob = await connect("bob");
    const closed = { invited: "+i", keyed: "+k key", secret: "+s", banned: "+b ann!*@*" };
    for (const [name, modes] of Object.entries(closed)) {
      await bob.join(`#${name}`);
      bob.send(
        `MODE #${name} ${modes}`,
        `PRIVMSG #${name} :private words`,
        `TOPIC #${name} :plans`,
      );
    }
    await bob.sync();
    const { text } = await person.see("/channels");
    assert.match(text, /general/);
    for (const name of Object.keys(closed)) {
      assert.doesNotMatch(text, new RegExp(name), `${name} is in the list`);
      for (const path of [`/channels/${name}`, `/channels/${name}?q=words`]) {
        const refused = await person.get(path);
        assert.equal(refused.status, name === "secret" ? 404 : 403, path);
        assert.doesNotMatch(refused.text, /private words|plans/, path);
      }
      const stream = await person.get(`/live/channels/${name}?after=2026-01-01T00:00:00Z`);
      assert.equal(stream.status, name === "secret" ? 404 : 403, `the stream of ${name}`);
    }
    for (const name of ["invited", "keyed", "banned"]) {
      const joined = await person.post("/channels", { action: "join", channel: `#${name}` });
      assert.equal(joined.status, 409, name);
      assert.match(joined.text, new RegExp(`#${name} refuses you: Cannot join channel`));
      const said = await person.post(`/channels/${name}`, { action: "say", text: "let me in" });
      assert.doesNotMatch(said.text, /private words/);
    }
    await bob.sync();
    assert.ok(!bob.lines.some((line) => line.includes("let me in")));
    bob.send("INVITE ann #invited");
    await bob.sync();
    assert.equal(
      (await person.post("/channels", { action: "join", channel: "invited" })).status,
      200,
    );
    assert.deepEqual(messagesOf((await person.see("/channels/invited")).html), [
      "bob: private words",
    ]);
  }));

Deno.test("an admin reads and enters every channel, under their own name", () =>
  withChat(async ({ admin, connect }) => {
    const bob = await connect("bob");
    await bob.join("#closed");
    bob.send("MODE #closed +isk key", "PRIVMSG #closed :private words");
    await bob.sync();
    assert.match((await admin.see("/channels")).text, /closed/);
    assert.deepEqual(messagesOf((await admin.see("/channels/closed")).html), [
      "bob: private words",
    ]);
    const said = await admin.post("/channels/closed", { action: "say", text: "an inspection" });
    assert.deepEqual(messagesOf(said.html), ["bob: private words", "admin: an inspection"]);
    assert.match(
      await bob.expect(/PRIVMSG #closed/),
      /^:admin!web@\S+ PRIVMSG #closed :an inspection/,
    );
  }));

Deno.test("a person joins, makes and leaves channels; the sidebar of every page has them", () =>
  withChat(async ({ person }) => {
    const made = await person.post("/channels", { action: "join", channel: " #Plans " });
    assert.match(made.html, /<h1><bdi>#Plans<\/bdi><\/h1>/);
    assert.match((await person.see("/")).text, /Your channels #Plans/);
    assert.match((await person.see("/channels")).text, /Plans joined/);
    const left = await person.post("/channels/plans", { action: "leave" });
    assert.match(left.text, /You left #plans/);
    assert.doesNotMatch((await person.see("/")).text, /Your channels/);
    const refused = await person.post("/channels", { action: "join", channel: "two words" });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /A channel's name must have/);
    assert.match(refused.html, /value="two words"/);
  }));

Deno.test("a channel that ended is in the list, unless nobody could read what was said in it", () =>
  withChat(async ({ person, admin, connect, addPerson }) => {
    const bob = await connect("bob");
    const ends = async (channel: string, ...lines: readonly string[]) => {
      await bob.join(channel);
      bob.send(...lines, `PART ${channel}`);
      await bob.sync();
    };
    const say = (channel: string) => `PRIVMSG ${channel} :some plans`;
    await ends("#Plans", say("#Plans"));
    await ends("#silent");
    for (const [mode, undo] of [["+i", "-i"], ["+s", "-s"], ["+k key", "-k key"]]) {
      const name = `#opened${undo?.[1]}`;
      await ends(name, `MODE ${name} ${mode}`, say(name), `MODE ${name} ${undo}`);
    }
    for (const mode of ["+i", "+s", "+k key", "+b ann!*@*"]) {
      const name = `#sealed${mode[1]}`;
      await ends(name, say(name), `MODE ${name} ${mode}`);
    }
    await addPerson("carl");
    const founder = await connect("carl", { capabilities: "sasl", password: "correct horse" });
    await founder.join("#waiting");
    founder.send(say("#waiting"), "MODE #waiting +i", "PART #waiting");
    await founder.sync();
    const { text } = await person.see("/channels");
    assert.match(text, /Plans empty Last message/);
    assert.doesNotMatch(text, /silent|opened|sealed|waiting/);
    const { text: whole } = await admin.see("/channels");
    assert.match(whole, /waiting empty/);
    assert.doesNotMatch(whole, /silent|opened|sealed/);
    assert.match((await person.see("/channels/plans")).text, /Nobody is in this channel.*Join/);
    const joined = await person.post("/channels", { action: "join", channel: "plans" });
    assert.deepEqual(messagesOf(joined.html), ["bob: some plans"]);
    assert.doesNotMatch((await person.see("/channels")).text, /Plans empty/i);
  }, { config: { irc: { history: { persist: true } } } }));

Deno.test("history scrolls back to the oldest message that is kept", () =>
  withChat(async ({ person, connect }) => {
    const bob = await connect("bob");
    await bob.join("#general");
    const expected: string[] = [];
    for (let number = 1; number <= 250; number++) {
      bob.send(`PRIVMSG #general :message ${number}`);
      expected.push(`bob: message ${number}`);
    }
    await bob.sync();
    let found: string[] = [];
    let path: string | null = "/channels/general";
    while (path !== null) {
      const { html } = await person.see(path);
      found = [...messagesOf(html), ...found];
      const [, query = null] = /class="older" href="([^"]*)" rel="prev"/.exec(html) ?? [];
      path = query?.replaceAll("&amp;", "&") ?? null;
    }
    assert.deepEqual(found, expected);
    const [, id = ""] = /id="m-([^"]*)" data-at="[^"]*" data-nick="bob"/
      .exec((await person.see("/channels/general")).html) ?? [];
    const around = await person.see(`/channels/general?at=${encodeURIComponent(id)}`);
    assert.deepEqual(messagesOf(around.html).slice(38, 43), expected.slice(148, 153));
    assert.match(around.text, /Newer messages.*To the newest/);
  }, { config: { bridge: { buffer_size: 120 } } }));

Deno.test("a long run of one speaker repeats the name", () =>
  withChat(async ({ person, connect, api }) => {
    const bob = await connect("bob");
    await bob.join("#general");
    const say = async (count: number) => {
      for (let number = 1; number <= count; number++) bob.send(`PRIVMSG #general :${number}`);
      await bob.sync();
    };
    await say(25);
    api.services.clock.advance(4 * 60_000);
    await say(1);
    api.services.clock.advance(4 * 60_000);
    await say(1);
    bob.send("PRIVMSG #general :```", ...Array(20).fill("PRIVMSG #general :code"));
    await bob.sync();
    const { html } = await person.see("/channels/general");
    const named = Array.from(
      html.matchAll(/<li class="message([^"]*)" id="m-[^"]+"/g),
      ([, place = ""]) => place.includes("same") ? "." : "N",
    ).join("");
    assert.equal(named, `N${".".repeat(9)}N${".".repeat(9)}N${".".repeat(5)}N${".".repeat(21)}`);
  }));

Deno.test("unread messages are counted, divided and shared with IRC clients", () =>
  withChat(async ({ person, connect, api }) => {
    const { clock } = api.services;
    const bob = await connect("bob");
    await person.post("/channels", { action: "join", channel: "general" });
    await bob.join("#general");
    clock.advance(1000);
    bob.send("PRIVMSG #general :one", "PRIVMSG #general :two");
    await bob.sync();
    assert.match((await person.see("/")).text, /#general 2 unread/);
    assert.match((await person.see("/channels")).text, /2 unread/);
    const { html } = await person.see("/channels/general");
    assert.match(html, /<li class="unread" id="unread">New messages<\/li><li class="message/);
    const [, upto = ""] = /data-at="([^"]*)" data-nick="bob"(?!.*data-nick="bob")/s.exec(html) ??
      [];
    const client = await connect("ann", MARKING);
    await client.join("#general");
    const fields = { action: "read", upto };
    const answer = await person.post("/channels/general", fields, {
      headers: { accept: "application/json" },
    });
    assert.equal(answer.status, 204);
    const marker = await client.expect(/MARKREAD #general timestamp=/);
    assert.match((await person.see("/")).text, /#general(?! \d)/);
    clock.advance(1000);
    bob.send("PRIVMSG #general :three");
    await bob.sync();
    assert.match((await person.see("/")).text, /#general 1 unread/);
    const now = new Date(clock.now()).toISOString();
    client.send(`MARKREAD #general timestamp=${now}`);
    await client.expect(/MARKREAD #general timestamp=/);
    assert.notEqual(marker, client.lines.at(-1));
    assert.doesNotMatch((await person.see("/")).text, /unread/);
  }));

Deno.test("only channels and nicks have read markers", () =>
  withChat(async ({ person, connect, api }) => {
    const client = await connect("ann", MARKING);
    const upto = new Date(api.services.clock.now()).toISOString();
    const long = "x".repeat(5000);
    for (
      const path of [
        `/channels/${long}`,
        `/messages/${long}`,
        `/messages/${encodeURIComponent("two words")}`,
        `/messages/${encodeURIComponent("ann\r\nQUIT")}`,
        `/channels/${encodeURIComponent("one,two")}`,
      ]
    ) {
      for (const accept of ["application/json", "text/html"]) {
        const fields = { action: "read", upto };
        const answer = await person.post(path, fields, { headers: { accept }, follow: false });
        assert.equal(answer.status, 400, `${path.slice(0, 40)}: ${answer.text}`);
      }
    }
    await client.sync();
    assert.ok(!client.lines.some((line) => line.includes("MARKREAD")));
    const { tables } = api.services.database;
    assert.deepEqual(await tables.selectFrom("read_markers").selectAll().execute(), []);
  }));

Deno.test("an answer names its message, on the web and on IRC", () =>
  withChat(async ({ person, connect }) => {
    const bob = await connect("bob", { capabilities: "message-tags" });
    await bob.join("#general");
    bob.send("PRIVMSG #general :shall we?");
    await bob.sync();
    const [, id = ""] = /id="m-([^"]*)"/.exec((await person.see("/channels/general")).html) ?? [];
    const form = await person.see(`/channels/general?reply=${id}`);
    assert.match(form.text, /Reply to bob: shall we\?/);
    const sent = await person.post("/channels/general", { action: "say", text: "yes", reply: id });
    assert.match(sent.html, new RegExp(`data-answers="${id}".*?bob: shall we\\?`, "s"));
    assert.match(await bob.expect(/PRIVMSG #general :yes/), new RegExp(`\\+draft/reply=${id}[; ]`));
    const answer = /msgid=([^; ]+)/.exec(bob.lines.at(-1) ?? "")?.[1] ?? "";
    bob.send(`@+draft/reply=${answer} PRIVMSG #general :good`);
    await bob.sync();
    const { html } = await person.see("/channels/general");
    assert.match(html, new RegExp(`data-answers="${answer}".*?ann: yes`, "s"));
    const refused = await person.post("/channels/general", {
      action: "say",
      text: "yes",
      reply: "a b",
    });
    assert.equal(refused.status, 400);
  }));

Deno.test("the search of a channel finds words and speakers, page by page", () =>
  withChat(async ({ person, connect }) => {
    const [bob, eve] = [await connect("bob"), await connect("eve")];
    await bob.join("#general");
    await eve.join("#general");
    for (let number = 1; number <= 120; number++) bob.send(`PRIVMSG #general :Needle ${number}`);
    await bob.sync();
    eve.send("PRIVMSG #general :a needle of eve");
    await eve.sync();
    const found = await person.see("/channels/general?q=NEEDLE");
    assert.match(found.text, /50 shown, there may be older ones Searched back to/);
    assert.equal(messagesOf(found.html).at(-1), "eve: a needle of eve");
    const [, more = ""] = /class="button older" href="([^"]*)"/.exec(found.html) ?? [];
    const next = messagesOf((await person.see(more.replaceAll("&amp;", "&"))).html);
    assert.equal(next.at(-1), "bob: Needle 71");
    const byEve = await person.see("/channels/general?q=from:eve%20needle");
    assert.deepEqual(messagesOf(byEve.html), ["eve: a needle of eve"]);
    assert.match((await person.see("/channels/general?q=nowhere")).text, /Nothing found/);
  }));

Deno.test("a conversation with an absent agent and with an absent person is kept", () =>
  withChat(async ({ person, admin, api, addPerson }) => {
    await anAgent(api.services, "scout");
    const sent = await person.post("/messages/scout", { action: "say", text: "good morning" });
    assert.deepEqual(messagesOf(sent.html), ["ann: good morning"]);
    const inbox = await api.services.inboxes.read("scout", {}, {
      ...api.services.accounts.find("scout"),
      kind: "operator",
    } as never);
    assert.deepEqual(inbox.map(({ from, text }) => `${from}: ${text}`), ["ann: good morning"]);
    const carl = await addPerson("carl");
    await admin.post("/messages/carl", { action: "say", text: "welcome" });
    await carl.post("/messages/admin", { action: "say", text: "thank you" });
    const both = ["admin: welcome", "carl: thank you"];
    assert.deepEqual(messagesOf((await admin.see("/messages/carl")).html), both);
    assert.deepEqual(messagesOf((await carl.see("/messages/admin")).html), both);
    assert.doesNotMatch((await person.see("/messages/carl")).text, /welcome/);
    const [, id = ""] = /id="m-([^"]*)"/.exec((await carl.see("/messages/admin")).html) ?? [];
    const around = await carl.see(`/messages/admin?at=${id}`);
    assert.deepEqual(messagesOf(around.html), both);
    assert.match(around.text, /To the newest/);
    assert.match((await carl.see("/channels")).text, /Direct messages admin/);
    api.services.clock.advance(1000);
    await admin.post("/messages/carl", { action: "say", text: "one more" });
    assert.match((await carl.see("/")).text, /Written to you admin unread/);
    api.services.clock.advance(1000);
    const upto = new Date(api.services.clock.now()).toISOString();
    await carl.post("/messages/admin", { action: "read", upto });
    assert.doesNotMatch((await carl.see("/")).text, /Written to you (?!Your account)/);
    const nobody = await person.post("/messages/nobody", { action: "say", text: "hello?" });
    assert.equal(nobody.status, 404);
    assert.match(nobody.text, /There is no agent or IRC user named "nobody"/);
    assert.match(nobody.html, />hello\?<\/textarea>/);
    assert.equal((await person.get("/messages/a%20b")).status, 400);
  }));

Deno.test("a person learns of a message that came back, in the conversation and on IRC", () =>
  withChat(async ({ person, api, connect, logIn }) => {
    const { clock } = api.services;
    await anAgent(api.services, "scout");
    await person.post("/messages/scout", { action: "say", text: "are you there?" });
    clock.advance(72 * 60 * 60 * 1000);
    const ann = await logIn("ann");
    let home = "";
    for (let tries = 0; tries < 500 && !home.includes("Written to you scout unread"); tries++) {
      // What is due at once runs with the next step of the clock.
      clock.advance(1000);
      home = (await ann.see("/")).text;
    }
    const why = '"scout" did not get your message, because it was away for 72 hours';
    const { text, html } = await ann.see("/messages/scout");
    assert.match(text, new RegExp(`${why}: are you there\\?`));
    assert.equal(messagesOf(html).length, 2);
    const client = await connect("ann", MARKING);
    await client.expect(new RegExp(` NOTICE ann :${why}: are you there\\?$`));
    client.send("QUIT");
    await client.expect(/^ERROR/);
    const again = await connect("ann", MARKING);
    await again.sync();
    assert.ok(!again.lines.some((line) => line.includes("are you there")), "it is told once");
  }));

Deno.test("a guest is led to the login, and a page without the bridge says so", () =>
  withChat(async ({ guest }) => {
    for (const path of ["/channels", "/channels/general", "/messages/ann"]) {
      const { to } = await guest.get(path, { follow: false });
      assert.equal(to, `/login?next=${encodeURIComponent(path)}`);
    }
    assert.equal((await guest.get("/live/channels/general")).status, 401);
  }));

Deno.test("a person is on IRC while a page is open, and gives way to an IRC client", () =>
  withChat(async ({ person, connect, api }) => {
    const bob = await connect("bob");
    await bob.join("#general");
    await person.post("/channels", { action: "join", channel: "general" });
    await bob.expect(/^:ann!web\S+ JOIN #general/);
    const client = await connect("ann", MARKING);
    await client.join("#general");
    await person.post("/channels/general", { action: "say", text: "through my client" });
    assert.match(
      await bob.expect(/PRIVMSG/),
      /^:ann!~?ann@\S+ PRIVMSG #general :through my client$/,
    );
    client.send("QUIT");
    await client.expect(/^ERROR /);
    api.services.clock.advance(121_000);
    bob.send("WHOIS ann");
    await bob.expect(/ 301 bob ann :Messages wait on the web pages$/);
    await person.see("/channels/general");
    bob.send("WHOIS ann");
    assert.doesNotMatch(await bob.expect(/ (301|318) bob ann /), / 301 /);
    await person.post("/enter", { action: "leave" });
    await bob.expect(/^:ann!web\S+ QUIT :Its login has ended/);
  }));
