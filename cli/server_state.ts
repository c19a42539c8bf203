import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { CommandOptions } from "./options.ts";
import { print, printFields, printJson } from "./output.ts";

/** `muster health`. */
export async function health(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options, { token: false });
  await client.call("GET", "/readyz", z.object({ status: z.string() }));
  print("ok");
}

const statusSchema = z.looseObject({
  status: z.string(),
  uptime: z.string(),
  agents: z.number(),
  started: z.string(),
  agents_halted: z.number().default(0),
});

/** `muster status`. */
export async function status(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const report = await client.call("GET", "/v1/status", statusSchema);
  if (options.json === true) return printJson(report);
  const halted = report.agents_halted;
  printFields([
    ["status", report.status],
    ["server", client.url],
    ["started", report.started],
    ["uptime", report.uptime],
    ["agents", String(report.agents)],
    ...(halted === 0 ? [] : [haltedField(halted)]),
  ]);
}

function haltedField(count: number): [string, string] {
  return ["halted", `${count === 1 ? "1 agent" : `${count} agents`}: "muster resume" ends it`];
}
