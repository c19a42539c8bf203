/** The HTTP API with all its routes. A server loads some of them later: see `serving.ts`. */
import type { Hono } from "hono";
import type { Services } from "../services/daemon/mod.ts";
import type { AppEnv } from "./context.ts";
import { type Core, createCore, newStreams } from "./core.ts";
import { createProjectRoutes } from "./projects/mod.ts";
import { ProjectApi } from "./projects/project_api.ts";

/** The HTTP API, and its part for callers inside this process. */
export interface Api extends Pick<Core, "app" | "direct" | "streams" | "sharedPages"> {
  readonly projects: ProjectApi;
}

/** The HTTP API without its part for callers inside this process. */
export function createApp(services: Services): Hono<AppEnv> {
  return createApi(services).app;
}

/** The HTTP API: every group of routes, behind the middleware that all of them share. */
export function createApi(services: Services): Api {
  const { app, direct, streams, sharedPages, addProjects } = createCore(services);
  const routes = createProjectRoutes(services, streams);
  addProjects(routes);
  return { app, direct, streams, sharedPages, projects: new ProjectApi(services, () => routes) };
}

/** The repository API for callers inside this process, where no HTTP API is served. */
export function createProjectApi(services: Services): ProjectApi {
  return new ProjectApi(services, () => createProjectRoutes(services, newStreams(services)));
}
