import type { z } from "zod";
import type { EarlyEnd } from "../../services/kernel/early_end.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import { NotFound } from "../../services/kernel/errors.ts";
import type { Statistics } from "../../services/engines/fossil/mod.ts";
import type { QueryResult } from "../../services/engines/fossil/sql/mod.ts";
import type { Action, Caller, Principal } from "../../services/people/identity/mod.ts";
import {
  accessOf,
  accessProject,
  type HeldProject,
  type ProjectAccess,
  viewOf,
} from "../../services/work/projects/mod.ts";
import type { Declaration, ValueOf } from "../../services/people/identity/operation.ts";
import type {
  InnerCall,
  ProjectHead,
  ProjectOperation,
} from "../../services/work/projects/operation.ts";
import { requireStillAdmin } from "./access.ts";

/** What callers inside this process need of the services. */
type ApiServices = Pick<Services, "hosting" | "config" | "space" | "accounts">;

/** An operation in a project, whatever its input and answer are. */
export interface AnyProjectOperation {
  readonly declared: ProjectHead & Declaration<z.ZodObject, z.ZodType, z.ZodType>;
  authorize(access: ProjectAccess, space: ApiServices["space"]): void;
  invoke(
    services: ApiServices,
    input: object,
    call: InnerCall,
  ): Promise<unknown>;
}

/**
 * The repository API of every project, for callers inside this process: the operations, rights and
 * errors are those of HTTP.
 */
export class ProjectApi {
  readonly #services: ApiServices;

  constructor(services: ApiServices) {
    this.#services = services;
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
    return await repositories.answers.value(access.project, "statistics", async ({ json }) => {
      return { bytes: await json.statistics() };
    });
  }

  /**
   * Runs a statement of SQL that only reads on a project's repository.
   *
   * @param query.signal ends it
   * @throws {ServiceError} the caller may not read the project, or the statement is refused
   */
  async query(
    slug: string,
    query: { readonly sql: string; readonly signal: AbortSignal },
    caller: Caller,
  ): Promise<QueryResult> {
    const { projects, sqlQueries } = this.#services.hosting;
    const access = accessProject(projects, slug, caller.principal);
    access.require("read");
    return await sqlQueries.run({ project: access.project, caller, ...query });
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
    end?: EarlyEnd,
  ): Promise<ValueOf<Ok, New>> {
    return await this.invokeAny(slug, operation, input, caller, end) as ValueOf<Ok, New>;
  }

  /** Calls an operation of which only the declaration is known, as {@link invoke} does. */
  async invokeAny(
    slug: string,
    operation: AnyProjectOperation,
    input: object,
    caller: Caller,
    end?: EarlyEnd,
  ): Promise<unknown> {
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
      ...end === undefined ? {} : { end },
    });
  }
}

/** The rights that the list of projects names. */
export const RIGHTS = ["read", "write", "status", "admin"] as const satisfies readonly Action[];

/** A part of the projects that a principal may see, by slug, and their number. */
export function reachableProjects(
  { hosting: { projects }, config }: Pick<Services, "hosting" | "config">,
  principal: Principal,
  { limit, offset }: { readonly limit: number; readonly offset: number },
) {
  const rightsOf = (held: HeldProject) => {
    const access = accessOf(held, principal);
    return RIGHTS.filter((right) => access.may(right));
  };
  const reachable = projects.all().filter((held) => rightsOf(held).length > 0);
  const shown = reachable.slice(offset, offset + limit).map((held) => ({
    ...viewOf(held),
    rights: rightsOf(held),
    base: `/projects/${held.project.slug}/${config.projects.scm}`,
  }));
  return { projects: shown, total: reachable.length };
}
