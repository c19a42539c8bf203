import { z } from "zod";
import { parseAddress } from "../services/config/mod.ts";
import { ApiClient } from "./client.ts";
import { InvalidValue, lazy, type Leaf } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { print, printFields, printJson } from "./output.ts";

/** `muster serve`: runs the server. */
export const SERVE: Leaf = {
  options: [
    {
      flags: "--api-addr <host:port>",
      summary: "address of the REST API",
      parse: checkAddress,
    },
    {
      flags: "--mcp-addr <host:port>",
      summary: "address of the MCP server",
      parse: checkAddress,
    },
    {
      flags: "--irc-listen <host:port>",
      summary: "address of the IRC server",
      parse: checkAddress,
    },
    {
      flags: "--log-level <level>",
      summary: "least severe level to log",
      choices: ["debug", "info", "warning", "error"],
    },
  ],
  examples: [
    { line: "serve --api-addr 127.0.0.1:9090", purpose: "Listen on another port" },
  ],
  run: lazy(async () => (await import("./serve.ts")).serve),
};

/** `muster health`: whether every part of a running server is up. */
export const HEALTH: Leaf = {
  options: [URL_OPTION],
  run: health,
};

async function health(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options, { token: false });
  await client.call("GET", "/readyz", z.object({ status: z.string() }));
  print("ok");
}

/** `muster status`: the state of a running server. */
export const STATUS: Leaf = {
  options: [JSON_OPTION, URL_OPTION],
  run: status,
};

const statusSchema = z.looseObject({
  status: z.string(),
  uptime: z.string(),
  agents: z.number(),
  started: z.string(),
  agents_halted: z.number().default(0),
});

async function status(options: CommandOptions): Promise<void> {
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

/** Parses `host:port`. */
function checkAddress(text: string): string {
  if (parseAddress(text) !== null) return text;
  throw new InvalidValue('be "host:port", or ":port" for every interface');
}
