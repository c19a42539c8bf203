import assert from "node:assert/strict";
import { EventSource } from "eventsource";
import { call } from "../support/api.ts";
import { IrcClient } from "../support/irc_client.ts";
import { type Program, startProgram } from "../support/program.ts";
import { within } from "../support/until.ts";

/** What a browser's page gets of a stream. */
class Page implements Disposable {
  readonly events: { readonly id: string; readonly data: Record<string, unknown> }[] = [];
  opened = 0;
  readonly #source: EventSource;
  #wake: () => void = () => {};

  constructor(url: string, types: readonly string[] = ["message"]) {
    this.#source = new EventSource(url);
    this.#source.onopen = () => {
      this.opened++;
      this.#wake();
    };
    for (const type of types) {
      this.#source.addEventListener(type, ({ lastEventId, data }) => {
        this.events.push({ id: lastEventId, data: JSON.parse(data) });
        this.#wake();
      });
    }
  }

  get texts(): unknown[] {
    return this.events.map(({ data }) => data["text"]);
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await within(promise, () => `An event after ${JSON.stringify(this.events.at(-1))}`);
    }
  }

  [Symbol.dispose](): void {
    this.#source.close();
  }
}

async function post(program: Program, text: string): Promise<void> {
  const path = "/v1/channels/general/messages";
  const response = await call(program, "POST", path, { nick: "ann", text });
  assert.equal(response.status, 204);
}

Deno.test("an EventSource resumes after a cut without gap or repeat, even beyond the buffer", async () => {
  await using program = await startProgram({ config: "bridge: { buffer_size: 5 }\n" });
  await using bob = await IrcClient.connect(program.irc);
  await bob.register({ nick: "bob" });
  await bob.join("#general");
  const url = `${program.api}/v1/channels/general/stream?token=${program.token}`;
  using brief = new Page(url);
  using whole = new Page(`${url}&full=true&since=2000-01-01T00:00:00Z`);
  await brief.until(() => brief.opened === 1);
  await whole.until(() => whole.opened === 1);
  await post(program, "before \u2028 the cut");
  for (const page of [brief, whole]) await page.until(() => page.events.length === 1);

  const left = await call(program, "DELETE", "/v1/channels/general");
  assert.equal(left.status, 204);
  const missed = Array.from({ length: 20 }, (_, index) => `missed ${index}`);
  await bob.send(...missed.map((text) => `PRIVMSG #general :${text}`), "PING :done");
  await bob.expect(/ PONG .*done$/);
  for (const page of [brief, whole]) await page.until(() => page.events.length === 21);
  await post(program, "after");
  for (const page of [brief, whole]) {
    await page.until(() => page.events.length === 22);
    assert.equal(page.opened, 2);
    assert.deepEqual(page.texts, ["before \u2028 the cut", ...missed, "after"]);
  }

  const path = "/v1/channels/general/messages?before=2099-01-01T00:00:00Z&limit=5";
  const messages = await (await call(program, "GET", path)).json();
  assert.deepEqual(whole.events.slice(-5).map(({ data }) => data), messages);
  assert.deepEqual(
    brief.events.slice(-5),
    messages.map(({ id, nick, text, timestamp }: Record<string, unknown>) => ({
      id,
      data: { nick, text, timestamp },
    })),
  );
});

Deno.test("an EventSource reads the event log with a token in its address", async () => {
  await using program = await startProgram();
  const url = `${program.api}/v1/events?token=${program.token}`;
  using page = new Page(url, ["agent.registered"]);
  await page.until(() => page.opened === 1);
  await call(program, "POST", "/v1/agents/register", { nick: "scout" });
  await page.until(() => page.events.length === 1);
  assert.equal(page.events[0]?.id, String(page.events[0]?.data["seq"]));

  const accept = { accept: "text/event-stream" };
  for (const path of [url, `${program.api}/v1/channels/general/stream?token=${program.token}`]) {
    const stream = await fetch(path, { headers: accept });
    assert.equal(stream.status, 200);
    assert.equal(stream.headers.get("referrer-policy"), "no-referrer");
    assert.equal(stream.headers.get("cache-control"), "no-store");
    await stream.body?.cancel();
  }
  const wrong = await fetch(`${program.api}/v1/events?token=wrong`, { headers: accept });
  assert.equal(wrong.status, 401);
  await wrong.body?.cancel();
  const page1 = await fetch(url, { headers: { accept: "application/json" } });
  assert.equal(page1.status, 401, "a token in an address opens streams alone");
  await page1.body?.cancel();
  assert.ok(!program.log.some((line) => line.includes(program.token)), "it is in no log");
});
