import type { z } from "zod";
import { EarlyEnd } from "../kernel/early_end.ts";
import {
  type Declaration,
  type Head,
  Operation,
  type Outcome,
  type ValueOf,
  valueOf,
} from "./operation.ts";
import type { Caller } from "./principal.ts";
import { type Gates, requireServerCall, type ServerAccess } from "./server_access.ts";

export { Created, SerializedJson, WithHeaders } from "./operation.ts";

/** The head of an operation on the server. */
export interface ServerHead extends Head {
  readonly on: ServerAccess["on"];
  /**
   * Whether it may take long, for news or for another program, so that its caller may leave it:
   * always, or if its query asks for that.
   */
  readonly waits?: "always" | "if asked";
  /** Whether it needs the node that leads, which has what it is about in memory. */
  readonly runsOn?: "leader";
}

/** Who calls an operation on the server. */
export interface ServerCall {
  readonly caller: Caller;
  /** Ends the wait of an operation that {@link ServerHead.waits}. */
  readonly end: EarlyEnd;
  /** Whether the caller gets nothing of the value, so that it has read nothing: HEAD over HTTP. */
  readonly isPeek?: boolean;
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
   * @param call `isAtPage`: whether a web page calls, where a session has the rights of its account
   * @throws Invalid naming the wrong field; Forbidden; Halted; Unavailable if the disk is nearly full;
   * the refusal of the operation
   */
  async invoke(
    services: Services & { readonly agents: Pick<Gates, "halts"> } & Pick<Gates, "space">,
    given: z.input<Input>,
    { caller, end = new EarlyEnd(), isAtPage = false }:
      & Pick<ServerCall, "caller">
      & Partial<ServerCall>
      & { readonly isAtPage?: boolean },
  ): Promise<ValueOf<Ok, New>> {
    const { http, ...access } = this.declared;
    const method = http.slice(0, http.indexOf(" "));
    const { agents: { halts }, space } = services;
    const require = () =>
      requireServerCall(method, { ...access, isAtPage }, caller.principal, { halts, space });
    require();
    const confirm = async () => {
      await caller.confirm?.();
      require();
    };
    const call = { caller: { ...caller, confirm }, end };
    return valueOf(await this.perform(services, this.parse(given), call)) as ValueOf<Ok, New>;
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
