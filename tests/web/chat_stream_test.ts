import assert from "node:assert/strict";
import type { TestChat } from "../support/chat.ts";
import { withChat } from "../support/chat.ts";
import { BY_OPERATOR } from "../support/services.ts";
import type { Visitor } from "../support/web.ts";
import type { SentMessage } from "../../web/elements/sent_message.ts";
import { until } from "../support/until.ts";

/** An event of a stream. */
interface Received {
  readonly id: string;
  readonly name: string;
  readonly data: string;
}

/** A stream of a page, as a browser reads it. */
class PageStream {
  readonly #reader: ReadableStreamDefaultReader<string>;
  #text = "";
  ended = false;

  constructor(body: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = body.pipeThrough(new TextDecoderStream()).getReader();
    this.#read().catch((error: unknown) => this.#text += `\n\nbroken: ${error}\n\n`);
  }

  static async open(
    { api }: Pick<TestChat, "api">,
    visitor: Visitor,
    path: string,
    headers: Record<string, string> = {},
  ): Promise<PageStream> {
    const cookie = `muster_session=${visitor.cookie("muster_session")}`;
    const request = new Request(`http://muster.test${path}`, { headers: { ...headers, cookie } });
    const response = await api.handle(request);
    assert.equal(response.status, 200, path);
    assert.equal(response.headers.get("content-type"), "text/event-stream");
    assert.ok(response.body !== null);
    return new PageStream(response.body);
  }

  get events(): Received[] {
    return this.#text.split("\n\n").slice(0, -1).map((event) => {
      const fields = event.split("\n").map((line) => /^(\w*): (.*)$/s.exec(line) ?? []);
      const of = (wanted: string) =>
        fields.filter(([, name]) => name === wanted).map(([, , value]) => value).join("\n");
      return { id: of("id"), name: of("event"), data: of("data") };
    });
  }

  /** The messages so far. */
  get messages(): SentMessage[] {
    return this.events.filter(({ name }) => name === "").map(({ data }) => JSON.parse(data));
  }

  /** What they say, as HTML where that is more than a text. */
  get texts(): string[] {
    return this.messages.map(({ text, html }) => text ?? html ?? "");
  }

  async #read(): Promise<void> {
    for (;;) {
      const { done, value } = await this.#reader.read();
      if (done) break;
      this.#text += value;
    }
    this.ended = true;
  }

  cancel(): Promise<void> {
    return this.#reader.cancel();
  }
}

Deno.test("the stream of a channel has messages, who comes and goes, and the topic", () =>
  withChat(async (chat) => {
    const { person, connect } = chat;
    const [bob, eve] = [await connect("bob"), await connect("eve")];
    await bob.join("#plans");
    const stream = await PageStream.open(chat, person, "/live/channels/plans");
    await eve.join("#plans");
    bob.send("PRIVMSG #plans :<b>one</b>", "TOPIC #plans :<i>plans</i>");
    await bob.sync();
    eve.send("PART #plans");
    await until(() => stream.events.some(({ name }) => name === "left"));
    const [here, joined, message, topic, left] = stream.events;
    assert.deepEqual([here?.name, here?.data], [
      "here",
      '[["bob","@",false],["bridge","@",true]]',
    ]);
    assert.deepEqual([joined?.name, joined?.data], ["joined", '["eve","",false]']);
    assert.notEqual(message?.id, "");
    const [{ at, ...sent } = { at: "" }] = stream.messages;
    assert.deepEqual(sent, { nick: "bob", text: "<b>one</b>" });
    assert.match(at, /^2026-.*Z$/);
    assert.deepEqual([topic?.name, topic?.data], ["topic", '"<i>plans</i>"']);
    assert.deepEqual([left?.name, left?.data], ["left", '"eve"']);
    await stream.cancel();
  }));

Deno.test("a stream has HTML only of texts that are shown in another way", () =>
  withChat(async (chat) => {
    const { person, connect, api } = chat;
    const bob = await connect("bob");
    await bob.join("#general");
    const stream = await PageStream.open(chat, person, "/live/channels/general");
    const envelope = {
      v: 1,
      type: "note",
      id: "1",
      from: "bob",
      to: [],
      payload: { title: "<i>" },
    };
    const others = [
      "<b> `code`",
      "<b> https://example.test/",
      "<b> #general",
      "<b> \x02bold",
      "<b> \u202eturned",
      "<b>".padEnd(800, "x"),
      JSON.stringify(envelope),
    ];
    const { bridge } = api.services.chats;
    for (const text of ['<b> & "plain"', ...others]) {
      await bridge.post("#general", { nick: "eve", text }, BY_OPERATOR);
    }
    bob.send("PRIVMSG #general :\x01ACTION waves\x01");
    await until(() => stream.messages.length === others.length + 2);
    const [plain, ...rest] = stream.messages;
    const action = rest.pop();
    assert.deepEqual([plain?.text, plain?.html], ['<b> & "plain"', undefined]);
    assert.deepEqual([plain?.operator, plain?.agent, plain?.action], [true, undefined, undefined]);
    assert.deepEqual([action?.text, action?.action], ["* bob waves", true]);
    for (const { text, html = "" } of rest) {
      assert.equal(text, undefined);
      assert.match(html, /&lt;[bi]>?/);
      assert.doesNotMatch(html, /<[bi]>/);
    }
    await stream.cancel();
  }));

Deno.test("all streams of a channel share one frame for a message", () =>
  withChat(async (chat) => {
    const { person, admin, connect } = chat;
    const bob = await connect("bob");
    await bob.join("#general");
    const streams = await Promise.all(
      [person, admin, person].map((one) => PageStream.open(chat, one, "/live/channels/general")),
    );
    bob.send("PRIVMSG #general :one");
    for (const stream of streams) {
      await until(() => stream.texts.length === 1);
      const own = stream.events.filter(({ name }) => name === "");
      assert.deepEqual(own, streams[0]?.events.filter(({ name }) => name === ""));
      await stream.cancel();
    }
  }));

Deno.test("a stream resumes after a message without a gap or a repeat", () =>
  withChat(async (chat) => {
    const { person, connect } = chat;
    const bob = await connect("bob");
    await bob.join("#general");
    const first = await PageStream.open(chat, person, "/live/channels/general");
    bob.send("PRIVMSG #general :one", "PRIVMSG #general :two");
    await until(() => first.texts.length === 2);
    const last = first.events.at(-1)?.id ?? "";
    await first.cancel();
    bob.send("PRIVMSG #general :three", "PRIVMSG #general :four");
    await bob.sync();
    const path = "/live/channels/general?after=2026-01-01T00:00:00Z";
    for (
      const stream of [
        await PageStream.open(chat, person, path, { "last-event-id": last }),
        await PageStream.open(chat, person, `${path}&lastEventId=${encodeURIComponent(last)}`),
      ]
    ) {
      await until(() => stream.texts.length === 2);
      assert.deepEqual(stream.texts, ["three", "four"]);
      await stream.cancel();
    }
  }));

Deno.test("a stream ends with the session, and when the channel closes to its reader", () =>
  withChat(async (chat) => {
    const { person, admin, connect } = chat;
    const bob = await connect("bob");
    await bob.join("#plans");
    const banned = await PageStream.open(chat, person, "/live/channels/plans");
    bob.send("MODE #plans +b ann!*@*", "PRIVMSG #plans :private words");
    await until(() => banned.ended);
    assert.doesNotMatch(banned.texts.join(), /private/);
    const ended = await PageStream.open(chat, person, "/live/channels/general");
    const other = await PageStream.open(chat, admin, "/live/channels/general");
    await person.post("/enter", { action: "leave" });
    await until(() => ended.ended);
    assert.ok(!other.ended);
    await other.cancel();
  }));

Deno.test("a stream tells what its reader has not read elsewhere, once for each change", () =>
  withChat(async (chat) => {
    const { person, connect, addPerson, api } = chat;
    const { clock } = api.services;
    await addPerson("cleo");
    const bob = await connect("bob");
    for (const channel of ["plans", "other"]) {
      await person.post("/channels", { action: "join", channel });
      await bob.join(`#${channel}`);
    }
    clock.advance(1000);
    const stream = await PageStream.open(chat, person, "/live/channels/plans");
    const home = await PageStream.open(chat, person, "/live/home");
    const { projects } = api.services.hosting;
    await projects.setMember("demo", "ann", "read", BY_OPERATOR);
    const project = await PageStream.open(chat, person, "/live/projects/demo");
    bob.send("PRIVMSG #other :ann: one", "PRIVMSG #other :annual", "PRIVMSG #plans :here");
    bob.send("PRIVMSG ann :in private");
    await bob.sync();
    const news = ({ events }: PageStream) =>
      events.filter(({ name }) => name === "unread").map(({ data = "" }) => JSON.parse(data));
    for (let round = 0; round < 3; round++) {
      clock.advance(2000);
      await until(() => [stream, home, project].every((one) => news(one).length === 1));
    }
    assert.deepEqual(news(stream), [{ channels: [["#other", 2, 1]], people: ["bob"] }]);
    const all = [["#other", 2, 1], ["#plans", 1, 0]];
    assert.deepEqual(news(home), [{ channels: all, people: ["bob"] }]);
    assert.deepEqual(news(project), news(home));
    await project.cancel();
    assert.match((await person.see("/")).text, /#other @1 message names you #plans 1 unread/);
    await stream.cancel();
    await home.cancel();
  }));

Deno.test("the stream of a conversation has both sides, and resumes", () =>
  withChat(async (chat) => {
    const { person, connect, addPerson } = chat;
    const bob = await connect("bob");
    const stream = await PageStream.open(chat, person, "/live/messages/bob");
    bob.send("PRIVMSG ann :good <i>morning</i>", "PRIVMSG ann :\x01VERSION\x01");
    await bob.sync();
    const answer = { action: "say", text: "and to you" };
    const headers = { accept: "application/json" };
    const sent = await person.post("/messages/bob", answer, { headers });
    assert.equal(sent.status, 204);
    await bob.expect(/^:ann!web\S+ PRIVMSG bob :and to you$/);
    await until(() => stream.texts.length === 2);
    assert.deepEqual(stream.texts, ["good <i>morning</i>", "and to you"]);
    const last = stream.events.at(-1)?.id ?? "";
    await stream.cancel();
    bob.send("PRIVMSG ann :see you");
    await bob.sync();
    const path = `/live/messages/bob?after=2026-01-01T00:00:00Z&lastEventId=${
      encodeURIComponent(last)
    }`;
    const again = await PageStream.open(chat, person, path);
    await until(() => again.texts.length === 1);
    assert.deepEqual(again.texts, ["see you"]);
    await again.cancel();

    const carl = await addPerson("carl");
    const others = await PageStream.open(chat, carl, "/live/messages/bob");
    const away = await PageStream.open(chat, person, "/live/messages/dora");
    await addPerson("dora");
    await person.post("/messages/dora", { action: "say", text: "when you are back" });
    await until(() => away.texts.length === 1);
    assert.deepEqual(away.texts, ["when you are back"]);
    assert.deepEqual(others.texts, []);
    await away.cancel();
    await others.cancel();
  }));
