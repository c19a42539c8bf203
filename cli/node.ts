import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { Group } from "./command_line/mod.ts";
import { type CommandOptions, JSON_OPTION, URL_OPTION } from "./options.ts";
import { moveAway } from "./project_nodes.ts";
import { print, printJson, table, visible } from "./output.ts";

const nodeSchema = z.looseObject({
  name: z.string(),
  url: z.string(),
  version: z.string(),
  started_at: z.string(),
  state: z.string(),
  drained_at: z.string().nullable(),
  leader: z.boolean(),
  self: z.boolean(),
  projects: z.number(),
});

/** `muster node list`. */
async function listNodes(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options);
  const nodes = await client.call("GET", "/v1/nodes", z.array(nodeSchema));
  if (options.json === true) return printJson(nodes);
  if (nodes.length === 0) return print("This server is alone: node.name is empty");
  const rows = nodes.map((node) => [
    `${node.self ? "*" : ""}${node.name}`,
    `${node.state}${node.state === "stopped" && node.drained_at !== null ? ", drained" : ""}`,
    node.leader ? "leads" : "",
    String(node.projects),
    visible(node.version),
    node.started_at,
    visible(node.url),
  ]);
  print(table(["NODE", "STATE", "LEADER", "PROJECTS", "VERSION", "STARTED", "ADDRESS"], rows));
}

interface DrainOptions extends CommandOptions {
  readonly moveProjects?: boolean;
}

/** `muster node drain`. */
async function drainNode(
  name: string,
  { moveProjects = false, ...options }: DrainOptions,
): Promise<void> {
  await change("POST", name, "/drain", options);
  print(`${name} leads no more and gets no new projects; its readers leave within a minute`);
  if (!moveProjects) return;
  const client = await ApiClient.connect(options);
  const nodes = await client.call("GET", "/v1/nodes", z.array(nodeSchema));
  const targets = nodes.filter(({ state }) => state === "running");
  await moveAway(client, name, new Map(targets.map(({ name, projects }) => [name, projects])));
}

async function change(
  method: "POST" | "DELETE",
  name: string,
  action: string,
  options: CommandOptions,
): Promise<void> {
  const client = await ApiClient.connect(options);
  await client.call(method, `/v1/nodes/${encodeURIComponent(name)}${action}`, z.undefined());
}

const NAME = { usage: "<name>" };

/** `muster node`: several servers with one database. */
export const NODE: Group = {
  commands: [
    {
      name: "drain",
      summary: "take a node out of service, such as before an upgrade",
      parameters: [NAME],
      options: [
        { flags: "--move-projects", summary: "also move its projects to the other nodes" },
        URL_OPTION,
      ],
      notes: [
        "The load balancer sends it no more requests, another node leads, and its readers come " +
        "back elsewhere. It stays drained over a restart.",
      ],
      run: drainNode,
    },
    {
      name: "list",
      summary: "list the nodes; a star marks the one that answers",
      options: [JSON_OPTION, URL_OPTION],
      run: listNodes,
    },
  ],
  examples: [
    { line: "node list", purpose: "See which nodes run and which one leads" },
    { line: "node drain b", purpose: "Take a node out of service before its upgrade" },
    { line: "node drain b --move-projects", purpose: "Take it out of service for longer" },
  ],
};
