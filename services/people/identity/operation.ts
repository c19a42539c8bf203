import { z } from "zod";
import { Invalid, type ServiceError } from "../../kernel/errors.ts";
import { describeIssue } from "../../kernel/validation/mod.ts";
import { bounded, closed } from "../../kernel/validation/schemas.ts";
import type { CommandDeclaration } from "./command_declaration.ts";
import type { ToolDeclaration } from "./tool_declaration.ts";

export type { ToolAdvice, ToolDeclaration, ToolHints, ToolList } from "./tool_declaration.ts";

/** What an answer of an operation holds. */
export interface Shown<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly description: string;
  /** Header fields of the answer over HTTP. */
  readonly headers?: z.ZodObject;
}

/** An error of an operation, beside those that every operation has. */
export interface Refusal extends Partial<Shown> {
  readonly error: abstract new (...parameters: never[]) => ServiceError;
}

/**
 * What is known of an operation without its handler: `deno task reference` writes the fields that
 * routing needs into tables, so that the start loads no operation.
 */
export interface Head {
  /** The method and the path, such as `GET /v1/agents/{nick}`. */
  readonly http: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} ${string}`;
  /** Whether halted agents may call it although it is no GET. */
  readonly whileHalted?: true;
  /** Whether it is answered while the disk is nearly full, although it is neither GET nor DELETE. */
  readonly whileFull?: true;
  /** Whether the last parameter of the path may have slashes, which OpenAPI cannot describe. */
  readonly hasSlashes?: true;
}

/** What an operation is, for all of its edges. */
export interface Declaration<
  Input extends z.ZodObject,
  Ok extends z.ZodType,
  New extends z.ZodType,
> {
  /** What it does, in a line. */
  readonly summary: string;
  readonly description?: string;
  /** Its input: over HTTP, the fields of the path, and those of the query or the body. */
  readonly input: Input;
  /** A body that readers of the documentation can send as it is; absent if it takes no body. */
  readonly example?: Readonly<Record<string, unknown>> | readonly unknown[];
  /** The body's name in the OpenAPI document, if it has one. */
  readonly bodyName?: string;
  /** The field of the input that is all of the body, which then is no object of fields. */
  readonly bodyField?: string;
  /** Whether the body may be missing. */
  readonly hasOptionalBody?: true;
  /** Fields of the body that the query may have in its place. */
  readonly inQuery?: readonly string[];
  /** What it answers; 200 over HTTP. */
  readonly ok?: Shown<Ok>;
  /** Whether what it began goes on after its answer; 202 over HTTP. */
  readonly isAccepted?: true;
  /** What it answers if it made something; 201 over HTTP, which may have no body. */
  readonly created?: Shown<New> | { readonly description: string };
  /** What has happened if it answers nothing; 204 over HTTP. */
  readonly done?: string | Omit<Shown, "schema">;
  readonly refusals?: readonly Refusal[];
  /** The tool for models that shows it as it is. */
  readonly mcp?: ToolDeclaration;
  /** The commands that call it. */
  readonly cli?: CommandDeclaration | readonly CommandDeclaration[];
}

/** The outcome of an operation that made something. */
export class Created<Value> {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/** An outcome that is JSON already, because it was long to write. */
export class SerializedJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An outcome about which more is to be said than its value does. */
export class WithHeaders<Plain> {
  readonly outcome: Plain;
  /** Header fields of the answer over HTTP. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(outcome: Plain, headers: Readonly<Record<string, string>>) {
    this.outcome = outcome;
    this.headers = headers;
  }
}

/** An outcome of which its value says all. */
type PlainOutcome<Ok, New> =
  | Ok
  | Created<[New] extends [never] ? undefined : New>
  | SerializedJson
  | ([Ok | New] extends [never] ? void : never);

/** What a handler may return, by what the operation declares. */
export type Outcome<Ok, New> = PlainOutcome<Ok, New> | WithHeaders<PlainOutcome<Ok, New>>;

/** What a call of an operation from inside this process returns. */
export type ValueOf<Ok extends z.ZodType, New extends z.ZodType> =
  [z.output<Ok> | z.output<New>] extends [never] ? undefined : z.output<Ok> | z.output<New>;

/** The value of an outcome, for callers in this process. */
export function valueOf(outcome: unknown): unknown {
  if (outcome instanceof WithHeaders) return valueOf(outcome.outcome);
  if (outcome instanceof Created) return outcome.value;
  return outcome instanceof SerializedJson ? JSON.parse(outcome.text) : outcome;
}

type Run<Services, Input, Call, Result> = (
  services: Services,
  input: Input,
  call: Call,
) => Promise<Result> | Result;

/**
 * A use case, declared once: its routes, its documentation and its callers in this process follow
 * from the declaration.
 */
export class Operation<
  Declared extends Declaration<Input, z.ZodType, z.ZodType>,
  Input extends z.ZodObject,
  Services,
  Call,
  Result,
> {
  readonly declared: Declared;
  readonly #run: Run<Services, z.output<Input>, Call, Result>;
  #schema: z.ZodType | null = null;

  constructor(declared: Declared, run: Run<Services, z.output<Input>, Call, Result>) {
    this.declared = declared;
    this.#run = run;
  }

  /**
   * Runs the operation for a caller who is authorized, with input that is validated: what the edges
   * alone may call.
   */
  perform(services: Services, input: z.output<Input>, call: Call): Promise<Result> | Result {
    return this.#run(services, input, call);
  }

  /** @throws Invalid naming the wrong field, as it is called over HTTP */
  protected parse(given: unknown): z.output<Input> {
    this.#schema ??= bounded(closed(this.declared.input));
    const { data, error } = this.#schema.safeParse(given);
    if (error === undefined) return data as z.output<Input>;
    const [issue] = error.issues;
    if (issue === undefined) throw new Invalid("The input is not valid");
    const [first, ...inBody] = issue.path;
    const isInBody = first !== undefined && first === this.declared.bodyField;
    throw new Invalid(describeIssue(isInBody ? { ...issue, path: inBody } : issue));
  }
}
