import assert from "node:assert/strict";
import { MetricHistory, Registry } from "../../../../services/operation/metrics/mod.ts";
import { TestScheduler } from "../../../support/scheduler.ts";

function newHistory() {
  const registry = new Registry("test_");
  const scheduler = new TestScheduler();
  const requests = registry.counter({ name: "http_requests_total", help: "x", labels: ["route"] });
  const seconds = registry.histogram(
    { name: "http_request_duration_seconds", help: "x", labels: ["route"] },
    [0.1, 1],
  );
  const history = new MetricHistory({ registry, scheduler });
  history.start();
  return { scheduler, requests, seconds, history };
}

Deno.test("rates and quantiles are those between two samples, over all labels", () => {
  const { scheduler, requests, seconds, history } = newHistory();
  scheduler.advance(15_000);
  requests.add(10, "/a");
  requests.add(20, "/b");
  for (let count = 0; count < 90; count++) seconds.observe(0.05, "/a");
  for (let count = 0; count < 10; count++) seconds.observe(0.5, "/b");
  scheduler.advance(15_000);
  scheduler.advance(15_000);
  const rates = history.rates("http_requests_total").map(({ value }) => value);
  assert.deepEqual(rates.slice(-2), [2, 0]);
  const half = history.quantiles("http_request_duration_seconds", 0.5).map(({ value }) => value);
  assert.equal(half.at(-1), null);
  assert.ok(Math.abs((half.at(-2) ?? 0) - 0.1 * 50 / 90) < 1e-9);
  const most = history.quantiles("http_request_duration_seconds", 0.95).map(({ value }) => value);
  assert.ok(Math.abs((most.at(-2) ?? 0) - 0.55) < 1e-9);
  history.close();
});

Deno.test("observations beyond the last bound count as the bound", () => {
  const { scheduler, seconds, history } = newHistory();
  scheduler.advance(15_000);
  seconds.observe(30, "/a");
  scheduler.advance(15_000);
  const [last] = history.quantiles("http_request_duration_seconds", 0.99).slice(-1);
  assert.equal(last?.value, 1);
  history.close();
});

Deno.test("two hours are kept, and nothing is sampled after the end", () => {
  const { scheduler, history } = newHistory();
  for (let count = 0; count < 600; count++) scheduler.advance(15_000);
  assert.equal(history.values("http_requests_total").length, 480);
  history.close();
  const [last] = history.values("http_requests_total").slice(-1);
  scheduler.advance(60_000);
  assert.deepEqual(history.values("http_requests_total").slice(-1), [last]);
});
