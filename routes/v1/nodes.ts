import { z } from "../extended_zod.ts";
import type { Services } from "../../services/daemon/mod.ts";
import { callerOf } from "../caller.ts";
import { newRoutes } from "../context.ts";
import { route } from "../route.ts";
import { errors, json } from "../schemas.ts";

const nodeSchema = z.object({
  name: z.string().openapi({ example: "a" }),
  url: z.string().openapi({ description: "Where the other nodes reach its API" }),
  version: z.string(),
  started_at: z.iso.datetime(),
  state: z.enum(["running", "draining", "stopped"]).openapi({
    description:
      "`draining`: it runs, leads no more and gets no new projects; `stopped`: nothing " +
      "was heard of it for seconds",
  }),
  drained_at: z.iso.datetime().nullable().openapi({
    description: "Since when it is out of service; a restart does not change that",
  }),
  leader: z.boolean().openapi({ description: "Whether it does what only one node does" }),
  self: z.boolean().openapi({ description: "Whether it answers this request" }),
  projects: z.int().openapi({ description: "How many projects have their repositories there" }),
}).openapi("Node");

const params = z.object({ name: z.string() });

const listNodes = route("GET /v1/nodes", {
  summary: "List the servers that share the database",
  responses: {
    200: json(z.array(nodeSchema), "By name; none if this server is alone"),
    ...errors(),
  },
});

const drainNode = route("POST /v1/nodes/{name}/drain", {
  summary: "Take a node out of service, until it is resumed",
  description: "Its `/readyz` answers 503, it leads no more and gets no new projects, and its " +
    "event streams end after some seconds.",
  request: { params },
  responses: { 204: { description: "Drained" }, ...errors(404, 409, 503) },
});

const resumeNode = route("POST /v1/nodes/{name}/resume", {
  summary: "Let a drained node take work again",
  request: { params },
  responses: { 204: { description: "Resumed" }, ...errors(404, 409, 503) },
});

const removeNode = route("DELETE /v1/nodes/{name}", {
  summary: "Forget a node that was stopped for good and has no projects",
  request: { params },
  responses: { 204: { description: "Removed" }, ...errors(404, 409, 503) },
});

/** `/v1/nodes`: several servers with one database. */
export function nodeRoutes(operations: Services["nodeOperations"]) {
  return newRoutes()
    .openapi(listNodes, async (context) => context.json(await operations.list(), 200))
    .openapi(drainNode, async (context) => {
      await operations.drain(context.req.valid("param").name, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(resumeNode, async (context) => {
      await operations.resume(context.req.valid("param").name, callerOf(context));
      return context.body(null, 204);
    })
    .openapi(removeNode, async (context) => {
      await operations.remove(context.req.valid("param").name, callerOf(context));
      return context.body(null, 204);
    });
}
