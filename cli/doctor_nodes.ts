import { amount } from "../services/amount.ts";
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
  drained_at: z.string().nullable(),
  projects: z.number(),
});

type Node = z.infer<typeof nodeSchema>;

/** What `/readyz` answers: a node that is not ready does not tell which one it is. */
const readinessSchema = z.union([
  z.object({ node: z.object({ started_at: z.string() }) }).transform(({ node }) => node.started_at),
  z.object({ error: z.string() }).transform(() => null),
]);

/**
 * Checks, if this node runs, that the others run too, and that each that runs answers at its
 * `node.url`.
 */
export async function checkNodes(
  options: CommandOptions,
  { node, data_dir: folder }: Config,
  isRunning: boolean,
): Promise<Finding[]> {
  if (node.name === "" || !isRunning) return [];
  const nodes = await readNodes(options, folder);
  const isStopped = ({ state }: Node) => state === "stopped";
  const running = nodes.filter((node) => !isStopped(node));
  return [
    ...(await Promise.all(running.map((node) => checkUrl(node, nodes)))).flat(),
    ...nodes.filter(isStopped).map(findingOfStopped),
  ];
}

/** Tells of a node that was not heard of for seconds. A drained one was probably stopped on purpose. */
function findingOfStopped({ name, drained_at: drainedAt, projects }: Node): Finding {
  const found = findingsOf("nodes");
  const isDrained = drainedAt !== null;
  const make = isDrained && projects === 0 ? found.note : found.warning;
  const state = isDrained ? "stopped, drained, and" : "stopped, and";
  const has = projects === 0
    ? "has no projects"
    : `its ${amount(projects, "project")} ${projects === 1 ? "answers" : "answer"} 503`;
  const start = isDrained
    ? `start it and let it take work again: muster node resume ${name}`
    : "start it";
  const restore = projects === 0
    ? "forget it"
    : "restore each project on another node (muster project restore SLUG --from FILE --on NODE), " +
      "and forget it";
  return make(
    `The node "${name}" is ${state} ${has}`,
    `${start}; if it will not come back, ${restore}: muster node remove ${name}`,
  );
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

async function checkUrl(
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
