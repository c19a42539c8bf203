import type { Context, MiddlewareHandler } from "hono";
import {
  Created,
  type Declaration,
  type Head,
  SerializedJson,
  type Shown,
  WithHeaders,
} from "../services/people/identity/operation.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import { EarlyEnd } from "../services/kernel/early_end.ts";
import type { ServerCall, ServerHead } from "../services/people/identity/server_operation.ts";
import { accessOf } from "./access.ts";
import { Waits } from "../http/mod.ts";
import type { Caller } from "../services/people/identity/mod.ts";
import { inputOf } from "./api_routes.ts";
import { callerOf } from "./caller.ts";
import { newRoutes } from "./context.ts";
import { hold } from "./held_answers.ts";
import type { Input } from "./direct.ts";
import type { AppEnv } from "./environment.ts";
import { z } from "./extended_zod.ts";
import { optionalBody } from "./middleware/body.ts";
import { statusOfClass } from "./middleware/errors.ts";
import { tableRoute } from "./route.ts";
import { DESCRIPTIONS, errors, errorSchema, json } from "./schemas.ts";
import type { Endpoint } from "./table.ts";

/** What any operation declares. */
export type Declared = Head & Declaration<z.ZodObject, z.ZodType, z.ZodType>;

/** An operation on the server, whatever its input and answer are. */
export interface AnyServerOperation {
  readonly declared: ServerHead & Omit<Declared, "http">;
  perform(services: Services, input: unknown, call: ServerCall): unknown;
}

/**
 * The routes of operations on the server. Each is validated, documented and answered by what the
 * operation declares.
 *
 * @param operations by their names, which are their ids in the OpenAPI document
 */
export function serverRoutes(
  services: Services,
  operations: Readonly<Record<string, AnyServerOperation>>,
) {
  const routes = newRoutes();
  const waits = new Waits();
  services.identity.onEnded((ended) => waits.abortEnded(ended));
  for (const [operationId, operation] of inOrderOfRoutes(operations)) {
    const { declared } = operation;
    const described = describeOperation(operationId, declared, errorsOnServer);
    const { middleware, ...access } = accessOf(declared.http as Endpoint);
    const made = tableRoute(declared.http, described, {
      ...access,
      middleware: [...middleware, ...middlewareOf(declared)],
    });
    const answer = (parts: Input, call: ServerCall): Response | Promise<Response> => {
      const outcome = operation.perform(services, joinInput(parts, declared), call);
      return outcome instanceof Promise
        ? outcome.then((outcome) => responseOf(outcome, declared))
        : responseOf(outcome, declared);
    };
    const answerNow = (input: Input, caller: Caller) =>
      answer(input, { caller, end: new EarlyEnd() });
    // A client may leave while it waits; what waits keeps nothing of the context.
    const answerLater = (context: Context<AppEnv>) => {
      const { method, raw: { signal } } = context.req;
      const { principal, address, requestId } = callerOf(context);
      const call = { caller: { principal, address, requestId }, isPeek: method === "HEAD" };
      const input = inputOf(context);
      const wait = async (end: EarlyEnd) => await answer(input, { ...call, end });
      return hold(context, waits.run(principal, signal, wait));
    };
    if (declared.waits === "always") routes.handle(made, answerLater);
    else if (declared.waits === undefined) routes.answer(made, answerNow);
    else routes.answer(made, answerNow, answerLater);
  }
  return routes;
}

/** The errors of every operation on the server. */
function errorsOnServer({ http, whileFull, input, example }: Declared) {
  const isWrite = !http.startsWith("GET ");
  return {
    ...errors(),
    ...isWrite && whileFull !== true ? errors(503) : {},
    ...Object.keys(input.shape).length > 0 ? errors(400) : {},
    ...example === undefined ? {} : errors(413),
  };
}

/** Answers with the outcome of an operation. */
function responseOf(outcome: unknown, declared: Declared): Response {
  if (outcome instanceof WithHeaders) {
    const response = responseOf(outcome.outcome, declared);
    for (const [name, value] of Object.entries(outcome.headers)) response.headers.set(name, value);
    return response;
  }
  if (outcome === undefined) return new Response(null, { status: 204 });
  if (outcome instanceof SerializedJson) {
    return new Response(outcome.text, { headers: { "content-type": "application/json" } });
  }
  if (!(outcome instanceof Created)) {
    return Response.json(outcome, {
      status: declared.isAccepted ? 202 : 200,
    });
  }
  const { value } = outcome;
  const status = 201;
  return value === undefined ? new Response(null, { status }) : Response.json(value, { status });
}

interface Routed {
  readonly declared: Pick<Head, "http">;
}

/**
 * The operations that HTTP has, in the order in which their routes are tried: a literal part of a
 * path comes before a parameter at its place.
 */
export function inOrderOfRoutes<Operation extends { readonly declared: Partial<Head> }>(
  operations: Readonly<Record<string, Operation>>,
): [string, Operation & Routed][] {
  const isRouted = (entry: [string, Operation]): entry is [string, Operation & Routed] =>
    entry[1].declared.http !== undefined;
  const orderOf = ({ declared: { http } }: Routed) => http.replaceAll("{", "\u{ffff}");
  return Object.entries(operations).filter(isRouted).sort(([, one], [, other]) =>
    orderOf(one) < orderOf(other) ? -1 : 1
  );
}

/** What runs before an operation, after the check of the caller's right. */
export function middlewareOf({ hasOptionalBody }: Declared): readonly MiddlewareHandler<AppEnv>[] {
  return hasOptionalBody ? [optionalBody()] : [];
}

/**
 * The description of an operation's route, as `@hono/zod-openapi` takes it.
 *
 * @param errorsOf the errors that it has beside those that it declares
 */
export function describeOperation<This extends Declared>(
  operationId: string,
  declared: This & { readonly isFile?: true },
  errorsOf: (declared: This) => Record<number, object>,
) {
  const { http, summary, description, input, example, hasOptionalBody, inQuery = [] } = declared;
  const { ok, isAccepted, isFile, created, done } = declared;
  const names = Array.from(http.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
  // A schema that judges its fields together can pick and omit none.
  const params = names.length === 0 ? null : input.pick(maskOf(names));
  const rest: z.ZodObject = params === null ? input : input.omit(maskOf(names));
  const ofBody = inQuery.length === 0 ? z.object({}) : rest.pick(maskOf(inQuery));
  const query = example === undefined ? rest : ofBody;
  const hasQuery = Object.keys(query.shape).length > 0;
  const body = {
    content: { "application/json": { schema: bodyOf(declared, rest), example } },
    required: hasOptionalBody !== true,
  };
  const refusals = (declared.refusals ?? []).map(({ error, schema, description }) => {
    const status = statusOfClass(error) as keyof typeof DESCRIPTIONS;
    return [status, json(schema ?? errorSchema, description ?? DESCRIPTIONS[status])];
  });
  return {
    operationId,
    summary,
    ...description === undefined ? {} : { description },
    request: {
      ...params === null ? {} : { params },
      ...hasQuery ? { query } : {},
      ...example === undefined ? {} : { body },
    },
    responses: {
      ...ok === undefined || isFile ? {} : { [isAccepted ? 202 : 200]: answerOf(ok) },
      ...created === undefined ? {} : {
        201: "schema" in created ? answerOf(created) : created,
      },
      ...done === undefined ? {} : {
        204: typeof done === "string" ? { description: done } : done,
      },
      ...errorsOf(declared),
      ...Object.fromEntries(refusals),
    },
  };
}

function maskOf(names: readonly string[]): Record<string, true> {
  return Object.fromEntries(names.map((name) => [name, true]));
}

/** @param fields those of the input that are not in the path */
function bodyOf({ bodyField, bodyName }: Declared, fields: z.ZodObject): z.ZodType {
  if (bodyField !== undefined) return fields.shape[bodyField] as z.ZodType;
  return bodyName === undefined ? fields : fields.meta({ id: bodyName });
}

/** The validated parts of a request as the input of its operation. */
export function joinInput(
  { params, query, json }: Input,
  { bodyField }: Declared,
): Record<string, unknown> {
  return Object.assign({}, query, bodyField === undefined ? json : { [bodyField]: json }, params);
}

function answerOf({ schema, description, headers }: Shown) {
  return { ...json(schema, description), ...headers === undefined ? {} : { headers } };
}
