import type { Services } from "../services/daemon/mod.ts";
import type { AppEnv } from "./context.ts";
import { type Core, createCore, prepareRoutes } from "./core.ts";
import { HeldAnswer } from "./held_answers.ts";
import { ProjectApi, type ProjectRoutes } from "./projects/project_api.ts";

/**
 * Requests that no route of the repository API can answer. A path that is none of these may be one
 * of them in disguise, such as `/%70rojects/…`.
 */
const WITHOUT_PROJECTS =
  /^\w+:\/\/[^/]+\/(v1|assets|live)\/|^\w+:\/\/[^/]+\/(healthz|readyz|login)$/;

/**
 * The HTTP API of a server. The routes of the repository API are a third of the schemas, so they
 * are loaded after the start, or by the first request that may need them.
 */
export class ServedApi implements Pick<Core, "app" | "streams" | "sharedPages"> {
  readonly app: Core["app"];
  readonly streams: Core["streams"];
  readonly sharedPages: Core["sharedPages"];
  /** The repository API for callers inside this process. */
  readonly projects: ProjectApi;
  readonly #services: Services;
  readonly #core: Core;
  #loading: Promise<ProjectRoutes> | null = null;
  #isWhole = false;

  constructor(services: Services) {
    this.#services = services;
    this.#core = createCore(services);
    const { app, streams, sharedPages } = this.#core;
    this.app = app;
    this.streams = streams;
    this.sharedPages = sharedPages;
    this.projects = new ProjectApi(services, () => this.#load());
  }

  /** Answers a request. */
  fetch(request: Request, bindings: AppEnv["Bindings"]): Response | Promise<Response> {
    if (this.#isWhole || WITHOUT_PROJECTS.test(request.url)) {
      return mayWait(request) ? this.#hold(request, bindings) : this.app.fetch(request, bindings);
    }
    return this.#load().then(() => this.app.fetch(request, bindings));
  }

  /**
   * Prepares what the first requests would wait for: compiles the patterns of all routes, and loads
   * those of the repository API if there is a project. A server without one saves their memory.
   */
  async prepare(): Promise<void> {
    if (this.#services.hosting.projects.all().length > 0) await this.#load();
    prepareRoutes(this.app);
  }

  async #hold(request: Request, bindings: AppEnv["Bindings"]): Promise<Response> {
    const held = new HeldAnswer();
    const response = await this.app.fetch(request, { ...bindings, held });
    return held.response ?? response;
  }

  #load(): Promise<ProjectRoutes> {
    return this.#loading ??= this.#addProjects();
  }

  async #addProjects(): Promise<ProjectRoutes> {
    const { createProjectRoutes } = await import("./projects/mod.ts");
    const routes = createProjectRoutes(this.#services, this.streams);
    this.#core.addProjects(routes);
    this.#isWhole = true;
    return routes;
  }
}

/** Whether the answer to a request may come much later. */
function mayWait({ method, url }: Request): boolean {
  return method === "GET" && url.includes("wait_seconds=");
}
