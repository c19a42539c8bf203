import { z } from "zod";
import { Invalid, type ServiceError } from "../errors.ts";
import type { FreeSpace } from "../kernel/files.ts";
import type { PooledRepository } from "../fossil/mod.ts";
import type { Action, Caller } from "../identity/mod.ts";
import { describeIssue } from "../validation/mod.ts";
import { bounded, closed } from "../validation/schemas.ts";
import { type ProjectAccess, requireCall } from "./access.ts";
import type { RepositoryAnswers } from "./answers.ts";
import type { Project } from "./records.ts";

/** What an answer of an operation holds. */
export interface Shown<Schema extends z.ZodType = z.ZodType> {
  readonly schema: Schema;
  readonly description: string;
}

/** An error of an operation, beside those that every operation has. */
export interface Refusal extends Partial<Shown> {
  readonly error: abstract new (...parameters: never[]) => ServiceError;
}

/**
 * What is known of an operation of a project without its handler: `deno task reference` writes the
 * fields that routing needs into `routes/projects/operation_table.ts`, so that the start loads no
 * operation.
 */
export interface OperationHead {
  /** The method and the path below the project's repository, such as `GET /api/claims`. */
  readonly http: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /api${string}`;
  /** Whether the last parameter of the path may have slashes, which OpenAPI cannot describe. */
  readonly hasSlashes?: true;
  /** The right that it needs in the project. */
  readonly needs: Action;
  /** The callers that it accepts, if not all; a passphrase lacks the scope `admin`. */
  readonly callers?: "accounts" | "no session" | "no passphrase";
  /** Whether halted agents may call it although it is no GET. */
  readonly whileHalted?: true;
  /** Whether it is answered while the disk is nearly full, although it is neither GET nor DELETE. */
  readonly whileFull?: true;
}

/** What an operation is, for all of its edges. */
export interface Declaration<
  Input extends z.ZodObject,
  Ok extends z.ZodType,
  New extends z.ZodType,
> extends OperationHead {
  /** What it does, in a line. */
  readonly summary: string;
  readonly description?: string;
  /** Its input: over HTTP, the fields of the path, and those of the query or the body. */
  readonly input: Input;
  /** A body that readers of the documentation can send as it is; absent if it takes no body. */
  readonly example?: Readonly<Record<string, unknown>>;
  /** The body's name in the OpenAPI document, if it has one. */
  readonly bodyName?: string;
  /** Whether the body may be missing. */
  readonly hasOptionalBody?: true;
  /** What it answers; 200 over HTTP. */
  readonly ok?: Shown<Ok>;
  /** What it answers if it made something; 201 over HTTP. */
  readonly created?: Shown<New>;
  /** What has happened if it answers nothing; 204 over HTTP. */
  readonly done?: string;
  /** Whether the answer is a {@link RepositoryRead}, which clients can revalidate. */
  readonly isRead?: true;
  readonly refusals?: readonly Refusal[];
}

/** The outcome of an operation that made something. */
export class Created<Value> {
  readonly value: Value;

  constructor(value: Value) {
    this.value = value;
  }
}

/** An outcome that depends on the repository and the input alone, and so is kept while both stay. */
export class RepositoryRead<Value> {
  /** @returns the value, or its JSON */
  readonly read: (repository: PooledRepository) => Promise<Value | Uint8Array<ArrayBuffer>>;

  constructor(read: RepositoryRead<Value>["read"]) {
    this.read = read;
  }

  /** The read for `RepositoryAnswers`, which keeps its JSON. */
  async answer(repository: PooledRepository) {
    const value = await this.read(repository);
    const bytes = value instanceof Uint8Array
      ? value
      : new TextEncoder().encode(JSON.stringify(value));
    return { bytes, headers: { "Content-Type": "application/json" } };
  }
}

/** An outcome that is JSON already, because it was long to write. */
export class SerializedJson<Value> {
  readonly text: string;
  /** Only for the type. */
  declare readonly value?: Value;

  constructor(text: string) {
    this.text = text;
  }
}

/** What a handler may return, by what the operation declares. */
export type Outcome<Ok, New> =
  | Ok
  | Created<New>
  | RepositoryRead<Ok>
  | SerializedJson<Ok>
  | ([Ok | New] extends [never] ? undefined : never);

/** Who calls an operation, in which project. */
export interface OperationCall {
  readonly access: ProjectAccess;
  readonly project: Project;
  readonly caller: Caller;
}

/** The services that the edges need to call any operation. */
export interface InvokingServices {
  readonly hosting: { readonly repositories: { readonly answers: RepositoryAnswers } };
  readonly space: Pick<FreeSpace, "require">;
}

type Run<Input extends z.ZodObject, Services, Ok extends z.ZodType, New extends z.ZodType> = (
  services: Services,
  input: z.output<Input>,
  call: OperationCall,
) => Promise<Outcome<z.output<Ok>, z.output<New>>> | Outcome<z.output<Ok>, z.output<New>>;

/**
 * A use case in a project, declared once: its routes, its documentation and its callers in this
 * process follow from the declaration.
 */
export class Operation<
  Input extends z.ZodObject,
  Services,
  Ok extends z.ZodType,
  New extends z.ZodType,
> {
  readonly declared: Declaration<Input, Ok, New>;
  readonly #run: Run<Input, Services, Ok, New>;
  #schema: z.ZodType | null = null;

  constructor(declared: Declaration<Input, Ok, New>, run: Run<Input, Services, Ok, New>) {
    this.declared = declared;
    this.#run = run;
  }

  /**
   * Checks that the caller may call the operation now.
   *
   * @throws Forbidden; Unauthorized; Halted; Conflict if it changes an archived project; Unavailable
   * if the disk is nearly full
   */
  authorize(access: ProjectAccess, space: InvokingServices["space"]): void {
    const { http, ...head } = this.declared;
    requireCall({ method: http.slice(0, http.indexOf(" ")), ...head }, access, space);
  }

  /** Runs the operation for a caller who is authorized, with input that is validated. */
  async perform(
    services: Services,
    input: z.output<Input>,
    call: OperationCall,
  ): Promise<Outcome<z.output<Ok>, z.output<New>>> {
    return await this.#run(services, input, call);
  }

  /** What an answer that is kept is kept under. */
  keyOf(input: z.output<Input>): string {
    return `${this.declared.http} ${JSON.stringify(input)}`;
  }

  /**
   * Calls the operation from inside this process, as a request over HTTP would.
   *
   * @throws Invalid naming the wrong field; what {@link authorize} throws; the refusal of the operation
   */
  async invoke(
    services: Services & InvokingServices,
    given: z.input<Input>,
    { access, caller }: Omit<OperationCall, "project">,
  ): Promise<ValueOf<Ok, New>> {
    this.authorize(access, services.space);
    const { project } = access;
    const input = this.#parse(given);
    const outcome = await this.perform(services, input, { access, project, caller });
    const value = outcome instanceof RepositoryRead
      ? await this.#kept(services, outcome, { project, input })
      : plainOf(outcome);
    return value as ValueOf<Ok, New>;
  }

  /** The value of a read, which other callers in this process share as text. */
  async #kept(
    { hosting: { repositories: { answers } } }: InvokingServices,
    read: RepositoryRead<unknown>,
    { project, input }: { readonly project: Project; readonly input: z.output<Input> },
  ): Promise<unknown> {
    const { bytes } = await answers.get(project, this.keyOf(input), (from) => read.answer(from));
    return JSON.parse(new TextDecoder().decode(bytes));
  }

  #parse(given: unknown): z.output<Input> {
    this.#schema ??= bounded(closed(this.declared.input));
    const { data, error } = this.#schema.safeParse(given);
    if (error === undefined) return data as z.output<Input>;
    const [issue] = error.issues;
    throw new Invalid(issue === undefined ? "The input is not valid" : describeIssue(issue));
  }
}

/** What a call of an operation from inside this process returns. */
export type ValueOf<Ok extends z.ZodType, New extends z.ZodType> =
  [z.output<Ok> | z.output<New>] extends [never] ? undefined : z.output<Ok> | z.output<New>;

function plainOf(outcome: unknown): unknown {
  if (outcome instanceof Created) return outcome.value;
  return outcome instanceof SerializedJson ? JSON.parse(outcome.text) : outcome;
}

/**
 * Declares an operation of a project.
 *
 * @param run what it does, with the services that it names
 */
export function operation<
  Input extends z.ZodObject,
  Services,
  Ok extends z.ZodType = z.ZodNever,
  New extends z.ZodType = z.ZodNever,
>(
  declared: Declaration<Input, Ok, New>,
  run: Run<Input, Services, Ok, New>,
): Operation<Input, Services, Ok, New> {
  return new Operation(declared, run);
}
