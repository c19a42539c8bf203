import type {
  CallToolResult,
  InputRequiredResult,
  Tool as ToolListing,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { Forbidden, Invalid } from "../services/kernel/errors.ts";
import type { ProjectApi } from "../routes/projects/project_api.ts";
import {
  type Action,
  mayDo,
  type Principal,
  requireServerCall,
} from "../services/people/identity/mod.ts";
import { methodOf, type ServerHead } from "../services/people/identity/server_operation.ts";
import type { ProjectHead } from "../services/work/projects/operation.ts";
import type { ToolAdvice, ToolHints } from "../services/people/identity/operation.ts";
import { systemScheduler } from "../services/kernel/scheduler.ts";
import type { Log } from "../services/kernel/log.ts";
import { describeIssue } from "../services/kernel/validation/mod.ts";
import { bounded, closed, hintFor } from "../services/kernel/validation/schemas.ts";
import { explain, hunksOf } from "./advice.ts";
import { type Cut, type Data, fit, maxCharsShape, moreShape } from "./budget.ts";
import { lenientReader } from "./lenient_arguments.ts";
import { slugOf, ToolCall, type ToolContext, type ToolServices } from "./tool_call.ts";
import { callerKey, type TaskView, taskView } from "./tasks.ts";
import { formResult, UserAsked, type UserForm } from "./user_forms.ts";

/** What a call of a tool returns. */
export interface ToolAnswer {
  /** The result as JSON. */
  readonly data: Data;
  /** For the model to read; by default, `data` as JSON, shortened to fit. */
  readonly text?: string;
  /** A second text, for what the fixed form of the first has no room for. */
  readonly more?: string;
  /** The fields of `data` that may be shortened; the first one is shortened first. */
  readonly cuts?: readonly Cut[];
}

/** What a task shows of its work. */
export interface TaskSight {
  /** As the call would answer now. */
  readonly answer: ToolAnswer;
  readonly isOver: boolean;
  /** When it changed last, in Unix milliseconds; absent: not since it began. */
  readonly changed?: number;
  /** What the client may ask its user meanwhile. */
  readonly form?: UserForm;
}

/** How a client can follow what a call has begun, instead of waiting for it. */
export interface ToolTask {
  /**
   * What the task is about, to be written into its id.
   *
   * @returns null if there is nothing to wait for: the answer is the result
   */
  about(input: Data, answer: Data): Data | null;
  /** @throws {ServiceError} the caller may not see it */
  see(about: Data, call: ToolCall): Promise<TaskSight>;
  /** The types of events after which it may be another. */
  readonly events: readonly string[];
  /** Whether an event of such a type is about it; `slug` is the project in which it acts. */
  concerns(event: Data, about: Data, slug: string | null): boolean;
  /** Takes in what the client's user answered to the form. */
  reply?(about: Data, answer: string, call: ToolCall): Promise<void>;
  /** Ends the work, if that is possible; it may have ended already. */
  cancel(about: Data, call: ToolCall): Promise<void>;
}

/** What a call has begun, for a client that follows tasks. */
interface BegunTask {
  readonly slug: string | null;
  readonly about: Data;
}

/** The heads of operations from which tools follow. */
export type ToolHead = ServerHead | ProjectHead;

/**
 * A tool, in words for a model. From the operation that it is about follows who sees it in
 * `tools/list`, whether a call changes something, and which node answers it.
 *
 * A tool about an operation in a project takes the project's `slug`, and `max_chars` if it reads,
 * unless it has arguments of these names of its own.
 */
export interface ToolDefinition<Input extends z.ZodRawShape> {
  readonly name: string;
  /** What the tool does, when to use it and what to do next. */
  readonly description: string;
  /** The operation that it is about. */
  readonly does: { readonly declared: ToolHead };
  /**
   * Who sees it, if the operation does not say all.
   *
   * @param may whether the operation is open to the principal: in a project, in at least one
   */
  sees?(principal: Principal, may: boolean): boolean;
  /** Why the others, who do not see it, are refused; absent: the operation itself refuses them. */
  readonly refusal?: string;
  /** Validates the arguments; `tools/list` shows it as `inputSchema`. */
  readonly input: Input;
  /** The schema of `data`, shown as `outputSchema`. */
  readonly output: z.ZodRawShape;
  readonly hints?: ToolHints;
  /** Advice about failures that is specific to this tool. */
  readonly advice?: ToolAdvice;
  /** Absent: a client that follows tasks gets the answer too. */
  readonly task?: ToolTask;
  /** Whether all of its answer is JSON that may be long: it takes `max_chars` also outside of projects. */
  readonly isLong?: true;
  /**
   * Does its work by operations that it invokes.
   *
   * @param input the arguments as `input` reads them
   * @param given the arguments as the caller gave them, for an operation that reads them itself
   * @throws {ServiceError} The call fails for a reason that the caller may know.
   */
  run(
    input: z.output<z.ZodObject<Input>>,
    call: ToolCall,
    given: Data,
  ): Promise<ToolAnswer> | ToolAnswer;
}

/** An answer whose text is written. */
export type WrittenAnswer = Required<Pick<ToolAnswer, "text" | "data">> & ToolAnswer;

/** A tool as the protocol sees it. */
export interface Tool {
  readonly name: string;
  /** Its entry in `tools/list`, without the output's schema, which older clients do not know. */
  readonly listing: ToolListing;
  readonly outputSchema: NonNullable<ToolListing["outputSchema"]>;
  readonly advice: ToolAdvice;
  /** The head of the operation that it is about. */
  readonly head: ToolHead;
  /** As {@link ToolDefinition.task}. */
  readonly task?: ToolTask | undefined;
  /** As {@link ToolDefinition.sees}. */
  sees(principal: Principal, may: boolean): boolean;
  /**
   * @param input the raw arguments
   * @throws {ServiceError} As {@link ToolDefinition.run}; {@link Invalid} names a bad argument,
   * {@link Forbidden} says why the caller may not use the tool.
   */
  call(
    input: Record<string, unknown>,
    context: ToolContext,
    services: ToolServices,
  ): Promise<WrittenAnswer & { readonly begun?: BegunTask }>;
  /** Whether a call with these arguments may wait for news (`wait_seconds`). */
  mayWait(input: unknown): boolean;
  /** Builds the schema for which the first call would otherwise wait. */
  prepare(): void;
}

const readWait = lenientReader(z.looseObject({ wait_seconds: z.number() }));

/** The argument that names the project. */
export const slugShape = {
  slug: z.string().optional(),
};

/** Longest answer of a tool that takes no `max_chars`. */
const MAX_SHORT_ANSWER = 40_000;

/** Creates a tool that validates its arguments by the schema that it shows. */
export function tool<Input extends z.ZodRawShape>(definition: ToolDefinition<Input>): Tool {
  const { name, description, does: { declared: head }, hints } = definition;
  const isInProject = "needs" in head;
  const changes = changesSomething(head);
  const fits = (isInProject || definition.isLong === true) && !("max_chars" in definition.input);
  const isLong = fits && !changes;
  const findsProject = isInProject && !("slug" in definition.input);
  const shape = {
    ...isInProject ? slugShape : {},
    ...definition.input,
  };
  const shownOf = once(() => z.object(shape));
  // The instructions tell once of what all tools with long answers take.
  const takenOf = once(() => z.strictObject({ ...shape, ...isLong ? maxCharsShape : {} }));
  const schemaOf = once(() => bounded(closed(takenOf())));
  const readerOf = once(() => lenientReader(takenOf()));
  const names = [...Object.keys(shape), ...isLong ? ["max_chars"] : []];
  // Those that are not for what the tool does.
  const common = new Set([...findsProject ? ["slug"] : [], ...isLong ? ["max_chars"] : []]);
  const describe = once(() => ({
    name,
    description,
    inputSchema: jsonSchemaOf(shownOf(), "input"),
    annotations: {
      readOnlyHint: !changes,
      ...(changes ? { destructiveHint: false, idempotentHint: false } : {}),
      ...hints,
      // Every tool acts on this server alone.
      openWorldHint: false,
    },
  }));
  const describeOutput = once(() =>
    jsonSchemaOf(z.object({ ...definition.output, ...fits ? moreShape : {} }), "output")
  );
  return {
    name,
    get listing() {
      return describe();
    },
    get outputSchema() {
      return describeOutput();
    },
    advice: isInProject
      ? { notFound: "Check the arguments; list_projects names your projects", ...definition.advice }
      : definition.advice ?? {},
    head,
    task: definition.task,
    sees: (principal, may) => definition.sees?.(principal, may) ?? may,
    async call(input, context, services) {
      const { principal } = context.caller;
      const { refusal } = definition;
      if (refusal !== undefined && definition.sees?.(principal, true) === false) {
        throw new Forbidden(refusal);
      }
      // The operation checks the rights. A caller without them hears that, and not of arguments.
      const invalid = (message: string) => {
        requireOpen(head, principal, services);
        return new Invalid(message);
      };
      const read = readerOf()(input) as Data;
      const unknown = Object.keys(read).find((key) => !names.includes(key));
      if (unknown !== undefined) throw invalid(describeUnknown(unknown, { name, names }));
      const { data: given, error } = schemaOf().safeParse(read, { reportInput: true });
      if (given === undefined) throw invalid(describeError(error));
      if (isInProject) requireWholeCharacters(given);
      const { slug, max_chars: most = MAX_SHORT_ANSWER } = given as Data;
      const call = new ToolCall(
        services,
        context,
        findsProject ? slugOf(services, slug, principal) : null,
      );
      const own = common.size === 0
        ? given
        : Object.fromEntries(Object.entries(given).filter(([argument]) => !common.has(argument)));
      const answer = await definition.run(own as z.output<z.ZodObject<Input>>, call, read);
      const { data, text, more, cuts = [] } = answer;
      const about = context.followsTasks === true
        ? definition.task?.about(own, data) ?? null
        : null;
      if (about !== null) return { data, text: "", begun: { slug: call.projectSlug, about } };
      if (text !== undefined) return { text, data, ...more === undefined ? {} : { more } };
      const { hasTextsAlone, scheduler = systemScheduler } = services;
      const now = hasTextsAlone === true ? null : scheduler.now();
      return fit(data, cuts, Number(most), { now, isFixed: !isLong });
    },
    mayWait(input) {
      const { wait_seconds } = shape as z.ZodRawShape;
      if (wait_seconds === undefined) return false;
      const { data } = z.looseObject({ wait_seconds }).safeParse(readWait(input));
      return Number(data?.wait_seconds) > 0;
    },
    prepare() {
      schemaOf().safeParse(readerOf()({}));
    },
  };
}

/** Tools by the paths of what they are about, so that those about one thing stand together. */
export function inOrder(tools: readonly Tool[]): readonly Tool[] {
  const pathOf = ({ head: { http }, name }: Tool) => `${http?.split(" ")[1] ?? ""} ${name}`;
  return tools.toSorted((one, other) => pathOf(one) < pathOf(other) ? -1 : 1);
}

/** Whether a call of a tool about this operation changes something. */
function changesSomething(head: ToolHead): boolean {
  return methodOf(head) !== "GET";
}

/** Whether an operation is open to a principal: in a project, in at least one. */
export function isOpenTo(
  head: ToolHead,
  principal: Principal,
  api: ProjectApi | undefined,
): boolean {
  if ("needs" in head) return mayInProjects(head.needs, principal, api);
  if (!mayDo(principal, changesSomething(head) ? "write" : "read", { kind: head.on })) return false;
  return head.on !== "projects" || mayInProjects("read", principal, api);
}

/** Whether a principal may do something in a project, be it one that is not made yet. */
function mayInProjects(
  action: Action,
  principal: Principal,
  api: ProjectApi | undefined,
): boolean {
  const { kind, project } = principal;
  if (kind !== "agent" && kind !== "person") {
    const resource = { kind: "project", role: null, visibility: "private" } as const;
    if (mayDo(principal, action, { ...resource, id: project ?? "" })) return true;
  }
  return api?.mayAnywhere(principal, action) === true;
}

/**
 * Refuses before the arguments are judged. In a project, the project itself decides later.
 *
 * @throws {ServiceError} the principal may not call the operation now
 */
function requireOpen(
  head: ToolHead,
  principal: Principal,
  { agents: { halts }, space }: ToolServices,
): void {
  if (!("needs" in head)) {
    requireServerCall(methodOf(head), head, principal, { halts, space });
  } else if (changesSomething(head)) halts.requireGoing(principal);
}

/**
 * Names and texts become parts of URLs and of artifacts, which hold whole characters alone.
 *
 * @throws Invalid if a text has half of a surrogate pair
 */
function requireWholeCharacters(given: Data): void {
  for (const [name, value] of Object.entries(given)) {
    if (!isWhole(value)) {
      throw new Invalid(`"${name}" has half of a character (an unpaired surrogate)`);
    }
  }
}

function isWhole(value: unknown): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWhole(inner));
}

/** Computes a value on first use: calls do not need the schemas that only a list shows. */
function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** The JSON Schema of an object, without `$schema`, which some clients' models reject. */
function jsonSchemaOf(schema: z.ZodObject, io: "input" | "output"): ToolListing["inputSchema"] {
  const override = ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }) =>
    shorten(jsonSchema, io);
  // The instructions tell once of it.
  const { max_chars: _, ...fields } = schema.shape;
  const { $schema: _dialect, ...rest } = z.toJSONSchema(z.object(fields), {
    io,
    override,
    metadata: new Unnamed(),
  });
  return rest as ToolListing["inputSchema"];
}

/** What schemas say of themselves, without their names: some clients do not follow `$ref`. */
class Unnamed extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get(schema: z.core.$ZodType) {
    const { id: _, ...said } = z.globalRegistry.get(schema) ?? {};
    return said;
  }
}

/** Bounds, which a call checks: a model pays for them in every request, and an error names them. */
const BOUNDS = [
  ...["minLength", "maxLength", "pattern", "minItems", "maxItems", "minProperties"],
  ...["maxProperties", "minimum", "exclusiveMinimum"],
] as const;

/** Greatest numbers from here on are only bounds. */
const LARGE = 1000;

/** Defaults that a model takes for granted. */
const EMPTY: ReadonlySet<unknown> = new Set(['""', "[]", "0", "false"]);

/** Removes what costs a model's attention and says nothing. */
function shorten(schema: z.core.JSONSchema.BaseSchema, io: "input" | "output"): void {
  for (const bound of BOUNDS) delete schema[bound];
  if (schema.allOf?.every((part) => Object.keys(part).every((key) => key === "pattern"))) {
    delete schema.allOf;
  }
  if (schema.maximum !== undefined && schema.maximum >= LARGE) delete schema.maximum;
  if (schema.description === "") delete schema.description;
  if (EMPTY.has(JSON.stringify(schema.default))) delete schema.default;
  // The keys of every object are texts.
  delete schema.propertyNames;
  delete schema.keepsEmpty;
  if (schema.additionalProperties === false) delete schema.additionalProperties;
  if (io === "output") delete schema.readOnly;
}

/** How much of an unknown argument's name an error repeats. */
const MAX_SHOWN_NAME = 50;

function describeUnknown(
  unknown: string,
  { name, names }: { readonly name: string; readonly names: readonly string[] },
): string {
  const shown = unknown.slice(0, MAX_SHOWN_NAME);
  const refusal = `"${shown}" is not an argument of ${name}`;
  return names.length === 0 ? `${refusal}, which takes none` : refusal + hintFor(shown, names);
}

/** An unknown field often stands for one that is missed. */
function describeError(error: z.ZodError | undefined): string {
  const issues = error?.issues ?? [];
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  return issue === undefined ? "The arguments are not valid" : describeIssue(issue);
}

/** The services of every call, and the log of bugs. */
export interface CallServices extends ToolServices {
  readonly log: Log;
}

/**
 * Calls a tool and formats the outcome for the protocol: a failure is a result with `isError` and
 * sentences that say what is wrong and what to do. Never throws.
 */
export async function callTool(
  tool: Tool,
  input: Record<string, unknown>,
  context: ToolContext,
  services: CallServices,
): Promise<CallToolResult | InputRequiredResult | TaskResult> {
  try {
    const { begun, ...answer } = await tool.call(input, context, services);
    if (begun === undefined) return resultOf(answer);
    const by = callerKey(context.caller.principal);
    const key = { tool: tool.name, by, at: Date.now(), ...begun };
    return { content: [], resultType: "task", ...taskView(key, "working") };
  } catch (error) {
    if (error instanceof UserAsked) return formResult(error.form);
    const text = failure(error, tool, context, services.log);
    return { content: [{ type: "text", text }], isError: true };
  }
}

/** The result of a call that has begun a task. */
export type TaskResult = CallToolResult & TaskView & { readonly resultType: "task" };

/** An answer as the protocol has it. */
export function resultOf({ text, data, more }: WrittenAnswer): CallToolResult {
  const texts = more === undefined ? [text] : [text, more];
  const content = texts.map((text) => ({ type: "text" as const, text }));
  return { content, structuredContent: data, isError: false };
}

/** Longest error, in characters; a longer one repeats a long argument. */
const MAX_ERROR = 4000;

/** An error with its beginning and its end, which says what to do. */
function shortened(text: string): string {
  const whole = text.toWellFormed();
  if (whole.length <= MAX_ERROR) return whole;
  const half = MAX_ERROR / 2;
  return `${whole.slice(0, half)} […] ${whole.slice(-half)}`.toWellFormed();
}

function failure(error: unknown, tool: Tool, { caller, signal }: ToolContext, log: Log): string {
  const explanation = explain(error, tool.advice);
  if (explanation !== null) return shortened(explanation) + hunksOf(error);
  if (signal.aborted) return "The client closed the request";
  const { requestId } = caller;
  log.error("A tool failed on a bug", { requestId, tool: tool.name, error });
  return `internal error (${requestId}). Tell the operator this id, and do not call again at once`;
}
