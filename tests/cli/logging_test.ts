import assert from "node:assert/strict";
import { LineWriter, Logging } from "../../cli/logging.ts";
import { recordAnswer } from "../../http/mod.ts";
import type { Config } from "../../services/operation/config/mod.ts";
import { Forbidden } from "../../services/kernel/errors.ts";
import { TestMetrics } from "../support/metrics.ts";
import { TestScheduler } from "../support/scheduler.ts";

/** What a log writes, on a stream that is a terminal or not. */
class Lines {
  text = "";
  readonly #isTerminal: boolean;

  constructor(isTerminal = false) {
    this.#isTerminal = isTerminal;
  }

  isTerminal(): boolean {
    return this.#isTerminal;
  }

  write(bytes: Uint8Array): Promise<number> {
    this.text += new TextDecoder().decode(bytes);
    return Promise.resolve(bytes.length);
  }

  get records(): Record<string, unknown>[] {
    return this.text.trimEnd().split("\n").map((line) => JSON.parse(line));
  }
}

Deno.test("the access log has its fields in their order, one line per request", async () => {
  const lines = new Lines();
  const log = new Logging({ level: "info", format: "auto", requests: "auto" }, lines);
  recordAnswer({ log, metrics: new TestMetrics() }, {
    method: "GET",
    route: "/v1/status",
    status: 200,
    milliseconds: 1.26,
    requestId: "some-id",
    principal: undefined,
    address: "192.0.2.1",
  });
  await log.flush();
  const [line = {}] = lines.records;
  const { "@timestamp": time, ...rest } = line;
  assert.match(String(time), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(Object.entries(rest), [
    ["level", "INFO"],
    ["message", "Request"],
    ["logger", "muster"],
    ["method", "GET"],
    ["route", "/v1/status"],
    ["status", 200],
    ["ms", 1.3],
    ["requestId", "some-id"],
    ["principal", null],
    ["address", "192.0.2.1"],
  ]);
  assert.equal(Object.keys(line)[0], "@timestamp");
});

Deno.test("a line is the same JSON whatever its values are", async () => {
  const plain = { text: "~ /v1/{nick} [x]", number: 1.5, minus: -3, no: false, nothing: null };
  const awkward: readonly Record<string, unknown>[] = [
    { text: 'a "word"' },
    { text: "back\\slash" },
    { text: "line\nbreak" },
    { text: "naïve 😀 \ud800" },
    { 'a "name"': 1 },
    { number: NaN, other: -Infinity },
    { absent: undefined },
    { level: "mine", message: "another", logger: "x", "@timestamp": "y" },
    { list: [1, "two"], object: { deep: { deeper: true } } },
  ];
  const lines = new Lines();
  const log = new Logging({ level: "debug", format: "json", requests: "auto" }, lines);
  for (const properties of awkward) {
    log.info("Request", plain);
    log.info("Request", { ...plain, ...properties });
    log.info('The "message"', properties);
  }
  await log.flush();
  const common = { "@timestamp": "", level: "INFO", message: "Request", logger: "muster" };
  const expected = awkward.flatMap((properties) => [
    { ...common, ...plain },
    { ...common, ...plain, ...properties },
    { ...common, message: 'The "message"', ...properties },
  ]);
  assert.deepEqual(
    lines.text.trimEnd().split("\n").map((line) => line.replace(/(?<="@timestamp":")\d[^"]+/, "")),
    expected.map((record) => JSON.stringify(record)),
  );
});

Deno.test("a line has the values and the time of its call, though it is written later", async () => {
  const lines = new Lines();
  const log = new Logging({ level: "info", format: "json", requests: "auto" }, lines);
  const list = ["first"];
  const before = Date.now();
  log.info("Changing", { list });
  log.info("Plain", { number: 1 });
  const after = Date.now();
  list.push("second");
  log.reconfigure({ level: "error", format: "text", requests: "auto" });
  await log.flush();
  const [changing, plain] = lines.records;
  assert.deepEqual(changing?.["list"], ["first"]);
  assert.equal(plain?.["number"], 1);
  for (const { "@timestamp": time } of lines.records) {
    assert.ok(Date.parse(String(time)) >= before && Date.parse(String(time)) <= after);
  }
});

Deno.test("lines keep their order, whatever their level, and flush loses none", async () => {
  const lines = new Lines();
  const log = new Logging({ level: "debug", format: "json", requests: "auto" }, lines);
  for (let round = 0; round < 100; round++) {
    log.info("Request", { round });
    log.error("Trouble", { round });
    log.debug("Detail", { round });
    log.warn("Warning", { round });
  }
  await log.flush();
  assert.deepEqual(
    lines.records.map(({ level, round }) => `${level} ${round}`),
    Array.from({ length: 100 }, (_, round) => [
      ...[`INFO ${round}`, `ERROR ${round}`, `DEBUG ${round}`, `WARN ${round}`],
    ]).flat(),
  );
});

Deno.test("an error is logged with its cause, and a value that JSON lacks does no harm", async () => {
  const lines = new Lines();
  const log = new Logging({ level: "info", format: "json", requests: "auto" }, lines);
  const circle: Record<string, unknown> = { name: "round", big: 10n };
  circle["self"] = circle;
  const error = new Forbidden("Not you", { cause: new Error("Because") });
  log.error("Failed", { error, circle, twice: [circle["big"], circle["big"]] });
  log.info("Esc\u009b", { nothing: undefined, text: "a\nb\u007f" });
  await log.flush();
  assert.doesNotMatch(lines.text, /[\u007f-\u009f]/);
  const [failed, escaped] = lines.records;
  const shown = failed?.["error"] as Record<string, unknown>;
  assert.deepEqual([shown["name"], shown["message"]], [error.name, "Not you"]);
  assert.match(String(shown["stack"]), /logging_test/);
  assert.equal((shown["cause"] as Record<string, unknown>)["message"], "Because");
  assert.deepEqual(failed?.["circle"], { name: "round", big: "10", self: "[Circular]" });
  assert.deepEqual(failed?.["twice"], ["10", "10"]);
  assert.equal(escaped?.["message"], "Esc\u009b");
  assert.equal(escaped?.["text"], "a\nb\u007f");
  assert.ok(!("nothing" in (escaped ?? {})));
});

Deno.test("a terminal shows lines for people, and new settings apply to later lines", async () => {
  const lines = new Lines(true);
  const log = new Logging({ level: "warning", format: "auto", requests: "auto" }, lines);
  log.info("Hidden");
  log.warn("Shown", { key: "value", count: 2 });
  log.reconfigure({ level: "debug", format: "auto", requests: "auto" });
  log.debug("Also shown");
  await log.flush();
  const [first = "", second = "", ...rest] = lines.text.trimEnd().split("\n");
  assert.match(first, /^\d\d:\d\d:\d\d\.\d{3} warning Shown key="value" count=2$/);
  assert.match(second, /^\d\d:\d\d:\d\d\.\d{3} debug {3}Also shown$/);
  assert.deepEqual(rest, []);
});

Deno.test("no text of a log line commands the terminal", async () => {
  for (const format of ["json", "text"] as const) {
    const lines = new Lines(true);
    const log = new Logging({ level: "info", format, requests: "auto" }, lines);
    log.warn("Refused", { nick: "\x9b2J\x1b[2J", error: new Error("\x1b]0;title\x07 \x7f\x85") });
    await log.flush();
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(lines.text, /[\0-\x08\x0b-\x1f\x7f-\x9f]/);
    assert.match(lines.text, /\\u009b2J/);
    assert.match(lines.text, /\\u001b\]0;title/);
  }
});

Deno.test("requests are logged at their level as JSON, at debug as text, always or never", async () => {
  const properties = { method: "GET", route: "/v1/status" };
  const written = async (settings: Config["log"]) => {
    const lines = new Lines();
    const log = new Logging(settings, lines);
    log.request("info", properties);
    await log.flush();
    return lines.text.includes("/v1/status");
  };
  const cases = [
    ["info", "json", "auto", true],
    ["info", "text", "auto", false],
    ["debug", "text", "auto", true],
    ["info", "text", "on", true],
    ["warning", "text", "on", false],
    ["debug", "json", "off", false],
  ] as const;
  for (const [level, format, requests, isWritten] of cases) {
    assert.equal(
      await written({ level, format, requests }),
      isWritten,
      `${level} ${format} ${requests}`,
    );
  }
});

/** A stream whose reader takes what it is given only when it is let. */
class SlowStream {
  text = "";
  #taking = Promise.withResolvers<void>();

  async write(bytes: Uint8Array): Promise<number> {
    await this.#taking.promise;
    const taken = bytes.subarray(0, 7);
    this.text += new TextDecoder().decode(taken);
    return taken.length;
  }

  readOn(): void {
    this.#taking.resolve();
  }
}

Deno.test("LineWriter writes every line in order, whole, without making its caller wait", async () => {
  const stream = new SlowStream();
  const writer = new LineWriter(stream);
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index}`);
  for (const line of lines) writer.write(line);
  assert.equal(stream.text, "");
  stream.readOn();
  await writer.flush();
  assert.equal(stream.text, lines.map((line) => `${line}\n`).join(""));
});

Deno.test("LineWriter drops and counts lines that do not fit while nobody reads", async () => {
  const stream = new SlowStream();
  const writer = new LineWriter(stream);
  // The stream has the first thousand at once, and ten thousand wait.
  for (let count = 0; count < 11_101; count++) writer.write("x");
  stream.readOn();
  await writer.flush();
  assert.match(stream.text, /^(x\n){11000}\(101 lines of the log were dropped here\)\n$/);
});

Deno.test("LineWriter outlives a reader that is gone", async () => {
  const writer = new LineWriter({ write: () => Promise.reject(new Deno.errors.BrokenPipe()) });
  writer.write("x");
  await writer.flush();
  writer.write("y");
  await writer.flush();
});

Deno.test("LineWriter writes lines that come together at once", async () => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const writer = new LineWriter({
    write: (bytes) => {
      resolve(new TextDecoder().decode(bytes));
      return Promise.resolve(bytes.length);
    },
  });
  for (const line of ["one", "two", "three"]) writer.write(line);
  assert.equal(await promise, "one\ntwo\nthree\n");
  await writer.flush();
});

Deno.test("LineWriter does not gather more than a thousand lines", async () => {
  const writes: number[] = [];
  const stream = {
    write: (bytes: Uint8Array) => {
      writes.push(bytes.length);
      return Promise.resolve(bytes.length);
    },
  };
  const writer = new LineWriter(stream, new TestScheduler());
  for (let count = 0; count < 999; count++) writer.write("x");
  assert.deepEqual(writes, []);
  writer.write("x");
  assert.deepEqual(writes, [2000]);
  await writer.flush();
});

Deno.test("LineWriter makes lines when it writes them, in the order in which they came", async () => {
  const stream = new SlowStream();
  const writer = new LineWriter(stream);
  let made = 0;
  for (let line = 0; line < 9; line++) {
    writer.write(line % 2 === 0 ? `${line}` : () => `${line} ${made++}`);
  }
  assert.equal(made, 0);
  stream.readOn();
  await writer.flush();
  assert.equal(stream.text, "0\n1 0\n2\n3 1\n4\n5 2\n6\n7 3\n8\n");
});

Deno.test("LineWriter writes lines that come during a write after it, and flush waits for them", async () => {
  const stream = new SlowStream();
  const writer = new LineWriter(stream);
  writer.write("one");
  const flushed = writer.flush();
  writer.write("two");
  stream.readOn();
  await flushed;
  assert.equal(stream.text, "one\ntwo\n");
});

Deno.test("LineWriter gathers longer while lines keep coming, but never for an urgent line", async () => {
  const time = new TestScheduler();
  const writes: number[] = [];
  const stream = {
    write: (bytes: Uint8Array) => {
      writes.push(time.now());
      return Promise.resolve(bytes.length);
    },
  };
  const writer = new LineWriter(stream, time);
  const startedAt = time.now();
  const write = async (isUrgent = false) => {
    writer.write("x", isUrgent);
    time.advance(10);
    await new Promise((resolve) => setTimeout(resolve));
  };
  for (let line = 0; line < 400; line++) await write();
  const pauses = writes.slice(1).map((at, index) => at - (writes[index] ?? 0));
  assert.equal(writes[0], startedAt + 20);
  assert.ok((pauses[0] ?? 0) <= 40, `${pauses}`);
  assert.equal(Math.max(...pauses), 1000);
  const count = writes.length;
  await write();
  await write(true);
  await write();
  assert.equal(writes.length, count + 1, "the urgent line waits for 20 ms");
  time.advance(2000);
  await writer.flush();
  writer.write("x");
  time.advance(20);
  assert.ok(time.now() - (writes.at(-1) ?? 0) < 20, "a line after a quiet time");
});
