/** The rules and the dashboard in `deploy/prometheus`, with the metrics of the real program. */
import assert from "node:assert/strict";
import { peer } from "../support/peers.ts";
import { startProgram } from "../support/program.ts";
import { runWith } from "../support/running.ts";

const FOLDER = new URL("../../deploy/prometheus/", import.meta.url);

/** Runs promtool in the folder of the rules, with a text on standard input. */
async function promtool(args: readonly string[], input = ""): Promise<string> {
  const { code, stdout, stderr } = await runWith("promtool", args, input, { cwd: FOLDER });
  assert.equal(code, 0, stdout + stderr);
  return stdout + stderr;
}

/** The names of muster's metrics in a text, without what a histogram adds. */
function namesIn(text: string): Set<string> {
  const names = text.match(/\bmuster_[a-z_]+/g) ?? [];
  return new Set(names.map((name) => name.replace(/_(?:bucket|sum|count)$/, "")));
}

Deno.test(
  "promtool takes the metrics and the rules, and what rules and panels name exists",
  peer("promtool"),
  async () => {
    await using program = await startProgram();
    const response = await fetch(`${program.api}/v1/metrics`, {
      headers: { authorization: `Bearer ${program.token}` },
    });
    const metrics = await response.text();
    assert.equal(await promtool(["check", "metrics"], metrics), "");
    await promtool(["check", "rules", "alerts.yml"]);
    await promtool(["test", "rules", "alerts_test.yml"]);
    const known = new Set(Array.from(metrics.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name));
    for (const file of ["alerts.yml", "alerts_test.yml", "grafana.json"]) {
      const text = await Deno.readTextFile(new URL(file, FOLDER));
      const named = namesIn(text);
      assert.ok(named.size > 3, file);
      assert.deepEqual([...named].filter((name) => !known.has(name)), [], file);
    }
    const dashboard = JSON.parse(await Deno.readTextFile(new URL("grafana.json", FOLDER)));
    const ids = dashboard.panels.map(({ id }: { id: number }) => id);
    assert.equal(new Set(ids).size, ids.length);
  },
);
