/** The export of calls of models to OpenTelemetry, as a collector sees it. */
import assert from "node:assert/strict";
import { SpanExporter } from "../../../../services/operation/telemetry/exporter.ts";
import { otlpSchema } from "../../../../services/operation/telemetry/schemas.ts";
import { addressOfSpans, headersFrom } from "../../../../services/operation/telemetry/open.ts";
import type { LedgerEntry } from "../../../../services/models/ledger/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { FakeProvider, type SeenRequest } from "../../models/llm/support/provider.ts";
import { until } from "../../../support/until.ts";

const ENTRY: LedgerEntry = {
  report: null,
  backend: "main",
  provider: "gemini",
  address: "https://models.example.com/v1",
  model: "gemini-2.5-pro",
  responseModel: "gemini-2.5-pro-002",
  isUsualTier: true,
  streamed: true,
  outcome: "completed",
  error: null,
  tokens: { input: 20, output: 7, cached: 5, written: 3, writtenLong: null },
  guess: { input: 0, output: 0 },
  endedAt: 1_790_000_000_500,
  milliseconds: 500,
  spender: { key: "01A", name: "scout", type: "worker", isAgent: true },
  work: { projectId: "p", project: "demo", ticket: "ab".repeat(20) },
  cost: 95,
  estimate: { tokens: 0, cost: 0 },
};

interface SeenSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: object }[];
}

function spansOf({ body }: SeenRequest): readonly SeenSpan[] {
  const { resourceSpans } = body as {
    resourceSpans: [{ scopeSpans: [{ spans: SeenSpan[] }] }];
  };
  return resourceSpans[0].scopeSpans[0].spans;
}

function valuesOf({ attributes }: SeenSpan): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

/** A collector that answers with each of these in turn, and then with the last one again. */
class Collector implements AsyncDisposable {
  readonly server: FakeProvider;
  readonly #answers: (() => Response)[];
  #waiting: { readonly count: number; readonly resolve: () => void } | null = null;

  constructor(answers: (() => Response)[]) {
    this.#answers = answers;
    this.server = new FakeProvider(() => {
      const answer = this.#answers.length > 1 ? this.#answers.shift() : this.#answers[0];
      if (this.#waiting !== null && this.server.seen.length >= this.#waiting.count) {
        this.#waiting.resolve();
      }
      return (answer as () => Response)();
    });
  }

  /** Resolves when so many requests came in all. */
  async requests(count: number): Promise<void> {
    if (this.server.seen.length >= count) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting = { count, resolve };
    await promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
  }
}

const ok = () => Response.json({});
const busyFor = (retryAfter: string) =>
  new Response("later", { status: 503, headers: { "retry-after": retryAfter } });
const busy = () => busyFor("30");

function exporterTo({ server }: Collector, scheduler = new TestScheduler(), random = () => 1) {
  const exporter = new SpanExporter({
    url: addressOfSpans(`${server.url}/otel/`),
    headers: headersFrom("authorization=Bearer%20k-123, x-team=a") ?? new Headers(),
    scheduler,
    random,
    log: silentLog,
  });
  return { exporter, scheduler };
}

/** Lets what follows an answer happen: until a timer is set. */
async function untilScheduled(scheduler: TestScheduler): Promise<void> {
  await until(() => scheduler.pending > 0);
}

Deno.test("a call is a span with the names of the conventions, and none of its texts", async () => {
  await using collector = new Collector([ok]);
  const { exporter, scheduler } = exporterTo(collector);
  exporter.add(ENTRY);
  exporter.add({
    ...ENTRY,
    provider: "openai",
    model: null,
    responseModel: null,
    outcome: "failed",
    error: "UpstreamFailed",
    tokens: { input: null, output: null, cached: null, written: null, writtenLong: null },
    cost: null,
    work: null,
    spender: { key: "bot:oracle", name: "oracle", type: "", isAgent: false },
  });
  assert.equal(collector.server.seen.length, 0, "they are gathered");
  scheduler.advance(5000);
  await collector.requests(1);
  const { path, headers } = collector.server.only;
  assert.equal(path, "/otel/v1/traces");
  assert.equal(headers.get("content-type"), "application/json");
  assert.deepEqual([headers.get("authorization"), headers.get("x-team")], ["Bearer k-123", "a"]);
  const [first, second] = spansOf(collector.server.only) as [SeenSpan, SeenSpan];
  assert.match(first.traceId, /^[0-9a-f]{32}$/);
  assert.match(first.spanId, /^[0-9a-f]{16}$/);
  assert.notEqual(first.traceId, second.traceId);
  assert.deepEqual(
    [first.name, first.kind, first.startTimeUnixNano, first.endTimeUnixNano, first.status],
    ["chat gemini-2.5-pro", 3, "1790000000000000000", "1790000000500000000", {}],
  );
  assert.deepEqual(valuesOf(first), {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "gcp.gemini",
    "gen_ai.request.model": "gemini-2.5-pro",
    "gen_ai.request.stream": true,
    "gen_ai.response.model": "gemini-2.5-pro-002",
    "gen_ai.usage.input_tokens": "20",
    "gen_ai.usage.output_tokens": "7",
    "gen_ai.usage.cache_read.input_tokens": "5",
    "gen_ai.usage.cache_creation.input_tokens": "3",
    "gen_ai.agent.name": "scout",
    "server.address": "models.example.com",
    "server.port": "443",
    "muster.caller": "scout",
    "muster.backend": "main",
    "muster.outcome": "completed",
    "muster.project": "demo",
    "muster.ticket": "ab".repeat(20),
    "muster.cost_micro_usd": "95",
  });
  assert.deepEqual([second.name, second.status], ["chat", { code: 2 }]);
  assert.deepEqual(valuesOf(second), {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "openai",
    "gen_ai.request.stream": true,
    "server.address": "models.example.com",
    "server.port": "443",
    "error.type": "UpstreamFailed",
    "muster.caller": "oracle",
    "muster.backend": "main",
    "muster.outcome": "failed",
  });
  await exporter.close();
  assert.deepEqual(exporter.stats(), { sent: 2, lost: 0 });
});

Deno.test("a busy collector is asked again when it wishes, with the same calls", async () => {
  await using collector = new Collector([busy, ok]);
  const { exporter, scheduler } = exporterTo(collector);
  exporter.add(ENTRY);
  scheduler.advance(5000);
  await collector.requests(1);
  await untilScheduled(scheduler);
  scheduler.advance(29_000);
  assert.equal(collector.server.seen.length, 1);
  scheduler.advance(1000);
  await collector.requests(2);
  await exporter.close();
  const [first, second] = collector.server.seen.map((request) => spansOf(request)[0]?.spanId);
  assert.equal(first, second);
  assert.deepEqual(exporter.stats(), { sent: 1, lost: 0 });
});

Deno.test("a collector's wish counts as a date too, and up to ten minutes", async () => {
  const scheduler = new TestScheduler();
  const inFourMinutes = () => new Date(scheduler.now() + 240_000).toUTCString();
  await using collector = new Collector([
    () => busyFor(inFourMinutes()),
    () => busyFor("3600"),
    () => busyFor("soon"),
    ok,
  ]);
  const { exporter } = exporterTo(collector, scheduler, () => 0);
  scheduler.advance(1000 - scheduler.now() % 1000);
  exporter.add(ENTRY);
  // Without a wish that it can read, the third attempt waits at least half of four seconds.
  const waits = [5000, 240_000, 600_000, 2000];
  for (const [attempt, wait] of waits.entries()) {
    await untilScheduled(scheduler);
    scheduler.advance(wait - 1);
    assert.equal(collector.server.seen.length, attempt);
    scheduler.advance(1);
    await collector.requests(attempt + 1);
  }
  await exporter.close();
  assert.deepEqual(exporter.stats(), { sent: 1, lost: 0 });
});

Deno.test("a collector that fails for long loses batches, and is still asked as it wishes", async () => {
  await using collector = new Collector([...Array(11).fill(() => busyFor("600")), ok]);
  const { exporter, scheduler } = exporterTo(collector);
  for (let call = 0; call < 1100; call++) exporter.add(ENTRY);
  scheduler.advance(5000);
  for (let attempt = 1; attempt < 12; attempt++) {
    await collector.requests(attempt);
    await untilScheduled(scheduler);
    scheduler.advance(599_999);
    assert.equal(collector.server.seen.length, attempt);
    scheduler.advance(1);
  }
  await collector.requests(12);
  await exporter.close();
  assert.deepEqual(exporter.stats(), { sent: 588, lost: 512 });
});

Deno.test("calls that a collector took are not sent again because its answer breaks off", async () => {
  const broken = () =>
    new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
      pull: () => Promise.reject(new Error("The collector ended")),
    });
  await using collector = new Collector([() => new Response(broken())]);
  const { exporter, scheduler } = exporterTo(collector);
  exporter.add(ENTRY);
  scheduler.advance(5000);
  await collector.requests(1);
  await exporter.close();
  assert.equal(collector.server.seen.length, 1);
  assert.deepEqual(exporter.stats(), { sent: 1, lost: 0 });
});

Deno.test("what a collector refuses is lost and counted, also in part", async () => {
  await using collector = new Collector([
    () => new Response("no", { status: 400 }),
    () => Response.redirect("http://127.0.0.1:9/elsewhere"),
    () => Response.json({ partialSuccess: { rejectedSpans: "1", errorMessage: "x" } }),
  ]);
  const { exporter, scheduler } = exporterTo(collector);
  for (const [calls, requests] of [[2, 1], [1, 2], [3, 3]] as const) {
    for (let call = 0; call < calls; call++) exporter.add(ENTRY);
    scheduler.advance(5000);
    await collector.requests(requests);
    if (requests < 3) {
      const settled = requests === 1 ? 2 : 3;
      await until(() => exporter.stats().lost >= settled);
    }
  }
  await exporter.close();
  assert.deepEqual(exporter.stats(), { sent: 2, lost: 4 });
});

Deno.test("the queue is bounded, and the end of the program sends what waits in batches", async () => {
  await using collector = new Collector([ok]);
  const { exporter, scheduler } = exporterTo(collector);
  for (let call = 0; call < 2100; call++) exporter.add(ENTRY);
  assert.deepEqual(exporter.stats(), { sent: 0, lost: 52 });
  assert.equal(scheduler.pending, 1);
  await exporter.close();
  assert.equal(collector.server.seen.length, 4);
  assert.deepEqual(exporter.stats(), { sent: 2048, lost: 52 });
  exporter.add(ENTRY);
  assert.deepEqual(exporter.stats(), { sent: 2048, lost: 53 });
});

Deno.test("an unreachable collector keeps nothing waiting at the end", async () => {
  await using collector = new Collector([busy]);
  const { exporter } = exporterTo(collector);
  exporter.add(ENTRY);
  await exporter.close();
  assert.deepEqual(exporter.stats(), { sent: 0, lost: 1 });
  assert.equal(collector.server.seen.length, 1);
});

Deno.test("addresses and headers of a configuration", () => {
  for (
    const [endpoint, path] of [
      ["http://localhost:4318", "/v1/traces"],
      ["https://a.example/otlp/", "/otlp/v1/traces"],
      ["https://a.example/v1/traces", "/v1/traces"],
    ] as const
  ) {
    assert.equal(addressOfSpans(endpoint).pathname, path);
    assert.equal(otlpSchema.parse({ endpoint }).endpoint, endpoint);
  }
  for (const endpoint of ["localhost:4318", "ftp://a", "http://u:p@a", "http://a/?key=1"]) {
    assert.equal(otlpSchema.safeParse({ endpoint }).success, false, endpoint);
  }
  assert.deepEqual([...headersFrom("") ?? ["none"]], []);
  assert.deepEqual([...headersFrom("a=b=c,d=") ?? []], [["a", "b=c"], ["d", ""]]);
  for (const text of ["a", "a b=c", "a=%zz", "a=b%0ac"]) {
    assert.equal(headersFrom(text), null, text);
  }
});
