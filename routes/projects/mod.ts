/** The routes of the repository API, `/projects/{slug}/{scm}/api/…`; `frame.ts` is around them. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Services } from "../../services/operation/daemon/mod.ts";
import * as operations from "../../services/operation/daemon/operations.ts";
import { ApiRoutes } from "../api_routes.ts";
import type { AppEnv } from "../environment.ts";
import type { EventStreams } from "../event_streams.ts";
import { eventRoutes } from "./events.ts";
import { archiveRoutes } from "./archives.ts";
import { badgeRoutes } from "./badges.ts";
import { batchRoutes } from "./batch.ts";
import { jobFileRoutes } from "./job_files.ts";
import { indexRoutes } from "./index.ts";
import { lfsContentRoutes } from "./lfs.ts";
import { syncRoutes } from "./sync.ts";
import { assetRoutes } from "./assets.ts";
import type { ProjectGroup } from "./table.ts";
import { operationRoutes } from "./operations.ts";
import { uploadRoutes } from "./uploads.ts";

/**
 * The routes of each group of the table.
 *
 * @param whole returns the routes of all groups together, which the index lists and a batch calls
 */
export function createProjectGroups(
  services: Services,
  streams: EventStreams,
  whole: () => OpenAPIHono<AppEnv> = () => new ApiRoutes(),
): Record<ProjectGroup, OpenAPIHono<AppEnv>> {
  return {
    sync: syncRoutes(services),
    index: indexRoutes(services, whole),
    events: eventRoutes(services, streams),
    archives: archiveRoutes(services),
    batch: batchRoutes(services, whole),
    operations: operationRoutes(services, operations),
    badges: badgeRoutes(services),
    assets: assetRoutes(services),
    uploads: uploadRoutes(services),
    lfs: lfsContentRoutes(services),
    jobFiles: jobFileRoutes(services, streams),
  };
}

/** The routes of the repository API, from `/api` on. */
export function createProjectRoutes(
  services: Services,
  streams: EventStreams,
): OpenAPIHono<AppEnv> {
  const api = new ApiRoutes();
  for (const group of Object.values(createProjectGroups(services, streams, () => api))) {
    api.route("/", group);
  }
  return api;
}
