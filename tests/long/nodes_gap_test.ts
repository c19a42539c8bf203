/** A node that was away for longer than its buffer: no reader of it misses a post without a mark. */
import assert from "node:assert/strict";
import { order } from "../support/api.ts";
import type { Program } from "../support/program.ts";
import { Cluster, clusterPeers } from "../support/real_cluster.ts";
import { until } from "../support/until.ts";

const BUFFER = 20;
const POSTS = 100;

/** What a reader got that comes back whenever its stream ends, as an EventSource does. */
class Reader implements AsyncDisposable {
  readonly texts: string[] = [];
  gaps = 0;
  opened = 0;
  #lastId: string | null = null;
  readonly #ending = new AbortController();
  readonly #reading: Promise<void>;

  constructor(node: Program, channel: string) {
    this.#reading = this.#read(`${node.api}/v1/channels/${channel}/stream?token=${node.token}`);
  }

  async #read(url: string): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        const headers = this.#lastId === null ? {} : { "last-event-id": this.#lastId };
        const response = await fetch(url, { headers, signal });
        if (response.ok) this.opened++;
        await this.#take(response);
      } catch (error) {
        if (!signal.aborted && !(error instanceof TypeError)) throw error;
      }
    }
  }

  async #take({ body, ok }: Response): Promise<void> {
    let rest = "";
    for await (const text of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (rest + text).split("\n\n");
      rest = events.pop() ?? "";
      if (ok) events.forEach((event) => this.#note(event.split("\n")));
    }
  }

  #note(lines: readonly string[]): void {
    const of = (name: string) =>
      lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    if (of("event") === "gap") this.gaps++;
    const id = of("id");
    if (id === undefined) return;
    this.#lastId = id;
    this.texts.push(JSON.parse(of("data") ?? "{}").text);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#reading;
  }
}

Deno.test(
  "the streams of a node that was away for longer than the buffer are complete, or say gap",
  clusterPeers(),
  async () => {
    await using cluster = await Cluster.start({ config: { bridge: { buffer_size: BUFFER } } });
    const [a, c] = [cluster.node("a"), cluster.node("c")];
    const post = (text: string) => order(a, "POST /v1/channels/general/messages", { text });
    await using reader = new Reader(c, "general");
    await until(() => reader.opened > 0);
    await post("before");
    await until(() => reader.texts.includes("before"));
    Deno.kill(c.pid, "SIGSTOP");
    const texts = Array.from({ length: POSTS }, (_, index) => `post ${index}`);
    try {
      for (const text of texts) await post(text);
    } finally {
      Deno.kill(c.pid, "SIGCONT");
    }
    await post("after");
    await until(() => reader.texts.includes("after"));
    const missing = texts.filter((text) => !reader.texts.includes(text));
    assert.ok(missing.length === 0 || reader.gaps > 0, `${missing.length} are missing`);
    assert.equal(new Set(reader.texts).size, reader.texts.length);
  },
);
