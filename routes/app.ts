/** The HTTP API with all its routes. A server loads some of them later: see `serving.ts`. */
import type { Services } from "../services/operation/daemon/mod.ts";
import { type Core, createCore } from "./core.ts";
import { createProjectRoutes } from "./projects/mod.ts";
import { ProjectApi } from "./projects/project_api.ts";

/** The HTTP API, and its part for callers inside this process. */
export interface Api extends Pick<Core, "app" | "fetch" | "streams" | "sharedPages" | "notFound"> {
  readonly projects: ProjectApi;
}

/** The HTTP API: every group of routes, behind the middleware that all of them share. */
export function createApi(services: Services): Api {
  const { addProjects, ...core } = createCore(services);
  addProjects(createProjectRoutes(services, core.streams));
  return { ...core, projects: new ProjectApi(services) };
}
