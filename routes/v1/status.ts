import { z } from "../extended_zod.ts";
import type { Status } from "../../services/metrics/mod.ts";
import { newRoutes } from "../context.ts";
import { statusHandlers } from "../plain_handlers.ts";
import { route } from "../route.ts";
import { errors, json } from "../schemas.ts";

const statusSchema = z.object({
  status: z.string().openapi({ example: "ok" }),
  uptime: z.string().openapi({ example: "3h2m1s" }),
  agents: z.int().openapi({ description: "All agent records, including revoked ones" }),
  started: z.iso.datetime(),
  halted: z.boolean().openapi({ description: "Whether any agent is halted" }),
  agents_halted: z.int().openapi({ description: "The number of active agents that are halted" }),
  build: z.string().openapi({
    description: "Which build of the program runs: the hash of its code, or the commit of its tree",
    example: "3f9ac01d42b7",
  }),
}).openapi("Status");

const getStatus = route("GET /v1/status", {
  summary: "Show the state of the service",
  responses: { 200: json(statusSchema, "The state of the service"), ...errors() },
});

/** `GET /v1/status`. */
export function statusRoutes(status: Status) {
  return newRoutes().openapi(getStatus, statusHandlers(status)["GET /v1/status"]);
}
