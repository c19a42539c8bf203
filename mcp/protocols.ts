import { type Forwarding, Waits } from "../http/mod.ts";
import type { ProjectApi } from "../routes/projects/project_api.ts";
import type { Nodes } from "../services/cluster/nodes/mod.ts";
import type { Log } from "../services/kernel/log.ts";
import { nextTurn } from "../services/kernel/pieces.ts";
import { type Scheduler, systemScheduler } from "../services/kernel/scheduler.ts";
import type { Config } from "../services/operation/config/mod.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { Metrics } from "../services/operation/metrics/mod.ts";
import type { AgentSessions, Identity, Principal } from "../services/people/identity/mod.ts";
import type { ProjectRepositories, Projects } from "../services/work/projects/mod.ts";
import { coordinationTools } from "./coordination_tools.ts";
import type { CallPlacement } from "./forwarded_calls.ts";
import { Protocol } from "./protocol.ts";
import { LeaderCallPlacement } from "./leader_call_placement.ts";
import { ProjectCallPlacement } from "./project_call_placement.ts";
import { OPERATION_TOOLS } from "./operation_tools.ts";
import { SERVER_OPERATIONS } from "../services/operation/daemon/server_operations.ts";
import { Results, type ResultServices } from "./results.ts";
import { inOrder, type Tool } from "./tool.ts";
import type { AnyServerOperation, ServerServices, ToolContext } from "./tool_call.ts";
import { Toolbox } from "./toolbox.ts";
import { TOOLS_MARK } from "./tools_mark.ts";
import { USE_TOOL } from "./unlisted_calls.ts";

/** The services of the MCP endpoint. */
export interface McpServices extends ServerServices {
  readonly config: Config;
  readonly log: Log;
  readonly metrics: Pick<
    Metrics,
    "requestAnswered" | "toolCalled" | "streamOpened" | "streamClosed"
  >;
  readonly identity: Pick<Identity, "authenticate" | "enterSession" | "endings" | "onEnded">;
  /** Absent: an agent has no sessions. */
  readonly agentSessions?: Pick<AgentSessions, "end">;
  /** Absent: this node alone has projects. */
  readonly hosting?: {
    readonly projects: Pick<Projects, "all" | "find">;
    readonly repositories: Pick<ProjectRepositories, "homes">;
  };
  /** Absent: there are no other nodes. */
  readonly nodes?: Pick<Nodes, "otherLeader">;
  /** Absent: there are no other nodes. */
  readonly forwarding?: Pick<Forwarding, "forward"> | undefined;
  /** Absent: there are no tools for projects. */
  readonly projectApi?: ProjectApi;
  /** Those of all operations; absent: no operation on the server is a tool by its declaration. */
  readonly all?: Services;
  /** Default: the system's. */
  readonly scheduler?: Scheduler;
}

/** What is known of a tool that an operation on the server is, before its room is loaded. */
interface DeclaredRow {
  readonly room: keyof typeof SERVER_OPERATIONS;
  readonly runsOn?: "leader";
  /** Whether a call may name a project, whose node then answers it. */
  readonly takesSlug?: true;
}

/**
 * The protocol with all tools, and until they are loaded, one with those of coordination alone. The
 * tools for projects take several times the memory of everything else here, so a server without
 * projects loads them with the first message that needs them.
 */
export class Protocols {
  readonly #services: McpServices;
  readonly #waits = new Waits();
  readonly #tools: readonly Tool[];
  readonly #coordination: Protocol;
  #whole: Protocol | null = null;
  #loading: Promise<Protocol> | null = null;

  constructor(services: McpServices) {
    this.#services = services;
    services.identity.onEnded((ended) => this.#waits.abortEnded(ended));
    this.#tools = coordinationTools(services.config.bridge.buffer_size);
    this.#coordination = this.#create(this.#tools);
    if (services.projectApi === undefined) this.#whole = this.#coordination;
  }

  /** Prepares the tools of coordination, and loads those for projects if there is a project. */
  async prepare(): Promise<void> {
    for (const tool of this.#tools) {
      tool.prepare();
      await nextTurn();
    }
    const { hosting } = this.#services;
    if (hosting !== undefined && hosting.projects.all().length > 0) await this.#load();
  }

  /** Answers a call of a tool of coordination, as a protocol does, but counts it nowhere. */
  async rehearse(body: unknown, request: Request, context: ToolContext): Promise<void> {
    const protocol = this.#create(this.#tools, { metrics: { toolCalled() {} } });
    protocol.suffices(body, context.caller.principal);
    await protocol.respond(body, request, context, () => Promise.resolve());
  }

  /** The protocol that answers the body of a request. */
  async answering(body: unknown, { headers }: Request, principal: Principal): Promise<Protocol> {
    if (this.#whole !== null) return this.#whole;
    const suffices = !headers.has(TOOLS_MARK) && this.#coordination.suffices(body, principal);
    return suffices ? this.#coordination : await this.#load();
  }

  /** What decides which node answers a message. */
  placements(): readonly CallPlacement[] {
    const { projectApi: api, hosting, nodes } = this.#services;
    const declared = Object.entries<DeclaredRow>(OPERATION_TOOLS);
    const toLeader = nodes === undefined ? [] : [
      new LeaderCallPlacement(nodes, [
        ...this.#tools.flatMap(({ name, head }) =>
          "runsOn" in head && head.runsOn === "leader" ? [name] : []
        ),
        ...declared.flatMap(([name, { runsOn }]) => runsOn === "leader" ? [name] : []),
      ]),
    ];
    if (api === undefined || hosting === undefined) return toLeader;
    const { projects, repositories: { homes } } = hosting;
    const others = new Set([
      USE_TOOL,
      ...this.#tools.map(({ name }) => name),
      ...declared.flatMap(([name, { takesSlug }]) => takesSlug === true ? [] : [name]),
    ]);
    return [...toLeader, new ProjectCallPlacement({ api, projects, homes, others })];
  }

  #load(): Promise<Protocol> {
    return this.#loading ??= this.#addProjects().catch((error) => {
      this.#loading = null;
      throw error;
    });
  }

  async #addProjects(): Promise<Protocol> {
    const { projectApi } = this.#services;
    if (projectApi === undefined) return this.#coordination;
    const [{ TOOLS_FOR_PROJECTS }, { ProjectResources }, { useTool }, declared] = await Promise.all(
      [
        import("./projects/mod.ts"),
        import("./resources.ts"),
        import("./use_tool.ts"),
        this.#declaredTools(),
      ],
    );
    const tools = [...this.#tools, ...TOOLS_FOR_PROJECTS, ...declared];
    const all = [...tools, useTool(new Toolbox(tools, projectApi))];
    return this.#whole = this.#create(all, { resources: new ProjectResources(projectApi) });
  }

  /** The tools that operations on the server are, by the rooms that have some. */
  async #declaredTools(): Promise<readonly Tool[]> {
    if (this.#services.all === undefined) return [];
    const { declaredTools } = await import("./declared_tools.ts");
    const rooms = new Set(Object.values<DeclaredRow>(OPERATION_TOOLS).map(({ room }) => room));
    const operations = await Promise.all([...rooms].map(async (room) => {
      const loaded: Readonly<Record<string, AnyServerOperation>> = await SERVER_OPERATIONS[room]();
      return Object.values(loaded);
    }));
    return inOrder(declaredTools(operations.flat()));
  }

  #create(
    tools: readonly Tool[],
    more: Partial<Pick<ResultServices, "resources" | "metrics">> = {},
  ): Protocol {
    const { scheduler = systemScheduler, all, metrics } = this.#services;
    const results = new Results(tools, { ...this.#services, waits: this.#waits, ...more });
    if (all === undefined) return new Protocol(results, scheduler);
    return new Protocol(results, scheduler, { services: all, metrics });
  }
}
