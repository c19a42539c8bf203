import assert from "node:assert/strict";
import { type PartListener, SharedThread } from "../../../../services/kernel/threads/mod.ts";
import { remembering } from "./remembering.ts";

/** A worker that serves two such parts, on a thread of its own. */
function startWorker(started: Worker[]): Worker {
  const url = new URL("./remembering_worker.ts", import.meta.url);
  const worker = new Worker(url, { type: "module" });
  started.push(worker);
  return worker;
}

class Heard implements PartListener<string | null> {
  readonly #waiting: ((answer: string | null) => void)[] = [];
  readonly #answers: (string | null)[] = [];

  onMessage(message: string | null): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#answers.push(message);
    else waiting(message);
  }

  onError(reason: string): void {
    this.onMessage(`error: ${reason}`);
  }

  next(): Promise<string | null> {
    const answer = this.#answers.shift();
    if (answer !== undefined) return Promise.resolve(answer);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

Deno.test("parts answer on the calling thread until it is left, then each in the same worker", async () => {
  const started: Worker[] = [];
  const thread = new SharedThread({ one: remembering, two: remembering });
  const [one, two] = [new Heard(), new Heard()];
  const ports = [thread.open("one", one), thread.open("two", two)] as const;
  ports[0].post("a");
  ports[0].post("b");
  ports[1].post("x");
  assert.deepEqual([await one.next(), await one.next(), await two.next()], ["a", "a,b", "x"]);

  thread.leave(() => startWorker(started));
  assert.equal(started.length, 0, "nobody needs the worker yet");
  ports[0].post("c");
  assert.deepEqual([await one.next(), await one.next()], ["a", "a,c"], "opened again, as at first");
  ports[1].post("y");
  assert.deepEqual([await two.next(), await two.next()], ["x", "x,y"]);
  assert.equal(started.length, 1);

  for (const [port, heard] of [[ports[0], one], [ports[1], two]] as const) {
    port.post(null);
    assert.equal(await heard.next(), null);
    port.end();
  }
});

Deno.test("a part that was not used since closes without a worker", async () => {
  const thread = new SharedThread({ one: remembering });
  const one = new Heard();
  const port = thread.open("one", one);
  port.post("a");
  assert.equal(await one.next(), "a");
  thread.leave(() => assert.fail("no worker is needed"));
  port.post(null);
  assert.equal(await one.next(), null);
  port.end();
});

Deno.test("a broken worker is reported to each of its parts, and the next port gets another one", async () => {
  const started: Worker[] = [];
  const thread = new SharedThread({ one: remembering, two: remembering });
  thread.leave(() => startWorker(started));
  const [one, two] = [new Heard(), new Heard()];
  const broken = thread.open("one", one);
  thread.open("two", two).post("x");
  assert.equal(await two.next(), "x");
  broken.post("break");
  assert.match(await one.next() ?? "", /^error: .*broken/);
  assert.match(await two.next() ?? "", /^error: .*broken/);

  const again = thread.open("one", one);
  again.post("a");
  assert.equal(await one.next(), "a");
  assert.equal(started.length, 2);
  again.end();
});

Deno.test("a part that breaks on the calling thread is reported too", async () => {
  const thread = new SharedThread({ one: remembering });
  const one = new Heard();
  thread.open("one", one).post("break");
  assert.equal(await one.next(), "error: broken");
});
