import { z } from "zod";
import { ApiClient } from "./client.ts";
import { type Endpoints, readEndpoints } from "./endpoints.ts";
import type { CommandOptions } from "./options.ts";
import { print, printFields, printJson } from "./output.ts";
import { readClientSettings } from "./settings.ts";

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
  const { pages } = await endpointsOf(client, options) ?? {};
  printFields([
    ["status", report.status],
    ["server", client.url],
    ...(pages === undefined ? [] : [["pages", pages] as const]),
    ["started", report.started],
    ["uptime", report.uptime],
    ["agents", String(report.agents)],
    ...(halted === 0 ? [] : [haltedField(halted)]),
  ]);
}

/** The addresses of the server, if it is that of the data folder; else null. */
async function endpointsOf({ url }: ApiClient, options: CommandOptions): Promise<Endpoints | null> {
  const { data_dir } = await readClientSettings(options);
  const endpoints = await readEndpoints(data_dir);
  return endpoints?.api === url ? endpoints : null;
}

function haltedField(count: number): [string, string] {
  return ["halted", `${count === 1 ? "1 agent" : `${count} agents`}: "muster resume" ends it`];
}
