import type { Hono } from "hono";
import { Hosts, recordAnswer } from "../http/mod.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { Core, ProjectRoutes } from "./core.ts";
import type { AppEnv } from "./environment.ts";
import { once } from "./once.ts";
import { createProbes, isProbe } from "./probes.ts";
import { ProjectApi } from "./projects/project_api.ts";

/**
 * Requests that no route of the repository API can answer. A path that is none of these may be one
 * of them in disguise, such as `/%70rojects/…`.
 */
const WITHOUT_PROJECTS =
  /^\w+:\/\/[^/]+\/(v1|assets|live)\/|^\w+:\/\/[^/]+\/(healthz|readyz|login)$/;

/** What answers under every name: it says nothing of what the server holds. */
const HEALTH = /^\w+:\/\/[^/]+\/(healthz|readyz)(?:\?|$)/;

/**
 * The HTTP API of a server. It begins with the probes, which need little, so that a server is soon
 * up. The other routes are loaded after the start, or by the first request for one of them; those of
 * the repository API, which are a third of the schemas, by the first request that may need them.
 */
export class ServedApi {
  /** The repository API for callers inside this process. */
  readonly projects: ProjectApi;
  readonly #services: Services;
  readonly #hosts: Hosts;
  /** Null once the other routes are there, which have the probes too. */
  #probes: Hono<AppEnv> | null;
  readonly #loadCore: () => Promise<Core>;
  readonly #loadProjects: () => Promise<ProjectRoutes>;
  #core: Core | null = null;
  #isWhole = false;

  /** @param extend adds routes to those of the API, once they are loaded */
  constructor(services: Services, extend: (core: Core) => Promise<void>) {
    const { config } = services;
    this.#services = services;
    this.#hosts = new Hosts(config, config.api_addr);
    this.#probes = createProbes(services);
    this.#loadCore = once(() => this.#createCore(extend));
    this.#loadProjects = once(() => this.#addProjects());
    this.projects = new ProjectApi(services);
  }

  /** Answers a request. */
  fetch(request: Request, bindings: AppEnv["Bindings"]): Response | Promise<Response> {
    const refusal = bindings.mark ? null : this.#hosts.refusal(request, bindings.remoteAddress);
    if (refusal !== null && !HEALTH.test(request.url)) {
      return this.#refuse(request, bindings, refusal);
    }
    if (this.#probes !== null && isProbe(request)) return this.#probes.fetch(request, bindings);
    if (!this.#isWhole && !WITHOUT_PROJECTS.test(request.url)) {
      return this.#loadProjects().then(() => this.fetch(request, bindings));
    }
    if (this.#core === null) return this.#loadCore().then(() => this.fetch(request, bindings));
    return this.#core.fetch(request, bindings);
  }

  /**
   * Prepares what the first requests would wait for: loads the routes, compiles their patterns, and
   * loads those of the repository API if there is a project. A server without one saves their
   * memory.
   */
  async prepare(): Promise<void> {
    const { app } = await this.#loadCore();
    if (this.#services.hosting.projects.all().length > 0) await this.#loadProjects();
    const { prepareRoutes } = await import("./core.ts");
    prepareRoutes(app);
  }

  /** Refuses a request for a host that this server is not, before anything of it is looked at. */
  #refuse({ method }: Request, { remoteAddress }: AppEnv["Bindings"], error: string): Response {
    const requestId = crypto.randomUUID();
    recordAnswer(this.#services, {
      method,
      route: "none",
      status: 403,
      milliseconds: 0,
      requestId,
      principal: undefined,
      address: remoteAddress,
    });
    return Response.json({ error }, {
      status: 403,
      headers: {
        "Cache-Control": "no-store",
        "X-Content-Type-Options": "nosniff",
        "X-Request-Id": requestId,
      },
    });
  }

  async #createCore(extend: (core: Core) => Promise<void>): Promise<Core> {
    const { createCore } = await import("./core.ts");
    const core = createCore(this.#services);
    await extend(core);
    this.#core = core;
    this.#probes = null;
    return core;
  }

  async #addProjects(): Promise<ProjectRoutes> {
    const core = await this.#loadCore();
    const { createProjectRoutes } = await import("./projects/mod.ts");
    const routes = createProjectRoutes(this.#services, core.streams);
    core.addProjects(routes);
    this.#isWhole = true;
    return routes;
  }
}
