import type {
  CallToolResult,
  GetPromptResult,
  InputRequiredResult,
  Prompt,
  Tool as ToolListing,
} from "@modelcontextprotocol/server";
import type { Metrics } from "../services/operation/metrics/mod.ts";
import type { Principal } from "../services/people/identity/mod.ts";
import { Conflict, NotFound } from "../services/kernel/errors.ts";
import { suggest } from "../services/kernel/suggest.ts";
import { type Completion, completionOf } from "./completions.ts";
import { instructionsFor } from "./instructions.ts";
import { inContractNames, inContractWords } from "./names.ts";
import { fillPrompt, promptsFor } from "./prompts.ts";
import type { Resources } from "./resources.ts";
import { OLDEST_REVISION, STATELESS_REVISION, STRUCTURED_REVISION } from "./revisions.ts";
import { taskKeyOf, TASKS, type TaskView, taskView } from "./tasks.ts";
import { SKILLS } from "./skills.ts";
import { type CallServices, callTool, resultOf, type TaskResult, type Tool } from "./tool.ts";
import { type ClientSide, ToolCall, type ToolContext, withClient } from "./tool_call.ts";
import { ALL, type ToolSelection } from "./tool_sets.ts";
import { Toolbox } from "./toolbox.ts";
import { USE_TOOL } from "./unlisted_calls.ts";
import { formRequests, replyIn } from "./user_forms.ts";

/** How much of an unknown name an error repeats. */
export const MAX_SHOWN_NAME = 100;

/** The caller, and the protocol revision of the answer. */
export interface Session {
  readonly context: ToolContext;
  readonly revision: string;
  /** Which tools the client lists, of those that the caller may call. */
  readonly selection: ToolSelection;
  /** Absent: the client can neither ask its user nor hear of progress. */
  readonly client?: ClientSide;
}

/** What a client may use beside nothing at all. */
export interface Capabilities {
  readonly tools: Record<string, never>;
  readonly resources?: { readonly subscribe?: true };
  readonly prompts?: Record<string, never>;
  readonly completions?: Record<string, never>;
  readonly extensions?: Readonly<Record<string, Record<string, never>>>;
}

/** What the results are made of. */
export interface ResultServices extends CallServices {
  readonly metrics: Pick<Metrics, "toolCalled">;
  /** Absent: there are none. */
  readonly resources?: Resources;
}

/** A task that a client subscribes to. */
export interface FollowedTask {
  readonly id: string;
  /** The types of events after which it may be another. */
  readonly events: readonly string[];
  /** Whether an event of such a type is about it. */
  concerns(event: Readonly<Record<string, unknown>>): boolean;
  /** @throws NotFound if it is none of the caller's */
  see(): Promise<TaskView>;
}

/** The results of the protocol's methods, for any transport. */
export class Results {
  readonly #tools: Toolbox;
  readonly #services: ResultServices;
  /** Those of callers that get texts alone. */
  readonly #textServices: ResultServices;
  readonly #resources: Resources | null;

  /** @param tools as for {@link Toolbox} */
  constructor(tools: readonly Tool[], services: ResultServices) {
    this.#tools = new Toolbox(tools, services.projectApi);
    this.#services = services;
    this.#textServices = { ...services, hasTextsAlone: true };
    this.#resources = services.resources ?? null;
  }

  /** What the caller can use. The contract has tools alone for the oldest revision. */
  capabilities(session: Session): Capabilities {
    if (session.revision === OLDEST_REVISION) return { tools: {} };
    const hasResources = this.resourcesFor(session) !== null;
    return {
      tools: {},
      ...(hasResources ? { resources: {}, completions: {} } : {}),
      ...(this.prompts(session).length === 0 ? {} : { prompts: {} }),
      ...(session.revision === STATELESS_REVISION
        ? { extensions: { [TASKS]: {}, ...hasResources ? { [SKILLS]: {} } : {} } }
        : {}),
    };
  }

  /** The resources, if there may be some for the caller. */
  resourcesFor({ context }: Session): Resources | null {
    return this.#resources?.opens(context.caller.principal) === true ? this.#resources : null;
  }

  /** Completes an argument, as {@link completionOf} does. */
  complete(
    argument: { readonly name: string; readonly value: string },
    { context }: Session,
  ): Completion {
    const { projectApi: api } = this.#services;
    if (api === undefined) return { values: [], hasMore: false };
    return completionOf(argument, context.caller.principal, api);
  }

  /** The prompts that the caller's tools can fill. */
  prompts(session: Session): Prompt[] {
    return promptsFor((tool) => this.has(tool, session.context.caller.principal));
  }

  /**
   * Fills a prompt with what the caller's tools say.
   *
   * @throws NotFound, Invalid
   */
  prompt(
    name: string,
    input: Readonly<Record<string, string>>,
    session: Session,
  ): Promise<GetPromptResult | InputRequiredResult> {
    const { principal } = session.context.caller;
    return fillPrompt({ name, input }, {
      name: principal.name,
      has: (tool) => this.has(tool, principal),
      look: async (tool, input) => {
        const found = this.has(tool, principal) ? this.find(tool, session) : null;
        if (found === null) return null;
        const result = await this.call(found, input, session);
        if (!isComplete(result)) return null;
        const { content: [first], isError } = result;
        return first?.type === "text" ? { text: first.text, isError: isError === true } : null;
      },
    });
  }

  /** Logs a bug; returns what the caller may know of it. */
  report(error: unknown, { context: { caller: { requestId } } }: Session): string {
    this.#services.log.error("An MCP request failed on a bug", { requestId, error });
    return `internal error (${requestId})`;
  }

  /** Whether there is a tool of this name that a principal may call. */
  has(tool: string, principal: Principal): boolean {
    return this.#tools.has(tool, principal);
  }

  /** The instructions for the client's model; the contract has none for the oldest revision. */
  instructions({ context, revision }: Session): string | undefined {
    if (revision === OLDEST_REVISION) return undefined;
    const { principal } = context.caller;
    const text = instructionsFor(principal);
    return hasOwnNames(principal) ? text : inContractWords(text);
  }

  /** The tools that the caller may call and the client lists, as `tools/list` shows them. */
  list({ context: { caller: { principal } }, revision, selection }: Session): ToolListing[] {
    const isStructured = knowsStructure(revision);
    const listed = this.#tools.openTo(principal).filter(({ name }) => selection.has(name))
      .map((tool) => listingOf(tool, isStructured));
    return hasOwnNames(principal) ? listed : listed.map(inContractNames);
  }

  /** The result of `tools/list` as JSON text. */
  listText(session: Session): string {
    const { context, revision, selection } = session;
    return this.#tools.textFor(
      context.caller.principal,
      [
        knowsStructure(revision) ? "structured" : "plain",
        hasOwnNames(context.caller.principal) ? "own" : "contract",
        `${selection.key} `,
      ].join(" "),
      () => JSON.stringify({ tools: this.list(session) }),
    );
  }

  /** The mark of the tools that a principal may call, as {@link Toolbox.mark} gives it. */
  toolsMark(principal: Principal): string {
    return this.#tools.mark(principal);
  }

  /** The tool of this name as {@link Toolbox.find} finds it. */
  find(name: string, { context }: Session): Tool | null {
    return this.#tools.find(name, context.caller.principal);
  }

  /** The error for a call of an unknown tool. */
  unknownTool(name: string, session: Session): string {
    const shown = name.slice(0, MAX_SHOWN_NAME);
    const all = this.list({ ...session, selection: ALL });
    const near = suggest(shown, all.map((tool) => tool.name));
    const namesAll = session.selection.has(USE_TOOL)
      ? `${USE_TOOL} without a name names all`
      : "tools/list names all";
    const remedy = near === null ? namesAll : `did you mean "${near}"?`;
    return `There is no tool "${shown}"; ${remedy}`;
  }

  /** Calls a tool. Never throws: a failure is also a result. */
  async call(
    tool: Tool,
    input: Record<string, unknown>,
    session: Session,
  ): Promise<CallToolResult | InputRequiredResult | TaskResult> {
    const started = performance.now();
    const { revision } = session;
    const services = knowsStructure(revision) ? this.#services : this.#textServices;
    const called = await callTool(tool, input, contextOf(session), services);
    const result = hasOwnNames(session.context.caller.principal) ? called : inContractError(called);
    const seconds = (performance.now() - started) / 1000;
    this.#services.metrics.toolCalled(tool.name, result.isError === true ? "error" : "ok", seconds);
    if (knowsStructure(revision) || !isComplete(result)) return result;
    const { structuredContent: _unknown, ...plain } = result;
    return plain;
  }

  /**
   * A task that a client subscribes to.
   *
   * @throws NotFound if it is none of the caller's
   */
  followedTask(id: string, session: Session): FollowedTask {
    const { key, task } = this.#followed(id, session);
    return {
      id,
      events: task.events,
      concerns: (event) => task.concerns(event, key.about, key.slug),
      see: () => this.task(id, session),
    };
  }

  /**
   * Shows a task.
   *
   * @throws NotFound if it is none of the caller's
   */
  async task(id: string, session: Session): Promise<TaskView> {
    const { key, task, call } = this.#followed(id, session);
    const { answer, isOver, changed, form } = await task.see(key.about, call);
    if (isOver) {
      const { data, text = JSON.stringify(data) } = answer;
      return taskView(key, "completed", { result: resultOf({ ...answer, text }) }, changed);
    }
    if (form === undefined) return taskView(key, "working");
    return taskView(key, "input_required", { inputRequests: formRequests(form) });
  }

  /**
   * Takes in what the client's user answered; what answers nothing is ignored.
   *
   * @param responses nobody has checked them
   * @throws NotFound if it is none of the caller's
   */
  async updateTask(id: string, responses: unknown, session: Session): Promise<void> {
    const { key, task, call } = this.#followed(id, session);
    const answer = replyIn(responses, key.tool)?.answer ?? null;
    if (answer !== null) await task.reply?.(key.about, answer, call);
  }

  /** @throws NotFound if it is none of the caller's */
  async cancelTask(id: string, session: Session): Promise<void> {
    const { key, task, call } = this.#followed(id, session);
    try {
      await task.cancel(key.about, call);
    } catch (error) {
      // It has ended already.
      if (!(error instanceof Conflict)) throw error;
    }
  }

  #followed(id: string, session: Session) {
    const context = contextOf(session);
    const { principal } = context.caller;
    const key = taskKeyOf(id, principal, Date.now());
    const { task, head } = this.#tools.find(key.tool, principal) ?? {};
    const lacksProject = head !== undefined && "needs" in head && key.slug === null;
    if (task === undefined || lacksProject) throw new NotFound("There is no such task");
    return { key, task, call: new ToolCall(this.#services, context, key.slug) };
  }
}

function contextOf({ context, client }: Session): ToolContext {
  return client === undefined ? context : withClient(context, client);
}

/** A failed result whose text names tools as the caller's list does. */
function inContractError<Result extends CallToolResult | InputRequiredResult>(
  result: Result,
): Result {
  if (result.isError !== true || !Array.isArray(result.content)) return result;
  const content = result.content.map((part) =>
    part.type === "text" ? { ...part, text: inContractWords(part.text) } : part
  );
  return { ...result, content };
}

/** Whether a result is the tool's own, and neither a form for the user nor a task. */
function isComplete(
  result: CallToolResult | InputRequiredResult | TaskResult,
): result is CallToolResult {
  return result.resultType !== "input_required" && result.resultType !== "task";
}

function listingOf(tool: Tool, isStructured: boolean): ToolListing {
  return isStructured ? { ...tool.listing, outputSchema: tool.outputSchema } : tool.listing;
}

/** Whether lists have our names of tools and arguments, and not the contract's. */
function hasOwnNames({ kind }: Principal): boolean {
  return kind === "agent";
}

/** Whether a revision, which is a date, has structured results and their schemas. */
function knowsStructure(revision: string): boolean {
  return revision >= STRUCTURED_REVISION;
}
