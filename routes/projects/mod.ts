/** The routes of the repository API, `/projects/{slug}/{scm}/api/…`; `frame.ts` is around them. */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import * as operations from "../../services/daemon/operations.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import type { EventStreams } from "../event_streams.ts";
import { archiveRoutes } from "./archives.ts";
import { badgeRoutes } from "./badges.ts";
import { batchRoutes } from "./batch.ts";
import { changeRoutes } from "./changes.ts";
import { checkinRoutes } from "./checkins.ts";
import { documentRoutes } from "./documents.ts";
import { fileRoutes } from "./files.ts";
import { eventRoutes } from "./events.ts";
import { indexRoutes } from "./index.ts";
import { nameRoutes } from "./names.ts";
import { projectRoutes } from "./project.ts";
import { searchRoutes } from "./search.ts";
import { syncRoutes } from "./sync.ts";
import { assetRoutes } from "./assets.ts";
import type { ProjectGroup } from "./table.ts";
import { technoteRoutes } from "./technotes.ts";
import { operationRoutes } from "./operations.ts";
import { timelineRoutes } from "./timeline.ts";
import { uploadRoutes } from "./uploads.ts";

/** The routes of each group of the table. */
export function createProjectGroups(
  services: Services,
  streams: EventStreams,
  summaryOf: (method: string, path: string) => string = () => "",
  whole: () => OpenAPIHono<AppEnv> | null = () => null,
): Record<ProjectGroup, OpenAPIHono<AppEnv>> {
  const { scm } = services.config.projects;
  return {
    sync: syncRoutes(services),
    index: indexRoutes({ scm, summaryOf }),
    project: projectRoutes(services),
    timeline: timelineRoutes(services),
    names: nameRoutes(services),
    events: eventRoutes(services, streams),
    checkins: checkinRoutes(services),
    files: fileRoutes(services),
    changes: changeRoutes(services),
    archives: archiveRoutes(services),
    search: searchRoutes(services),
    documents: documentRoutes(services),
    technotes: technoteRoutes(services),
    batch: batchRoutes(services, whole),
    operations: operationRoutes(services, operations),
    badges: badgeRoutes(services),
    assets: assetRoutes(services),
    uploads: uploadRoutes(services),
  };
}

/** The routes of the repository API, from `/api` on. */
export function createProjectRoutes(
  services: Services,
  streams: EventStreams,
): OpenAPIHono<AppEnv> {
  const api = newRoutes();
  const summaries = new Map<string, string>();
  const summaryOf = (method: string, path: string) => summaries.get(`${method} ${path}`) ?? "";
  for (const group of Object.values(createProjectGroups(services, streams, summaryOf, () => api))) {
    api.route("/", group);
  }
  for (const definition of api.openAPIRegistry.definitions) {
    if (definition.type !== "route") continue;
    const { method, path, summary = "" } = definition.route;
    summaries.set(`${method.toUpperCase()} ${path === "/" ? "" : path}`, summary);
  }
  return api;
}
