import type { ProjectApi } from "../routes/projects/project_api.ts";
import type { Principal } from "../services/people/identity/mod.ts";
import type { NodeRecord } from "../services/kernel/nodes.ts";
import type { ProjectHomes, Projects } from "../services/work/projects/mod.ts";
import type { CallPlacement, Message } from "./forwarded_calls.ts";
import { faultOfParams } from "./parameters.ts";
import { isRecord } from "./json_rpc.ts";

const RESOURCE = /^muster:\/\/project\/([^/]+)\//;

export interface ProjectCallPlacementOptions {
  readonly api: Pick<ProjectApi, "reachable">;
  readonly projects: Pick<Projects, "find">;
  readonly homes: Pick<ProjectHomes, "elsewhere">;
  /** The names of the tools that act in no project. */
  readonly others: ReadonlySet<string>;
}

/** Calls and resources of a project go to the node with its repository, if that runs. */
export class ProjectCallPlacement implements CallPlacement {
  readonly #options: ProjectCallPlacementOptions;

  constructor(options: ProjectCallPlacementOptions) {
    this.#options = options;
  }

  nodeFor({ method, params }: Message, principal: Principal): NodeRecord | null {
    if (!isRecord(params)) return null;
    const { projects, homes } = this.#options;
    const slug = this.#slugOf(String(method), params, principal);
    const held = slug === null ? null : projects.find(slug);
    return held === null ? null : homes.elsewhere(held.project);
  }

  #slugOf(method: string, params: Message, principal: Principal): string | null {
    switch (method) {
      case "tools/call":
      case "prompts/get": {
        const { name, arguments: input } = params;
        if (method === "tools/call" && this.#options.others.has(String(name))) return null;
        const slug = isRecord(input) ? input["slug"] ?? input["project"] : undefined;
        return typeof slug === "string" && slug !== "" ? slug : this.#onlyOf(principal);
      }
      case "resources/read":
        return RESOURCE.exec(String(params["uri"]))?.[1] ?? null;
      case "resources/list":
        return faultOfParams({ method, params }) === null
          ? this.#listed(Number(params["cursor"] ?? 0), principal)
          : null;
      default:
        return null;
    }
  }

  /** The only project that a principal reaches; null if there are none or several. */
  #onlyOf(principal: Principal): string | null {
    const { projects: [only], total } = this.#options.api.reachable(principal, {
      limit: 1,
      offset: 0,
    });
    return total === 1 ? only?.slug ?? null : null;
  }

  /** The project whose resources are on a page of the list. */
  #listed(offset: number, principal: Principal): string | null {
    const { projects: [listed] } = this.#options.api.reachable(principal, { limit: 1, offset });
    return listed?.slug ?? null;
  }
}
