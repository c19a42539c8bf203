import { z } from "zod";
import { Invalid, type ServiceError } from "../errors.ts";
import type { FreeSpace } from "../free_space.ts";
import type { PooledRepository } from "../fossil/mod.ts";
import type { Action, Caller } from "../identity/mod.ts";
import { describeIssue } from "../validation/mod.ts";
import { bounded, closed } from "../validation/schemas.ts";
import { type ProjectAccess, requireCall } from "./access.ts";
import type { NewAnswer } from "./answers.ts";
import type { Project } from "./records.ts";
import type { ProjectRepositories } from "./repositories.ts";

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
  readonly example?: Readonly<Record<string, unknown>> | readonly unknown[];
  /** The field of the input that is all of the body, which then is no object of fields. */
  readonly bodyField?: string;
  /** The body's name in the OpenAPI document, if it has one. */
  readonly bodyName?: string;
  /** Whether the body may be missing. */
  readonly hasOptionalBody?: true;
  /** Fields of the body that the query may have in its place. */
  readonly inQuery?: readonly string[];
  /** What it answers; 200 over HTTP. */
  readonly ok?: Shown<Ok>;
  /** Whether what it began goes on after its answer; 202 over HTTP. */
  readonly isAccepted?: true;
  /** What it answers if it made something; 201 over HTTP. */
  readonly created?: Shown<New>;
  /** What has happened if it answers nothing; 204 over HTTP. */
  readonly done?: string;
  /** Whether the answer is a {@link RepositoryRead}, which clients can revalidate. */
  readonly isRead?: true;
  /** Whether the answer is a {@link FileRead}: over HTTP, its bytes or a range of them. */
  readonly isFile?: true;
  /** Its errors, beside the conflict of a change in an archived project. */
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
  /** The read for `RepositoryAnswers`, which keeps its JSON. */
  readonly answer: (repository: PooledRepository) => Promise<NewAnswer>;
  /** Only for the type. */
  declare readonly value?: Value;

  /**
   * @param read returns the value, or its JSON
   * @param isProvisional whether the value can change although the repository does not
   */
  constructor(
    read: (repository: PooledRepository) => Promise<Value>,
    isProvisional: (value: Value) => boolean = () => false,
  ) {
    this.answer = async (repository) => {
      const value = await read(repository);
      const bytes = value instanceof Uint8Array
        ? value as Uint8Array<ArrayBuffer>
        : new TextEncoder().encode(JSON.stringify(value));
      const headers = { "Content-Type": "application/json" };
      return { bytes, headers, isProvisional: isProvisional(value) };
    };
  }
}

/** A file of a repository. */
export interface RepositoryFile {
  /** Its path, or its name alone. */
  readonly path: string;
  /** The hash of its content. */
  readonly uuid: string;
  readonly is_binary: boolean;
  readonly content: Uint8Array;
  /** The check-in in which it is, if it is in one. */
  readonly checkin?: string;
}

/** The schema of what an operation with `isFile` answers. */
export const fileSchema = z.custom<RepositoryFile>();

/** An outcome that is a file, of which HTTP serves any part. */
export class FileRead {
  readonly read: (repository: PooledRepository) => Promise<RepositoryFile>;

  constructor(read: FileRead["read"]) {
    this.read = read;
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

/** JSON as a worker wrote it, which passes through. */
type Json = Uint8Array<ArrayBuffer>;

/** What a handler may return, by what the operation declares. */
export type Outcome<Ok, New> =
  | Ok
  | Created<New>
  | RepositoryRead<Ok | Json>
  | SerializedJson<Ok>
  | ([Ok] extends [RepositoryFile] ? FileRead : never)
  | ([Ok | New] extends [never] ? undefined : never);

/** Who calls an operation, in which project. */
export interface OperationCall {
  readonly access: ProjectAccess;
  readonly project: Project;
  readonly caller: Caller;
}

/** Who calls an operation that the operator also calls from outside of a project, or for all. */
export interface OwnedCall {
  readonly project: Project | null;
  readonly caller: Caller;
}

/** The services that the edges need to call any operation. */
export interface InvokingServices {
  readonly hosting: { readonly repositories: Pick<ProjectRepositories, "answers" | "read"> };
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
    return await this.#valueOf(services, outcome, { project, input }) as ValueOf<Ok, New>;
  }

  /** The value of an outcome. Other callers in this process share that of a read, as text. */
  async #valueOf(
    { hosting: { repositories } }: InvokingServices,
    outcome: unknown,
    { project, input }: { readonly project: Project; readonly input: z.output<Input> },
  ): Promise<unknown> {
    if (outcome instanceof Created) return outcome.value;
    if (outcome instanceof SerializedJson) return JSON.parse(outcome.text);
    if (outcome instanceof FileRead) return await repositories.read(project, outcome.read);
    if (!(outcome instanceof RepositoryRead)) return outcome;
    const { bytes } = await repositories.answers.get(project, this.keyOf(input), outcome.answer);
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
