import { type OutgoingMessage, selectTools, serveStdio } from "../mcp/stdio/mod.ts";
import { resolve } from "node:path";
import type { Config } from "../services/operation/config/mod.ts";
import { readToken } from "./client.ts";
import { isHeld, readEndpoints } from "./endpoints.ts";
import { AnswerCache } from "./mcp_cache.ts";
import { type Delivery, ForwardedMcp, mcpUrlOf, notServed } from "./mcp_forward.ts";
import type { CommandOptions } from "./options.ts";
import { CommandFailed, printError } from "./output.ts";
import { endSignals } from "./platform.ts";
import { writeSession } from "./session_file.ts";
import { readClientSettings } from "./settings.ts";

/** What the person gives beside the global options. */
interface McpOptions extends CommandOptions {
  readonly tools?: string;
}

/**
 * `muster mcp`: answers an MCP client on standard input and output. Messages go to a running server;
 * if no process holds the data folder, its services run in this one. Returns when the input ends.
 */
export async function serveMcp(options: McpOptions): Promise<void> {
  const config = await readClientSettings(options);
  const url = serverOf(options);
  const tools = toolsOf(options);
  const session = crypto.randomUUID().replaceAll("-", "");
  await using ending = new AsyncDisposableStack();
  ending.defer(await writeSession(session, url ?? resolve(config.data_dir)));
  await using delivery = await openDelivery(url, config, session);
  await using memory = await AnswerCache.open({
    server: [url ?? resolve(config.data_dir), ...tools === undefined ? [] : [tools]].join(" "),
    token: await readToken(config.data_dir),
  });
  const ended = untilSignal();
  const served = serveStdio({
    input: Deno.stdin.readable,
    write: writeLine,
    deliver: (message) => delivery.deliver(message),
    memory,
    tools,
    warn: printError,
  });
  await Promise.race([served, ended]);
}

/** Clients end a server with a signal if its input is closed and it still runs. */
function untilSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of endSignals()) Deno.addSignalListener(signal, resolve);
  });
}

/** The URL of the tools that the person names; null if the server is that of the data folder. */
function serverOf(options: CommandOptions): string | null {
  const url = options.url ?? Deno.env.get("MUSTER_URL");
  if (url === undefined) return null;
  const mcpUrl = mcpUrlOf(url);
  if (mcpUrl === null) throw new CommandFailed(`"${url}" is not a URL`, 2);
  return mcpUrl;
}

/** The sets of tools that the client lists. */
function toolsOf({ tools }: McpOptions): string | undefined {
  const refusal = tools === undefined ? null : selectTools(tools);
  if (typeof refusal === "string") throw new CommandFailed(refusal, 2);
  return tools;
}

async function openDelivery(
  url: string | null,
  config: Config,
  session: string,
): Promise<Delivery> {
  if (url !== null) return await ForwardedMcp.open(config, () => Promise.resolve(url), session);
  const folder = config.data_dir;
  if (!isHeld(folder)) {
    const { openHere } = await import("./mcp_here.ts");
    const here = await openHere(config);
    if (here !== null) return here;
  }
  const forwarded = await ForwardedMcp.open(config, () => locateServer(folder), session);
  return await readEndpoints(folder) === null ? new LateDelivery(config, forwarded) : forwarded;
}

/**
 * The tools of the server that runs on a data folder. Who holds the folder is not asked: the question
 * takes the lock for a moment, and a server that starts could want it.
 *
 * @throws ServerAway
 */
async function locateServer(folder: string): Promise<string> {
  const endpoints = await readEndpoints(folder);
  if (endpoints !== null) return endpoints.mcp;
  throw notServed(
    `No server runs on the data folder "${folder}". Run "muster serve", which all clients can ` +
      'share. If another "muster mcp" works there, it answers one client only: end that client first',
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
    if (delivery === null) throw new Error("This client is ending");
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
