import type { Context } from "hono";
import { bodyLimitsOf } from "../../http/mod.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import type { Lease } from "../../services/work/runners/mod.ts";
import { CACHE_KEY_HEADER, GENERATION_HEADER } from "../../services/work/runs/schemas.ts";
import { ApiRoutes } from "../api_routes.ts";
import { type AppEnv, confirm } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { errors, json } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";

const params = z.object({ id: z.string().max(30) });
const generation = z.string().regex(/^\d{1,4}$/, { error: "must be the generation of the lease" })
  .openapi({ type: "integer", description: "The generation of the lease" });
const leaseHeaders = z.object({ [GENERATION_HEADER.toLowerCase()]: generation });
const cacheHeaders = leaseHeaders.extend({
  [CACHE_KEY_HEADER.toLowerCase()]: z.string().max(500).openapi({
    description: "The key of the cache",
  }),
});
const binary = z.any().openapi({ type: "string", format: "binary" });
const body = { content: { "application/octet-stream": { schema: binary } }, required: true };

const putArtifact = specialRoute("PUT /v1/runner/jobs/{id}/artifacts", {
  operationId: "putJobArtifact",
  summary: "Keep a file of a job; it replaces the one of the same path",
  request: {
    params,
    query: z.object({
      path: z.string().max(500).openapi({ description: "Its path below the checkout" }),
    }),
    headers: leaseHeaders,
    body,
  },
  responses: {
    200: json(
      z.object({ path: z.string(), bytes: z.int(), created_at: z.iso.datetime() })
        .openapi("CheckArtifact"),
      "The file is kept",
    ),
    ...errors(400, 408, 409, 413, 503),
  },
});

const getCache = specialRoute("GET /v1/runner/jobs/{id}/cache", {
  operationId: "getJobCache",
  summary: "What earlier jobs have left under a key",
  request: { params, headers: cacheHeaders },
  responses: {
    200: {
      content: { "application/octet-stream": { schema: binary } },
      description: "The archive",
    },
    ...errors(400, 404, 409),
  },
});

const putCache = specialRoute("PUT /v1/runner/jobs/{id}/cache", {
  operationId: "putJobCache",
  summary: "Leave an archive under a key for later jobs",
  request: { params, headers: cacheHeaders, body },
  responses: {
    204: { description: "It is kept" },
    ...errors(400, 408, 409, 413, 503),
  },
});

/** The files of jobs, which are no operations. */
export function runnerFileRoutes(services: Pick<Services, "hosting" | "config">) {
  const { hosting: { leases, jobArtifacts, jobCaches }, config } = services;
  const { stallMilliseconds } = bodyLimitsOf(config);
  const leaseOf = (context: Context<AppEnv>): Lease => {
    const given = Number(context.req.header(GENERATION_HEADER));
    return leases.require(context.get("principal"), context.req.param("id") ?? "", given);
  };
  const keyOf = (context: Context<AppEnv>): string => {
    const key = context.req.header(CACHE_KEY_HEADER);
    if (key === undefined) throw new Invalid(`The header ${CACHE_KEY_HEADER} is missing`);
    return key;
  };
  return new ApiRoutes()
    .openapi(putArtifact, async (context) => {
      const { path } = context.req.valid("query");
      const lease = leaseOf(context);
      const kept = await jobArtifacts.put(lease, path, context.req.raw, {
        stallMs: stallMilliseconds,
        confirm: async () => {
          await confirm(context);
          leaseOf(context);
        },
      });
      return context.json(kept, 200);
    })
    .openapi(getCache, async (context) => {
      const { file, bytes } = await jobCaches.open(leaseOf(context), keyOf(context));
      return context.body(file.readable, 200, {
        "Content-Type": "application/octet-stream",
        "Content-Length": String(bytes),
      }) as never;
    })
    .openapi(putCache, async (context) => {
      await jobCaches.put(leaseOf(context), keyOf(context), context.req.raw, {
        stallMs: stallMilliseconds,
        confirm: async () => {
          await confirm(context);
          leaseOf(context);
        },
      });
      return context.body(null, 204);
    });
}
