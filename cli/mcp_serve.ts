import { NotDelivered, type OutgoingMessage, serveStdio } from "../mcp/stdio/mod.ts";
import type { Config } from "../services/operation/config/mod.ts";
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
  const folder = config.data_dir;
  if (!isHeld(folder)) {
    const { openHere } = await import("./mcp_here.ts");
    const here = await openHere(config);
    if (here !== null) return here;
  }
  const forwarded = await ForwardedMcp.open(config, () => locateServer(folder));
  return await readEndpoints(folder) === null ? new LateDelivery(config, forwarded) : forwarded;
}

/** How long to look for a server that is just starting, or starts again, in milliseconds. */
const START_LIMIT = 5000;
const START_PAUSE = 50;

/** The tools of the server that runs on a data folder, or is just starting. */
async function locateServer(folder: string): Promise<string> {
  const limit = performance.now() + START_LIMIT;
  do {
    const endpoints = await readEndpoints(folder);
    if (endpoints !== null) return endpoints.mcp;
    await new Promise((resolve) => setTimeout(resolve, START_PAUSE));
  } while (performance.now() < limit);
  // Asked once: the question takes the lock for a moment, and a server could want it.
  if (!isHeld(folder)) {
    throw new NotDelivered(
      `No muster answers, because none runs on the data folder "${folder}". Start it with ` +
        '"muster serve"; then call again',
    );
  }
  throw new NotDelivered(
    `Another "muster mcp" works in the data folder "${folder}" and answers one client only. End ` +
      'the client that runs it, then run "muster serve", which all clients can share',
  );
}

/**
 * Waits for the end of another `muster mcp`, and then runs the services itself. Once it has met a
 * server, it only forwards: it must not take the folder of a server that starts again.
 */
class LateDelivery implements Delivery {
  readonly #config: Config;
  #forwarded: Delivery | null;
  #delivery: Delivery | null = null;
  #opening: Promise<Delivery | null> | null = null;

  constructor(config: Config, forwarded: Delivery) {
    this.#config = config;
    this.#forwarded = forwarded;
  }

  async deliver(message: OutgoingMessage): Promise<Response> {
    try {
      this.#delivery ??= await (this.#opening ??= this.#open());
    } finally {
      this.#opening = null;
    }
    const delivery = this.#delivery ?? this.#forwarded;
    if (delivery === null) throw new NotDelivered("This client is ending");
    return await delivery.deliver(message);
  }

  /** Null while another `muster mcp` runs the services. */
  async #open(): Promise<Delivery | null> {
    const { data_dir: folder } = this.#config;
    if (await readEndpoints(folder) !== null) return this.#forwarded;
    if (isHeld(folder)) return null;
    const { openHere } = await import("./mcp_here.ts");
    return await openHere(this.#config);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const [delivery, forwarded] = [this.#delivery, this.#forwarded];
    this.#forwarded = null;
    await forwarded?.[Symbol.asyncDispose]();
    if (delivery !== forwarded) await delivery?.[Symbol.asyncDispose]();
  }
}

async function writeLine(line: string): Promise<void> {
  const bytes = new TextEncoder().encode(`${line}\n`);
  for (let written = 0; written < bytes.length;) {
    written += await Deno.stdout.write(bytes.subarray(written));
  }
}
