import type { z } from "zod";
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Services } from "../../services/daemon/mod.ts";
import { Invalid, NotFound } from "../../services/errors.ts";
import type { Statistics } from "../../services/fossil/mod.ts";
import type { Action, Caller, Principal } from "../../services/identity/mod.ts";
import { accessOf, accessProject } from "../../services/projects/mod.ts";
import type { ValueOf } from "../../services/kernel/operation.ts";
import type { ProjectOperation } from "../../services/projects/operation.ts";
import type { AppEnv } from "../context.ts";
import { enterProjectAgain } from "./access.ts";
import { InnerCalls } from "./inner_calls.ts";
import { requireStillAdmin } from "./access.ts";
import { reachableProjects } from "./reachable.ts";

/** What callers inside this process need of the services. */
type ApiServices = Pick<Services, "hosting" | "config" | "space" | "accounts">;

/** The routes of the repository API. */
export type ProjectRoutes = OpenAPIHono<AppEnv>;

/** A call of the repository API. */
export interface ProjectCall {
  /** GET by default. */
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** From `/api/` on, with its query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/**
 * The repository API of every project, for callers inside this process: the routes, schemas, rights
 * and errors are those of HTTP.
 */
export class ProjectApi {
  readonly #services: ApiServices;
  readonly #routes: () => ProjectRoutes | Promise<ProjectRoutes>;
  #calls: InnerCalls | null = null;

  /** @param routes creates, loads or returns the routes of the repository API, at the first call */
  constructor(
    services: ApiServices,
    routes: () => ProjectRoutes | Promise<ProjectRoutes>,
  ) {
    this.#services = services;
    this.#routes = routes;
  }

  /** A part of the projects that a principal may see, by slug. */
  reachable(principal: Principal, part: { readonly limit: number; readonly offset: number }) {
    return reachableProjects(this.#services, principal, part);
  }

  /** Whether there is a project of this slug that a principal may see. */
  reaches(slug: string, principal: Principal): boolean {
    try {
      accessProject(this.#services.hosting.projects, slug, principal);
      return true;
    } catch (error) {
      if (error instanceof NotFound) return false;
      throw error;
    }
  }

  /** Whether a principal may do something in at least one project. */
  mayAnywhere(principal: Principal, action: Action): boolean {
    const { projects } = this.#services.hosting;
    return projects.all().some((held) => accessOf(held, principal).may(action));
  }

  /**
   * Figures of a project's repository.
   *
   * @throws {ServiceError} the caller may not read the project, or it cannot be read
   */
  async figures(slug: string, { principal }: Caller): Promise<Statistics> {
    const { projects, repositories } = this.#services.hosting;
    const access = accessProject(projects, slug, principal);
    access.require("read");
    return await repositories.read(access.project, (repository) => repository.statistics());
  }

  /**
   * Calls an operation in a project.
   *
   * @throws {ServiceError} the refusal of the operation; NotFound if the caller may not see the project
   */
  async invoke<Input extends z.ZodObject, Ok extends z.ZodType, New extends z.ZodType>(
    slug: string,
    operation: ProjectOperation<Input, ApiServices, Ok, New>,
    input: z.input<Input>,
    caller: Caller,
  ): Promise<ValueOf<Ok, New>> {
    const { projects, repositories: { homes } } = this.#services.hosting;
    const enter = () => {
      const access = accessProject(projects, slug, caller.principal);
      homes.require(access.project);
      return access;
    };
    const access = enter();
    const confirm = async () => {
      await caller.confirm?.();
      const now = enter();
      requireStillAdmin(access.isAdmin, now);
      operation.authorize(now, this.#services.space);
    };
    return await operation.invoke(this.#services, input, {
      access,
      caller: { ...caller, confirm },
    });
  }

  /**
   * Calls a route of a project.
   *
   * @returns a response of success
   * @throws {ServiceError} the refusal of the route or of the project
   */
  async call(slug: string, { method, path, body }: ProjectCall, caller: Caller): Promise<Response> {
    requirePlain(path);
    const calls = this.#calls ??= new InnerCalls({
      api: await this.#routes(),
      enterAgain: enterProjectAgain(this.#services),
      space: this.#services.space,
      onError: (error) => {
        throw error;
      },
    });
    const { principal, address, requestId, confirm } = caller;
    const { projects, repositories: { homes } } = this.#services.hosting;
    const access = accessProject(projects, slug, principal);
    homes.require(access.project);
    const init = {
      ...(method === undefined ? {} : { method }),
      ...(body === undefined ? {} : {
        body: JSON.stringify(body),
        headers: { "Content-Type": "application/json" },
      }),
    };
    const response = await calls.request(path, init, {
      access,
      principal,
      address: address ?? "",
      requestId: requestId ?? "",
      secure: true,
      prove: () => confirm?.() ?? null,
    });
    if (response.ok) return response;
    throw await refusalOf(response);
  }
}

/**
 * A name of ".." in a path would lead to another route.
 *
 * @throws NotFound
 */
function requirePlain(path: string): void {
  const [route = ""] = path.split("?");
  if (route.split("/").some((part) => part === "." || part === "..")) {
    throw new NotFound(`There is no ${route} here`);
  }
}

/** The error of a response that is no success: handlers throw, so only schemas answer so. */
async function refusalOf(response: Response): Promise<Error> {
  const { error } = await response.json();
  const message = String(error);
  return response.status === 404 ? new NotFound(message) : new Invalid(message);
}
