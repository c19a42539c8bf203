import { lookup } from "node:dns/promises";
import { z } from "zod";
import { type Config, parseAddress } from "../services/config/mod.ts";
import { type Finding, findingsOf, reasonOf } from "../services/doctor/mod.ts";
import { ApiClient } from "./client.ts";
import { type Endpoints, readEndpoints } from "./endpoints.ts";
import type { CommandOptions } from "./options.ts";
import { findListenProblems, listenersOf } from "./preflight.ts";

/** How long a connection may take, in milliseconds. */
const CONNECT_TIMEOUT = 5000;

const found = findingsOf("addresses");

/**
 * Checks the addresses: of a running server, whether they answer; otherwise, whether they are free.
 */
export async function checkAddresses(
  options: CommandOptions,
  config: Config,
  isRunning: boolean,
): Promise<Finding[]> {
  const ofListeners = isRunning ? await checkRunning(options, config) : checkFree(config);
  return [...ofListeners, ...await checkPublicAddress(config, isRunning)];
}

function checkFree(config: Config): Finding[] {
  return findListenProblems(listenersOf(config)).map(({ message, fix }) =>
    found.error(message, fix)
  );
}

async function checkRunning(options: CommandOptions, config: Config): Promise<Finding[]> {
  const endpoints = await readEndpoints(config.data_dir);
  if (endpoints === null) {
    const message = "A muster uses the data folder, but no server has written its addresses";
    return [found.note(message, 'if it is "muster mcp", it needs none')];
  }
  // The pages are where the API is; not every resolver knows their name.
  const { pages: _, ...listeners } = endpoints;
  const answers = await Promise.all([
    checkReady(options, endpoints),
    ...Object.values(listeners).map((url) => url === undefined ? [] : checkConnects(url)),
  ]);
  return answers.flat();
}

async function checkReady(options: CommandOptions, { api }: Endpoints): Promise<Finding[]> {
  try {
    const client = await ApiClient.connect({ ...options, url: api }, { token: false });
    await client.call("GET", "/readyz", z.object({ status: z.string() }));
    return [];
  } catch (error) {
    const fix = "the server's own log says why; muster status shows its state";
    return [found.error(`The server is not ready: ${firstLine(reasonOf(error))}`, fix)];
  }
}

async function checkConnects(url: string): Promise<Finding[]> {
  const { hostname, port, protocol } = new URL(url);
  const fallback = protocol === "https:" ? 443 : 80;
  return await connects(hostname.replace(/^\[|\]$/g, ""), port === "" ? fallback : Number(port))
    ? []
    : [found.error(`Nobody answers at ${url}`, "restart muster: the listener has ended")];
}

async function checkPublicAddress({ irc }: Config, isRunning: boolean): Promise<Finding[]> {
  const address = parseAddress(irc.public_address);
  if (irc.public_address === "" || address === null) return [];
  const { hostname, port } = address;
  const key = `irc.public_address "${irc.public_address}"`;
  try {
    await lookup(hostname);
  } catch {
    const fix = "correct the key, or add the name to the DNS";
    return [found.warning(`The host of ${key} has no address`, fix)];
  }
  if (!isRunning || await connects(hostname, port)) return [];
  return [found.warning(
    `Nobody answers at ${key}, which agents are told`,
    "forward the port in the router or the proxy, open it in the firewall, or correct the key",
  )];
}

async function connects(hostname: string, port: number): Promise<boolean> {
  const connecting = Deno.connect({ hostname, port });
  const timer = Promise.withResolvers<null>();
  const timeout = setTimeout(() => timer.resolve(null), CONNECT_TIMEOUT);
  try {
    const connection = await Promise.race([connecting, timer.promise]);
    connection?.close();
    if (connection === null) connecting.then((late) => late.close(), () => {});
    return connection !== null;
  } catch {
    return false;
  } finally {
    clearTimeout(timeout);
  }
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
