import type { z } from "zod";
import { EarlyEnd } from "../../kernel/early_end.ts";
import {
  type Declaration,
  type Head,
  Operation,
  type Outcome,
  type ValueOf,
  valueOf,
  WithHeaders,
} from "./operation.ts";
import type { Caller } from "./principal.ts";
import { type Gates, requireServerCall, type ServerAccess } from "./server_access.ts";

export { Created, SerializedJson, WithHeaders } from "./operation.ts";

/** The head of an operation on the server. */
export interface ServerHead extends Omit<Head, "http"> {
  /** Absent: only callers in this process, such as tools, have the operation. */
  readonly http?: Head["http"];
  /** Whether an operation that HTTP lacks changes something. */
  readonly changes?: true;
  readonly on: ServerAccess["on"];
  /**
   * Whether it may take long, for news or for another program, so that its caller may leave it:
   * always, or if its query asks for that.
   */
  readonly waits?: "always" | "if asked";
  /** Whether it needs the node that leads, which has what it is about in memory. */
  readonly runsOn?: "leader";
}

/** The method of a call over HTTP, or of one that is allowed as much. */
export function methodOf({ http, changes }: Pick<ServerHead, "http" | "changes">): string {
  if (http === undefined) return changes ? "POST" : "GET";
  return http.slice(0, http.indexOf(" "));
}

/** Who calls an operation on the server. */
export interface ServerCall {
  readonly caller: Caller;
  /** Ends the wait of an operation that {@link ServerHead.waits}. */
  readonly end: EarlyEnd;
  /** Whether the caller gets nothing of the value, so that it has read nothing: HEAD over HTTP. */
  readonly isPeek?: boolean;
  /**
   * Through what the caller came, if not the API: a tool, a form that its client showed its user, or
   * a web page, where a session has the rights of its account.
   */
  readonly via?: "mcp" | "elicitation" | "web";
}

/** A call from inside this process. */
export interface InnerCall extends Omit<ServerCall, "end"> {
  readonly end?: EarlyEnd;
  /** Gets the header fields that an answer over HTTP would have. */
  onHeaders?(headers: Readonly<Record<string, string>>): void;
}

/** An operation on the server. */
export class ServerOperation<
  Input extends z.ZodObject,
  Services,
  Ok extends z.ZodType,
  New extends z.ZodType,
> extends Operation<
  ServerHead & Declaration<Input, Ok, New>,
  Input,
  Services,
  ServerCall,
  Outcome<z.output<Ok>, z.output<New>>
> {
  /**
   * Calls the operation from inside this process, as a request over HTTP would.
   *
   * @throws Invalid naming the wrong field; Forbidden; Halted; Unavailable if the disk is nearly full;
   * the refusal of the operation
   */
  async invoke(
    services: Services & { readonly agents: Pick<Gates, "halts"> } & Pick<Gates, "space">,
    given: z.input<Input>,
    call: InnerCall,
  ): Promise<ValueOf<Ok, New>> {
    const { agents: { halts }, space } = services;
    const { caller, end = new EarlyEnd() } = call;
    const { declared } = this;
    const access = call.via === "web" ? { ...declared, isAtPage: true } : declared;
    const require = () =>
      requireServerCall(methodOf(declared), access, caller.principal, { halts, space });
    require();
    const confirm = async () => {
      await caller.confirm?.();
      require();
    };
    const inner = { ...call, caller: { ...caller, confirm }, end };
    const outcome = await this.perform(services, this.parse(given), inner);
    if (outcome instanceof WithHeaders) call.onHeaders?.(outcome.headers);
    return valueOf(outcome) as ValueOf<Ok, New>;
  }
}

type Run<Input extends z.ZodObject, Services, Ok extends z.ZodType, New extends z.ZodType> = (
  services: Services,
  input: z.output<Input>,
  call: ServerCall,
) => Promise<Outcome<z.output<Ok>, z.output<New>>> | Outcome<z.output<Ok>, z.output<New>>;

/**
 * Declares an operation on the server.
 *
 * @param run what it does, with the services that it names
 */
export function serverOperation<
  Input extends z.ZodObject,
  Services,
  Ok extends z.ZodType = z.ZodNever,
  New extends z.ZodType = z.ZodNever,
>(
  declared: ServerHead & Declaration<Input, Ok, New>,
  run: Run<Input, Services, Ok, New>,
): ServerOperation<Input, Services, Ok, New> {
  return new ServerOperation(declared, run);
}
