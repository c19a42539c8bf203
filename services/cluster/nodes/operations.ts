import { z } from "zod";
import { Conflict, NotFound, Unavailable } from "../../kernel/errors.ts";
import { serverOperation } from "../../people/identity/server_operation.ts";
import type { NodeOperations } from "./node_operations.ts";

/** What the operations on nodes call. */
interface NodeServices {
  readonly nodeOperations: Pick<NodeOperations, "list" | "drain" | "resume" | "remove">;
}

const nodeSchema = z.object({
  name: z.string().meta({ example: "a" }),
  url: z.string().meta({ description: "Where the other nodes reach its API" }),
  version: z.string(),
  started_at: z.iso.datetime(),
  state: z.enum(["running", "draining", "stopped"]).meta({
    description:
      "`draining`: it runs, leads no more and gets no new projects; `stopped`: nothing " +
      "was heard of it for seconds",
  }),
  drained_at: z.iso.datetime().nullable().meta({
    description: "Since when it is out of service; a restart does not change that",
  }),
  leader: z.boolean().meta({ description: "Whether it does what only one node does" }),
  self: z.boolean().meta({ description: "Whether it answers this request" }),
  projects: z.int().meta({ description: "How many projects have their repositories there" }),
}).meta({ id: "Node" });

const byName = z.object({ name: z.string() });
const refusals = [{ error: NotFound }, { error: Conflict }, { error: Unavailable }];

export const listNodes = serverOperation({
  http: "GET /v1/nodes",
  on: "server",
  summary: "List the servers that share the database",
  input: z.object({}),
  ok: { schema: z.array(nodeSchema), description: "By name; none if this server is alone" },
}, ({ nodeOperations }: NodeServices) => nodeOperations.list());

export const drainNode = serverOperation({
  http: "POST /v1/nodes/{name}/drain",
  on: "server",
  whileFull: true,
  summary: "Take a node out of service, until it is resumed",
  description: "Its `/readyz` answers 503, it leads no more and gets no new projects, and its " +
    "event streams end after some seconds.",
  input: byName,
  done: "Drained",
  refusals,
}, ({ nodeOperations }: NodeServices, { name }, { caller }) => nodeOperations.drain(name, caller));

export const resumeNode = serverOperation({
  http: "POST /v1/nodes/{name}/resume",
  on: "server",
  whileFull: true,
  summary: "Let a drained node take work again",
  input: byName,
  done: "Resumed",
  refusals,
  cli: { at: "node resume <name>", about: "let a drained node take work again" },
}, ({ nodeOperations }: NodeServices, { name }, { caller }) => nodeOperations.resume(name, caller));

export const removeNode = serverOperation({
  http: "DELETE /v1/nodes/{name}",
  on: "server",
  summary: "Forget a node that was stopped for good and has no projects",
  input: byName,
  done: "Removed",
  refusals,
  cli: {
    at: "node remove <name>",
    about: "forget a node that was stopped for good and has no projects",
    aliases: ["delete"],
  },
}, ({ nodeOperations }: NodeServices, { name }, { caller }) => nodeOperations.remove(name, caller));
