import { z } from "zod";
import { EarlyEnd } from "../../kernel/early_end.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import type { PooledRepository } from "../../engines/fossil/mod.ts";
import type { Action, Caller } from "../../people/identity/mod.ts";
import {
  type Declaration,
  type Head,
  Operation,
  type Outcome as PlainOutcome,
  type ValueOf,
  valueOf,
} from "../../people/identity/operation.ts";
import { type ProjectAccess, requireCall } from "./access.ts";
import type { Dependence, NewAnswer } from "./answers.ts";
import type { Project } from "./records.ts";
import type { ProjectRepositories } from "./repositories.ts";

export { Created, SerializedJson } from "../../people/identity/operation.ts";

/** The head of an operation in a project: its path begins below the project's repository. */
export interface ProjectHead extends Head {
  readonly http: `${"GET" | "POST" | "PUT" | "PATCH" | "DELETE"} /api${string}`;
  /** The right that it needs in the project. */
  readonly needs: Action;
  /** The callers that it accepts, if not all; a passphrase lacks the scope `admin`. */
  readonly callers?: "accounts" | "no session" | "no passphrase";
  /** Whether the answer is a {@link RepositoryRead}, which clients can revalidate. */
  readonly isRead?: true;
  /** Whether the answer is a {@link FileRead}: over HTTP, its bytes or a range of them. */
  readonly isFile?: true;
  /** Whether it may wait for news, if its query asks for that (`wait_seconds`). */
  readonly waits?: "if asked";
}

/** An outcome that depends on the repository and the input alone, and so is kept while both stay. */
export class RepositoryRead<Value> {
  readonly dependence: Dependence;
  /** What the value depends on beside the repository and the input. */
  readonly surroundings: string;
  /** The read for `RepositoryAnswers`, which keeps its JSON. */
  readonly answer: (repository: PooledRepository) => Promise<NewAnswer>;
  /** Only for the type. */
  declare readonly value?: Value;

  /**
   * @param read returns the value, or its JSON
   * @param more.isProvisional whether the value can change although what it depends on does not
   * @param more.surroundings what else the value depends on, in a word
   */
  constructor(
    read: (repository: PooledRepository) => Promise<Value>,
    dependence: Dependence = "all",
    more: {
      readonly isProvisional?: (value: Value) => boolean;
      readonly surroundings?: string;
    } = {},
  ) {
    const { isProvisional = () => false, surroundings = "" } = more;
    this.dependence = dependence;
    this.surroundings = surroundings;
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
  readonly dependence: Dependence;

  constructor(read: FileRead["read"], dependence: Dependence = "all") {
    this.read = read;
    this.dependence = dependence;
  }
}

/** JSON as a worker wrote it, which passes through. */
type Json = Uint8Array<ArrayBuffer>;

type Outcome<Ok, New> =
  | PlainOutcome<Ok, New>
  | RepositoryRead<Ok | Json>
  | ([Ok] extends [RepositoryFile] ? FileRead : never);

/** Who calls an operation, in which project. */
export interface OperationCall {
  readonly access: ProjectAccess;
  readonly project: Project;
  readonly caller: Caller;
  /** Ends the wait of an operation that {@link ProjectHead.waits}. */
  readonly end: EarlyEnd;
}

/** A call from inside this process. */
export interface InnerCall extends Omit<OperationCall, "project" | "end"> {
  readonly end?: EarlyEnd;
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

/** An operation in a project. */
export class ProjectOperation<
  Input extends z.ZodObject,
  Services,
  Ok extends z.ZodType,
  New extends z.ZodType,
> extends Operation<
  ProjectHead & Declaration<Input, Ok, New>,
  Input,
  Services,
  OperationCall,
  Outcome<z.output<Ok>, z.output<New>>
> {
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

  /** What an answer that is kept is kept under. */
  keyOf(input: z.output<Input>, surroundings = ""): string {
    return `${this.declared.http} ${JSON.stringify(input)} ${surroundings}`;
  }

  /**
   * Calls the operation from inside this process, as a request over HTTP would.
   *
   * @throws Invalid naming the wrong field; what {@link authorize} throws; the refusal of the operation
   */
  async invoke(
    services: Services & InvokingServices,
    given: z.input<Input>,
    { access, caller, end = new EarlyEnd() }: InnerCall,
  ): Promise<ValueOf<Ok, New>> {
    this.authorize(access, services.space);
    const { project } = access;
    const input = this.parse(given);
    const outcome = await this.perform(services, input, { access, project, caller, end });
    return await this.#valueOf(services, outcome, { project, input }) as ValueOf<Ok, New>;
  }

  /** The value of an outcome. Other callers in this process share that of a read, as text. */
  async #valueOf(
    { hosting: { repositories } }: InvokingServices,
    outcome: unknown,
    { project, input }: { readonly project: Project; readonly input: z.output<Input> },
  ): Promise<unknown> {
    if (outcome instanceof FileRead) return await repositories.read(project, outcome.read);
    if (!(outcome instanceof RepositoryRead)) return valueOf(outcome);
    const { answer, dependence, surroundings } = outcome;
    const key = this.keyOf(input, surroundings);
    return await repositories.answers.value(project, key, answer, dependence);
  }
}

type Run<Input extends z.ZodObject, Services, Ok extends z.ZodType, New extends z.ZodType> = (
  services: Services,
  input: z.output<Input>,
  call: OperationCall,
) => Promise<Outcome<z.output<Ok>, z.output<New>>> | Outcome<z.output<Ok>, z.output<New>>;

/**
 * Declares an operation in a project.
 *
 * @param run what it does, with the services that it names
 */
export function operation<
  Input extends z.ZodObject,
  Services,
  Ok extends z.ZodType = z.ZodNever,
  New extends z.ZodType = z.ZodNever,
>(
  declared: ProjectHead & Declaration<Input, Ok, New>,
  run: Run<Input, Services, Ok, New>,
): ProjectOperation<Input, Services, Ok, New> {
  return new ProjectOperation(declared, run);
}
