import type { CallToolResult, Tool as ToolListing } from "@modelcontextprotocol/server";
import { z } from "zod";
import { Invalid, ServiceError } from "../services/errors.ts";
import type { Caller } from "../services/identity/mod.ts";
import type { Log } from "../services/log.ts";
import { describeIssue } from "../services/validation/mod.ts";

/** What a tool is told of the call besides its arguments. */
export interface ToolContext {
  readonly caller: Caller;
  /** Aborts when the client has gone. */
  readonly signal: AbortSignal;
}

/** What a tool gives back. */
export interface ToolOutput {
  /** For the model to read. */
  readonly text: string;
  /** The same for a program to read, where the text leaves something out. */
  readonly data?: Record<string, unknown>;
}

/** What a tool is: its name, its input and what it does. */
export interface ToolDefinition<Input extends z.ZodObject> {
  readonly name: string;
  /** What it does, in a sentence for a model. */
  readonly description: string;
  /** Validates the arguments, and is what `tools/list` shows as `inputSchema`. */
  readonly input: Input;
  /** Whether a call changes nothing, so that a client need not ask its user first. */
  readonly readOnly: boolean;
  /** @throws {ServiceError} The call fails, for a reason that the caller is told. */
  run(input: z.output<Input>, context: ToolContext): Promise<ToolOutput> | ToolOutput;
}

/** A tool as the protocol sees it. */
export interface Tool {
  /** Its entry in `tools/list`. */
  readonly listing: ToolListing;
  /**
   * @param input the arguments as they came
   * @throws {ServiceError} As {@link ToolDefinition.run}; {@link Invalid} names a bad argument.
   */
  call(input: unknown, context: ToolContext): Promise<ToolOutput>;
  /** Whether a call with these arguments changes nothing and may wait for news (`wait_seconds`). */
  mayWait(input: unknown): boolean;
}

const waitSchema = z.looseObject({ wait_seconds: z.number().positive() });

/** Makes a tool whose arguments are validated by the very schema that it shows. */
export function defineTool<Input extends z.ZodObject>(definition: ToolDefinition<Input>): Tool {
  const { name, description, input: schema, readOnly } = definition;
  return {
    listing: {
      name,
      description,
      inputSchema: z.toJSONSchema(schema, { io: "input" }) as ToolListing["inputSchema"],
      annotations: readOnly ? { readOnlyHint: true } : { destructiveHint: false },
    },
    async call(input, context) {
      const { data, error } = schema.safeParse(input, { reportInput: true });
      if (data === undefined) throw new Invalid(describeError(error));
      return await definition.run(data, context);
    },
    mayWait(input) {
      if (!readOnly || !("wait_seconds" in schema.shape)) return false;
      return waitSchema.safeParse(input).success;
    },
  };
}

function describeError(error: z.ZodError | undefined): string {
  const [issue] = error?.issues ?? [];
  return issue === undefined ? "The arguments are not valid" : describeIssue(issue);
}

/**
 * Calls a tool and words the outcome as the protocol does: a failure is a result too, with
 * `isError` and a sentence. It never throws.
 */
export async function callTool(
  tool: Tool,
  input: unknown,
  context: ToolContext,
  log: Log,
): Promise<CallToolResult> {
  try {
    const { text, data } = await tool.call(input, context);
    const content = [{ type: "text" as const, text }];
    if (data === undefined) return { content, isError: false };
    return { content, structuredContent: data, isError: false };
  } catch (error) {
    return { content: [{ type: "text", text: failure(error, tool, context, log) }], isError: true };
  }
}

function failure(error: unknown, tool: Tool, { caller, signal }: ToolContext, log: Log): string {
  if (error instanceof ServiceError) return error.message;
  if (signal.aborted) return "The client closed the request";
  const { requestId } = caller;
  log.error("A tool failed on a bug", { requestId, tool: tool.listing.name, error });
  return `internal error (${requestId})`;
}
