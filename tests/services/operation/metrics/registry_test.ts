import assert from "node:assert/strict";
import { Registry } from "../../../../services/operation/metrics/mod.ts";

/** The lines of a text that end in a line break, as every line must. */
function linesOf(text: string): string[] {
  assert.ok(text.endsWith("\n"));
  return text.slice(0, -1).split("\n");
}

Deno.test("a counter keeps a sum for each combination of its labels' values", () => {
  const registry = new Registry("test_");
  const counter = registry.counter({ name: "hits_total", help: "Hits", labels: ["a", "b"] });
  counter.add(1, "x", "y");
  counter.add(2, "x", "y");
  counter.add(1, "xy", "");
  assert.deepEqual(linesOf(registry.render()), [
    "# HELP test_hits_total Hits",
    "# TYPE test_hits_total counter",
    'test_hits_total{a="x",b="y"} 3',
    'test_hits_total{a="xy",b=""} 1',
  ]);
});

Deno.test("a histogram counts a value in every bucket with a bound not below it", () => {
  const registry = new Registry("test_");
  const histogram = registry.histogram({ name: "seconds", help: "Time" }, [0.5, 1]);
  for (const value of [0.5, 0.75, 3]) histogram.observe(value);
  assert.deepEqual(linesOf(registry.render()), [
    "# HELP test_seconds Time",
    "# TYPE test_seconds histogram",
    'test_seconds_bucket{le="0.5"} 1',
    'test_seconds_bucket{le="1"} 2',
    'test_seconds_bucket{le="+Inf"} 3',
    "test_seconds_sum 4.25",
    "test_seconds_count 3",
  ]);
});

Deno.test("a sampled metric is read on request", () => {
  const registry = new Registry("test_");
  let clients = 1;
  registry.sampled("gauge", { name: "clients", help: "Clients" }, () => clients);
  registry.sampled(
    "gauge",
    { name: "agents", help: "Agents", labels: ["state"] },
    () => [{ labels: ["active"], value: 2 }, { labels: ["revoked"], value: 0 }],
  );
  clients = 7;
  assert.deepEqual(linesOf(registry.render()), [
    "# HELP test_clients Clients",
    "# TYPE test_clients gauge",
    "test_clients 7",
    "# HELP test_agents Agents",
    "# TYPE test_agents gauge",
    'test_agents{state="active"} 2',
    'test_agents{state="revoked"} 0',
  ]);
});

Deno.test("a distribution that is kept elsewhere is written as a histogram", () => {
  const registry = new Registry("test_");
  const head = { name: "call_seconds", help: "Calls", labels: ["backend"] };
  registry.sampledHistogram(head, [1], () => [{ labels: ["main"], buckets: [2, 3], sum: 4 }]);
  assert.deepEqual(linesOf(registry.render()).slice(2), [
    'test_call_seconds_bucket{backend="main",le="1"} 2',
    'test_call_seconds_bucket{backend="main",le="+Inf"} 3',
    'test_call_seconds_sum{backend="main"} 4',
    'test_call_seconds_count{backend="main"} 3',
  ]);
});

Deno.test("texts are escaped, so that no value can end its line or its quotes", () => {
  const registry = new Registry("test_");
  const description = { name: "odd_total", help: 'one\\two\n"three"', labels: ["text"] };
  registry.counter(description).add(1, 'a\\b\n"c"');
  assert.deepEqual(linesOf(registry.render()), [
    '# HELP test_odd_total one\\\\two\\n"three"',
    "# TYPE test_odd_total counter",
    'test_odd_total{text="a\\\\b\\n\\"c\\""} 1',
  ]);
});

Deno.test("label values without end are counted together", () => {
  const registry = new Registry("test_");
  const counter = registry.counter({ name: "hits_total", help: "Hits", labels: ["name"] });
  for (let index = 0; index < 20_000; index++) counter.add(1, `name ${index}`);
  const samples = linesOf(registry.render()).slice(2);
  assert.ok(samples.length < 10_000);
  const total = samples.reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
  assert.equal(total, 20_000);
});
