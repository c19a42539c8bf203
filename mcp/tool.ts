import type {
  CallToolResult,
  InputRequiredResult,
  Tool as ToolListing,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { Invalid } from "../services/errors.ts";
import type { FreeSpace } from "../services/kernel/files.ts";
import {
  authorize,
  type Caller,
  mayDo,
  type Principal,
  type Resource,
} from "../services/identity/mod.ts";
import type { Log } from "../services/log.ts";
import { describeIssue } from "../services/validation/mod.ts";
import {
  bounded,
  closed,
  hintFor,
  publishPatterns,
  showLengths,
} from "../services/validation/schemas.ts";
import { type Advice, explain } from "./advice.ts";
import { lenient } from "./lenient_arguments.ts";
import { formResult, UserAsked, type UserReply } from "./user_forms.ts";

/** Which agents are halted. */
export interface ToolHalts {
  /** @throws {Halted} the principal is a halted agent */
  requireGoing(principal: Principal): void;
}

/** The services of every call. */
export interface CallServices {
  readonly log: Log;
  /** Halted agents may call only tools that change nothing. */
  readonly halts: ToolHalts;
  /** Says when the disk has no room for what tools with `isNewWork` do. */
  readonly space: Pick<FreeSpace, "require">;
}

/** The context of a call, beside its arguments. */
export interface ToolContext {
  readonly caller: Caller;
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal;
  /** Whether the client can ask its user; then a tool may throw {@link UserAsked}. */
  readonly hasUser?: boolean;
  /** What the user replied to the form of an earlier call. */
  readonly reply?: UserReply | null;
}

/** The result of a tool. */
export interface ToolOutput {
  /** For the model to read. */
  readonly text: string;
  /** The result as JSON. */
  readonly data: Record<string, unknown>;
  /** A second text, for what the fixed form of the first has no room for. */
  readonly more?: string;
}

/** Who may call a tool. */
export interface ToolRights {
  /** Whether `tools/list` shows the tool to a principal. */
  opens(principal: Principal): boolean;
  /** @throws {ServiceError} the principal may not call it */
  require(principal: Principal): void;
}

/** Annotations of a tool beside `readOnlyHint`. */
export interface ToolHints {
  readonly destructiveHint?: boolean;
  readonly idempotentHint?: boolean;
  readonly openWorldHint?: boolean;
}

/** A tool: its name, its input, its output and what it does. */
export interface ToolDefinition<Input extends z.ZodRawShape> {
  readonly name: string;
  /** What the tool does, when to use it and what to do next, for a model. */
  readonly description: string;
  /**
   * The resource that it acts on: only callers who may read it, or change it, see the tool in
   * `tools/list`. Or what decides in its place.
   */
  readonly resource: Exclude<Resource["kind"], "project"> | ToolRights;
  /** Whether only agents may call it; absent: no. */
  readonly agentsOnly?: boolean;
  /** Validates the arguments; `tools/list` shows it as `inputSchema`. */
  readonly input: Input;
  /** The schema of `data`, shown as `outputSchema`. */
  readonly output: z.ZodObject;
  /** Whether a call changes nothing, so that a client need not ask its user first. */
  readonly readOnly: boolean;
  /** Whether it is refused while the disk is nearly full; absent: no. */
  readonly isNewWork?: boolean;
  /** What else a client may know about a call; by default, that it neither destroys nor repeats. */
  readonly hints?: ToolHints;
  /** Advice about failures that is specific to this tool. */
  readonly advice?: Advice;
  /** @throws {ServiceError} The call fails for a reason that the caller may know. */
  run(input: z.output<z.ZodObject<Input>>, context: ToolContext): Promise<ToolOutput> | ToolOutput;
}

/** A tool as the protocol sees it. */
export interface Tool {
  readonly name: string;
  /** Its entry in `tools/list`, without the output's schema, which older clients do not know. */
  readonly listing: ToolListing;
  readonly outputSchema: NonNullable<ToolListing["outputSchema"]>;
  readonly advice: Advice;
  /** Whether a call changes nothing. */
  readonly readOnly: boolean;
  /** Whether a call is refused while the disk is nearly full. */
  readonly isNewWork: boolean;
  /** Who may call it; tools may share it. */
  readonly rights: ToolRights;
  /**
   * @param input the raw arguments
   * @throws {ServiceError} As {@link ToolDefinition.run}; {@link Invalid} names a bad argument,
   * {@link Forbidden} says why the caller may not use the tool.
   */
  call(input: Record<string, unknown>, context: ToolContext): Promise<ToolOutput>;
  /** Whether a call with these arguments may wait for news (`wait_seconds`). */
  mayWait(input: unknown): boolean;
  /** Builds the schema for which the first call would otherwise wait. */
  prepare(): void;
}

const waitSchema = z.looseObject({ wait_seconds: z.number().positive() });

/** Creates a tool that validates its arguments by the schema that it shows. */
export function defineTool<Input extends z.ZodRawShape>(definition: ToolDefinition<Input>): Tool {
  const { name, description, output, readOnly, hints = {} } = definition;
  const rights = rightsOf(definition);
  const shownOf = once(() => z.strictObject(definition.input));
  const schemaOf = once(() => bounded(closed(shownOf())));
  const names = Object.keys(definition.input);
  const describe = once(() => ({
    name,
    description,
    inputSchema: jsonSchemaOf(shownOf(), "input"),
    annotations: {
      readOnlyHint: readOnly,
      ...(readOnly ? {} : { destructiveHint: false, idempotentHint: false }),
      ...hints,
    },
  }));
  const describeOutput = once(() => jsonSchemaOf(output, "output"));
  return {
    name,
    get listing() {
      return describe();
    },
    get outputSchema() {
      return describeOutput();
    },
    advice: definition.advice ?? {},
    readOnly,
    isNewWork: definition.isNewWork ?? false,
    rights,
    async call(input, context) {
      rights.require(context.caller.principal);
      const unknown = Object.keys(input).find((key) => !names.includes(key));
      if (unknown !== undefined) throw new Invalid(describeUnknown(unknown, { name, names }));
      const { data, error } = schemaOf().safeParse(lenient(input, shownOf()), {
        reportInput: true,
      });
      if (data === undefined) throw new Invalid(describeError(error));
      return await definition.run(data, context);
    },
    mayWait(input) {
      if (!names.includes("wait_seconds")) return false;
      return waitSchema.safeParse(lenient(input, waitSchema)).success;
    },
    prepare() {
      schemaOf().safeParse(lenient({}, shownOf()));
    },
  };
}

function rightsOf(
  { resource, agentsOnly = false, readOnly }: Pick<
    ToolDefinition<z.ZodRawShape>,
    "resource" | "agentsOnly" | "readOnly"
  >,
): ToolRights {
  if (typeof resource !== "string") return resource;
  const action = readOnly ? "read" : "write";
  const opened = { kind: resource };
  return {
    opens: (principal) =>
      (!agentsOnly || principal.kind === "agent") && mayDo(principal, action, opened),
    require: (principal) => authorize(principal, action, opened),
  };
}

/** Computes a value on first use: calls do not need the schemas that only a list shows. */
export function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | null = null;
  return () => (made ??= { value: make() }).value;
}

/** The JSON Schema of an object, without `$schema`, which some clients' models reject. */
function jsonSchemaOf(schema: z.ZodObject, io: "input" | "output"): ToolListing["inputSchema"] {
  const override = ({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }) =>
    shorten(jsonSchema, io);
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    override,
    metadata: new Unnamed(),
  });
  publishPatterns(rest);
  if (io === "input") showLengths(rest);
  return rest as ToolListing["inputSchema"];
}

/** What schemas say of themselves, without their names: some clients do not follow `$ref`. */
class Unnamed extends z.core.$ZodRegistry<z.core.GlobalMeta> {
  override get(schema: z.core.$ZodType) {
    const { id: _, ...said } = z.globalRegistry.get(schema) ?? {};
    return said;
  }
}

/** Removes what costs a model's attention and says nothing. */
function shorten(schema: z.core.JSONSchema.BaseSchema, io: "input" | "output"): void {
  if (schema.format === "date-time") delete schema.pattern;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  // The keys of every object are texts.
  delete schema.propertyNames;
  delete schema.keepsEmpty;
  if (io === "input") return;
  delete schema.readOnly;
  // An answer may have more fields than its schema names.
  if (schema.additionalProperties === false) delete schema.additionalProperties;
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

/**
 * Calls a tool and formats the outcome for the protocol: a failure is a result with `isError` and
 * sentences that say what is wrong and what to do. Never throws.
 */
export async function callTool(
  tool: Tool,
  input: Record<string, unknown>,
  context: ToolContext,
  { log, halts, space }: CallServices,
): Promise<CallToolResult | InputRequiredResult> {
  try {
    if (!tool.readOnly) halts.requireGoing(context.caller.principal);
    if (tool.isNewWork) space.require();
    const { text, data, more } = await tool.call(input, context);
    const texts = more === undefined ? [text] : [text, more];
    const content = texts.map((text) => ({ type: "text" as const, text }));
    return { content, structuredContent: data, isError: false };
  } catch (error) {
    if (error instanceof UserAsked) return formResult(error.form);
    return { content: [{ type: "text", text: failure(error, tool, context, log) }], isError: true };
  }
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
  if (explanation !== null) return shortened(explanation);
  if (signal.aborted) return "The client closed the request";
  const { requestId } = caller;
  log.error("A tool failed on a bug", { requestId, tool: tool.name, error });
  return `internal error (${requestId}). Tell the operator this id, and do not call again at once`;
}
