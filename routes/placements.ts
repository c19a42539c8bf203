import { getPath, getQueryParam, tryDecodeURIComponent } from "hono/utils/url";
import type { Placement } from "../http/mod.ts";
import type { Mark, Nodes } from "../services/cluster/nodes/mod.ts";
import type { NodeRecord } from "../services/kernel/nodes.ts";
import type { ProjectHomes, Projects } from "../services/work/projects/mod.ts";
import type { Leases } from "../services/work/runners/mod.ts";
import { OPERATIONS_OF_LEADER } from "./operation_table.ts";
import { PathPatterns } from "./path_patterns.ts";
import type { Endpoint } from "./table.ts";

/**
 * The routes that only the node that leads can answer: it has the inboxes of agents in memory, sends
 * their messages, and runs herald and the sender of webhooks.
 */
export const LEADER_ROUTES = [
  ...OPERATIONS_OF_LEADER,
  "POST /webhooks/{name}",
] as const satisfies readonly Endpoint[];

interface LeaderPlacementOptions {
  readonly nodes: Pick<Nodes, "otherLeader">;
  /** Pages that need the same, as a method and a pattern each: `POST /channels/{name}`. */
  readonly pages: readonly string[];
}

/** Requests that need the node that leads go there. */
export class LeaderPlacement implements Placement {
  readonly #nodes: LeaderPlacementOptions["nodes"];
  readonly #patterns: PathPatterns;

  constructor(options: LeaderPlacementOptions) {
    this.#nodes = options.nodes;
    this.#patterns = new PathPatterns([...LEADER_ROUTES, ...options.pages]);
  }

  nodeFor(request: Request, _mark: Mark | null): NodeRecord | null {
    return this.#patterns.matches(request) ? this.#nodes.otherLeader() : null;
  }
}

/** Parts of a project below `/v1/projects/SLUG/` that are in the database alone. */
const IN_DATABASE: ReadonlySet<string> = new Set(["members", "webhooks"]);

export interface ProjectPlacementOptions {
  readonly projects: Pick<Projects, "find">;
  readonly homes: Pick<ProjectHomes, "elsewhere" | "forNew" | "named">;
}

/**
 * Requests about a project go to the node with its repository, and those for a new one to the node
 * with the fewest. If that node does not run, this one answers: it then says so to those who may
 * know the project.
 */
export class ProjectPlacement implements Placement {
  readonly refusesItself = true;
  readonly #options: ProjectPlacementOptions;

  constructor(options: ProjectPlacementOptions) {
    this.#options = options;
  }

  nodeFor(request: Request, mark: Mark | null): NodeRecord | null {
    if (mark !== null) return null;
    const { method, url } = request;
    const parts = partsOf(request);
    if (parts[0] === "projects") return this.#nodeForPage(method, parts[1] ?? "");
    // The node with the project keeps the logs of its jobs.
    if (parts[0] === "live" && parts[1] === "projects" && parts[3] === "jobs") {
      return this.#homeOf(parts[2] ?? "");
    }
    if (parts[0] !== "v1" || parts[1] !== "projects") return null;
    const [, , slug = "", part = ""] = parts;
    if (slug === "") return method === "POST" ? this.#options.homes.forNew() : null;
    if (part === "restore") return this.#options.homes.named(nodeIn(url));
    const isRepository = part === "" ? method === "DELETE" : !IN_DATABASE.has(part);
    return isRepository ? this.#homeOf(slug) : null;
  }

  #nodeForPage(method: string, name: string): NodeRecord | null {
    const slug = name.replace(/\.git$/, "");
    if (slug !== "new") return this.#homeOf(slug);
    return method === "POST" ? this.#options.homes.forNew() : null;
  }

  #homeOf(slug: string): NodeRecord | null {
    const held = this.#options.projects.find(slug);
    return held === null ? null : this.#options.homes.elsewhere(held.project);
  }
}

/** A job of a runner, by the path of a request about it. */
const OF_JOB = /^\/v1\/runner\/jobs\/([^/]{1,30})\//;

export interface JobPlacementOptions {
  readonly leases: Pick<Leases, "of">;
  readonly homes: Pick<ProjectHomes, "elsewhere">;
}

/** What a runner tells of a job goes to the node with its project, which keeps its log. */
export class JobPlacement implements Placement {
  readonly #options: JobPlacementOptions;

  constructor(options: JobPlacementOptions) {
    this.#options = options;
  }

  nodeFor(request: Request, mark: Mark | null): NodeRecord | null {
    if (mark !== null) return null;
    const [, job] = OF_JOB.exec(getPath(request)) ?? [];
    const lease = job === undefined ? null : this.#options.leases.of(job);
    return lease === null ? null : this.#options.homes.elsewhere({ id: lease.projectId });
  }
}

/** The node that the query of a URL names; "" for none. */
function nodeIn(url: string): string {
  const name = getQueryParam(url, "node");
  return typeof name === "string" ? name : "";
}

/** The parts of a request's path, as the router reads them. */
function partsOf(request: Request): readonly string[] {
  const path = getPath(request);
  const parts = path.slice(1).split("/", 4);
  return path.includes("%") ? parts.map(tryDecodeURIComponent) : parts;
}
