import { z } from "zod";
import type { Config } from "../services/config/mod.ts";
import { type Finding, findingsOf } from "../services/doctor/mod.ts";
import { ApiClient } from "./client.ts";
import { readEndpoints } from "./endpoints.ts";
import type { CommandOptions } from "./options.ts";

/** How long a node may take to answer, in milliseconds. */
const ANSWER_TIMEOUT = 5000;

const nodeSchema = z.looseObject({
  name: z.string(),
  url: z.string(),
  state: z.string(),
  started_at: z.string(),
});

type Node = z.infer<typeof nodeSchema>;

/** What `/readyz` answers: a node that is not ready does not tell which one it is. */
const readinessSchema = z.union([
  z.object({ node: z.object({ started_at: z.string() }) }).transform(({ node }) => node.started_at),
  z.object({ error: z.string() }).transform(() => null),
]);

/** Checks that each node that runs answers at its `node.url`, if this one runs. */
export async function checkNodes(
  options: CommandOptions,
  { node, data_dir: folder }: Config,
  isRunning: boolean,
): Promise<Finding[]> {
  if (node.name === "" || !isRunning) return [];
  const nodes = await readNodes(options, folder);
  const running = nodes.filter(({ state }) => state !== "stopped");
  return (await Promise.all(running.map((node) => checkNode(node, nodes)))).flat();
}

/** All nodes; none if this one does not answer, which the check of the addresses tells. */
async function readNodes(options: CommandOptions, folder: string) {
  try {
    const endpoints = await readEndpoints(folder);
    if (endpoints === null) return [];
    const client = await ApiClient.connect({ ...options, url: endpoints.api });
    return await client.call("GET", "/v1/nodes", z.array(nodeSchema));
  } catch {
    return [];
  }
}

async function checkNode(
  { name, url, started_at: startedAt }: Node,
  nodes: readonly Node[],
): Promise<Finding[]> {
  const found = findingsOf("addresses");
  const fix = `correct node.url in the configuration of "${name}", or let this machine reach it`;
  const answer = readinessSchema.safeParse(await readReadiness(url));
  if (!answer.success) {
    return [found.error(`No node answers at "${url}", the node.url of "${name}"`, fix)];
  }
  if (answer.data === null || answer.data === startedAt) return [];
  const other = nodes.find((node) => node.started_at === answer.data);
  const where = other === undefined ? "another server" : `the node "${other.name}"`;
  const message = `The node.url of "${name}", "${url}", leads to ${where}`;
  return [found.error(message, fix)];
}

/** What `/readyz` answers there, or null. */
async function readReadiness(url: string): Promise<unknown> {
  try {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(ANSWER_TIMEOUT) });
    return await response.json();
  } catch {
    return null;
  }
}
