import assert from "node:assert/strict";
import { formatPeerTable, formatResult } from "../../bench/report.ts";

const RESULT = {
  scenario: "peers-status",
  description: "CPU per request",
  server: "muster",
  figures: [
    {
      name: "GET",
      value: 213,
      unit: "µs",
      aim: 55,
      peers: [{ name: "ScuttleBot", value: 71 }, { name: "Deno.serve", value: 14.2 }],
    },
    {
      name: "send",
      value: 50,
      unit: "µs",
      aim: 60,
      peers: [{ name: "ScuttleBot", problem: "not available" }],
    },
  ],
};

Deno.test("the table of peers has a row per figure, with the ratio to each peer", () => {
  const other = {
    ...RESULT,
    scenario: "start",
    figures: [{ name: "start", value: 1, unit: "ms" }],
  };
  assert.equal(
    formatPeerTable([other, RESULT]),
    [
      "|  | muster | ScuttleBot | Deno.serve | aim |",
      "| --- | --- | --- | --- | --- |",
      "| GET, µs | 213 | 71.00 (3.00) | 14.20 (15.00) | 55 |",
      "| send, µs | 50.00 | failed |  | 60 |",
    ].join("\n"),
  );
  assert.equal(formatPeerTable([other]), "");
});

Deno.test("a figure shows its peers' values, or why one has none", () => {
  const text = formatResult(RESULT);
  assert.match(
    text,
    /aim ≤ 55: MISSED; ScuttleBot 71\.00, ratio 3\.00; Deno\.serve 14\.20, ratio 15\.00/,
  );
  assert.match(text, /aim ≤ 60: met; ScuttleBot failed: not available/);
});
