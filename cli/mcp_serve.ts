import { NotDelivered, serveStdio } from "../mcp/stdio/mod.ts";
import type { Config } from "../services/config/mod.ts";
import { isHeld, readEndpoints } from "./endpoints.ts";
import type { CommandOptions } from "./options.ts";
import { CommandFailed } from "./output.ts";
import { type Delivery, ForwardedMcp, mcpUrlOf } from "./mcp_forward.ts";
import { endSignals } from "./platform.ts";
import { readClientSettings } from "./settings.ts";

/**
 * `muster mcp`: answers an MCP client on standard input and output. Messages go to a running server;
 * if no process holds the data folder, its services run in this one. Returns when the input ends.
 */
export async function serveMcp(options: CommandOptions): Promise<void> {
  const config = await readClientSettings(options);
  await using delivery = await openDelivery(options, config);
  const ended = untilSignal();
  const served = serveStdio({
    input: Deno.stdin.readable,
    write: writeLine,
    deliver: (message) => delivery.deliver(message),
  });
  await Promise.race([served, ended]);
}

/** Clients end a server with a signal if its input is closed and it still runs. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of endSignals()) Deno.addSignalListener(signal, resolve);
  });
}

async function openDelivery(options: CommandOptions, config: Config): Promise<Delivery> {
  const url = options.url ?? Deno.env.get("MUSTER_URL");
  if (url !== undefined) {
    const mcpUrl = mcpUrlOf(url);
    if (mcpUrl === null) throw new CommandFailed(`"${url}" is not a URL`, 2);
    return await ForwardedMcp.open(config, () => Promise.resolve(mcpUrl));
  }
  if (!isHeld(config.data_dir)) {
    const { openHere } = await import("./mcp_here.ts");
    const here = await openHere(config);
    if (here !== null) return here;
  }
  return await ForwardedMcp.open(config, async () => {
    const endpoints = await readEndpoints(config.data_dir);
    if (endpoints !== null) return endpoints.mcp;
    throw new NotDelivered(
      `Another "muster mcp" works in the data folder "${config.data_dir}" and answers one client ` +
        `only. End the client that runs it, then run "muster serve", which all clients can share`,
    );
  });
}

async function writeLine(line: string): Promise<void> {
  const bytes = new TextEncoder().encode(`${line}\n`);
  for (let written = 0; written < bytes.length;) {
    written += await Deno.stdout.write(bytes.subarray(written));
  }
}
