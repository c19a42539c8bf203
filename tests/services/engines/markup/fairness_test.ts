/** Projects share one worker: none can hold up the others for long. */
import assert from "node:assert/strict";
import type { ToWorker, WorkerPort } from "../../../../services/kernel/worker_pool.ts";
import { Markup } from "../../../../services/engines/markup/mod.ts";
import { TestScheduler } from "../../../support/scheduler.ts";

interface Request {
  readonly text: string;
}

/** The markup of projects, with workers that answer when the test says so. */
class Bench {
  readonly scheduler = new TestScheduler();
  /** Texts in the order in which workers got them. */
  readonly seen: string[] = [];
  workers = 0;
  #worker: WorkerPort | null = null;
  #request: Request | null = null;
  /** The part of a core that the program gets. */
  share = 1;
  readonly markup = new Markup({
    scheduler: this.scheduler,
    limitMs: 2000,
    computed: () => this.scheduler.now() * this.share,
    startWorker: () => this.#start(),
  });

  render(project: string, text: string): Promise<string> {
    const links = { base: `/projects/${project}`, known: {} };
    return this.markup.render({ text, mimetype: "text/x-markdown", links });
  }

  /** Answers with `<b>TEXT</b>` after so many milliseconds. */
  answer(afterMs = 0): void {
    this.scheduler.advance(afterMs);
    assert.ok(this.#request !== null);
    this.#send({ kind: "answer", answer: `<b>${this.#request.text}</b>` });
  }

  /** Answers until nothing waits. */
  answerAll(): void {
    for (let last: Request | null = null; this.#request !== last;) {
      last = this.#request;
      this.answer();
    }
  }

  #start(): WorkerPort {
    this.workers++;
    const worker: WorkerPort = {
      onmessage: null,
      onerror: null,
      postMessage: (message: ToWorker) => {
        if (message.kind !== "call") return;
        this.#request = message.request as Request;
        this.seen.push(this.#request.text);
      },
      terminate: () => {},
    };
    this.#worker = worker;
    queueMicrotask(() => this.#send({ kind: "ready" }));
    return worker;
  }

  #send(data: unknown): void {
    const worker = this.#worker;
    assert.ok(worker !== null);
    worker.onmessage?.call(worker as Worker, new MessageEvent("message", { data }));
  }
}

const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `${name}${index}`);

Deno.test("the texts of a project do not wait for those of a busier one", async () => {
  const bench = new Bench();
  const many = numbered("a", 4).map((text) => bench.render("busy", text));
  const few = numbered("b", 2).map((text) => bench.render("other", text));
  await Promise.resolve();
  bench.answer(1000);
  bench.answerAll();
  assert.deepEqual(bench.seen, ["a0", "b0", "b1", "a1", "a2", "a3"]);
  assert.deepEqual(await Promise.all(few), ["<b>b0</b>", "<b>b1</b>"]);
  assert.equal((await Promise.all(many)).length, 4);
  bench.markup.close();
});

Deno.test("a project whose texts wait in large numbers leaves room for others", async () => {
  const bench = new Bench();
  const many = numbered("a", 300).map((text) => bench.render("busy", text));
  const other = bench.render("other", "b");
  await Promise.resolve();
  bench.answerAll();
  assert.equal(await other, "<b>b</b>");
  assert.equal((await Promise.all(many)).filter((html) => html.startsWith("<pre>")).length, 100);
  bench.markup.close();
});

Deno.test("a project whose texts take too long is shown as plain text for a while, others are not", async () => {
  const bench = new Bench();
  const slow = numbered("slow", 8).map((text) => bench.render("busy", text));
  await Promise.resolve();
  for (let i = 0; i < 6; i++) {
    bench.scheduler.advance(2000);
    await Promise.resolve();
  }
  assert.deepEqual(
    await Promise.all(slow),
    numbered("slow", 8).map((text) => `<pre>${text}</pre>`),
  );
  assert.deepEqual(bench.seen, numbered("slow", 6));
  assert.equal(await bench.render("busy", "fine"), "<pre>fine</pre>");
  const other = bench.render("other", "b");
  await Promise.resolve();
  bench.answer();
  assert.equal(await other, "<b>b</b>");
  bench.scheduler.advance(60_000);
  const later = bench.render("busy", "fine");
  await Promise.resolve();
  bench.answer();
  assert.equal(await later, "<b>fine</b>");
  bench.markup.close();
});

Deno.test("a text that took too long is not tried again for a minute, except in other projects", async () => {
  const bench = new Bench();
  const twice = [bench.render("one", "slow"), bench.render("one", "slow")];
  await Promise.resolve();
  bench.scheduler.advance(2000);
  assert.deepEqual(await Promise.all(twice), ["<pre>slow</pre>", "<pre>slow</pre>"]);
  assert.equal(await bench.render("one", "slow"), "<pre>slow</pre>");
  assert.deepEqual(bench.seen, ["slow"]);
  const elsewhere = bench.render("two", "slow");
  await Promise.resolve();
  bench.answer();
  assert.equal(await elsewhere, "<b>slow</b>");
  assert.equal(bench.workers, 2);
  bench.scheduler.advance(59_999);
  assert.equal(await bench.render("one", "slow"), "<pre>slow</pre>");
  bench.scheduler.advance(1);
  const again = bench.render("one", "slow");
  await Promise.resolve();
  bench.answer();
  assert.equal(await again, "<b>slow</b>");
  bench.markup.close();
});

Deno.test("on a busy machine, a text has as much time to compute, and its project pays for no more", async () => {
  const bench = new Bench();
  bench.share = 0.01;
  for (const text of numbered("a", 10)) {
    const html = bench.render("one", text);
    await Promise.resolve();
    for (let seconds = 0; seconds < 20; seconds++) bench.scheduler.advance(1000);
    bench.answer();
    assert.equal(await html, `<b>${text}</b>`);
  }
  const never = bench.render("one", "b");
  await Promise.resolve();
  for (let seconds = 0; seconds < 23; seconds++) bench.scheduler.advance(1000);
  assert.equal(await never, "<pre>b</pre>");
  bench.markup.close();
});
