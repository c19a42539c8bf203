import type { RouteConfig } from "@hono/zod-openapi";
import {
  Created,
  type Declaration,
  type Head,
  SerializedJson,
  type Shown,
  WithHeaders,
} from "../services/people/identity/operation.ts";
import type { Services } from "../services/operation/daemon/mod.ts";
import type { ServerCall, ServerHead } from "../services/people/identity/server_operation.ts";
import { accessOf } from "./access.ts";
import { ApiRoutes, type Input } from "./api_routes.ts";
import { z } from "./extended_zod.ts";
import { statusOfClass } from "./middleware/errors.ts";
import { bySpecificity } from "./path_patterns.ts";
import { RequestSchemas } from "./request_schemas.ts";
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

/** An operation on the server as HTTP has it: documented, validated and answered by what it declares. */
export class ServerRoute {
  /** Its description in the API's document. */
  readonly route: RouteConfig;
  readonly schemas: RequestSchemas;
  readonly waits: ServerHead["waits"];
  readonly #operation: AnyServerOperation;

  constructor(operationId: string, operation: AnyServerOperation & Routed) {
    const { declared } = operation;
    const described = describeOperation(operationId, declared, errorsOnServer);
    const access = { ...accessOf(declared.http as Endpoint), middleware: [] };
    const { middleware: _, ...route } = tableRoute(declared.http, described, access);
    this.route = route;
    this.schemas = new RequestSchemas(route.path, route.request);
    this.waits = declared.waits;
    this.#operation = operation;
  }

  /**
   * Runs the operation for a request that is authorized and validated, and answers with its outcome.
   *
   * @throws the refusal of the operation
   */
  perform(services: Services, parts: Input, call: ServerCall): Response | Promise<Response> {
    const { declared } = this.#operation;
    const outcome = this.#operation.perform(services, joinInput(parts, declared), call);
    return outcome instanceof Promise
      ? outcome.then((outcome) => responseWith(answerWith(outcome, declared)))
      : responseWith(answerWith(outcome, declared));
  }
}

/**
 * The operations of a room on the server, by the names of their routes.
 *
 * @param operations by their names, which are their ids in the OpenAPI document
 */
export function serverRoutes(
  operations: Readonly<Record<string, AnyServerOperation>>,
): ReadonlyMap<string, ServerRoute> {
  return new Map(
    inOrderOfRoutes(operations).map(([operationId, operation]) => [
      operation.declared.http,
      new ServerRoute(operationId, operation),
    ]),
  );
}

/** The routes of operations as the document shows them. */
export function documentedRoutes(routes: ReadonlyMap<string, ServerRoute>): ApiRoutes {
  const documented = new ApiRoutes();
  for (const { route } of routes.values()) documented.document(route);
  return documented;
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

/** An answer of which all is known. */
export interface Answer {
  readonly status: 200 | 201 | 202 | 204;
  /** JSON; null for none. */
  readonly text: string | null;
  readonly headers: Readonly<Record<string, string>>;
}

const JSON_HEADERS = Object.freeze({ "content-type": "application/json" });
const NO_HEADERS = Object.freeze({});

/** The answer with the outcome of an operation. */
export function answerWith(
  outcome: unknown,
  declared: Pick<Declared, "isAccepted">,
): Answer {
  if (outcome instanceof WithHeaders) {
    const answer = answerWith(outcome.outcome, declared);
    return { ...answer, headers: { ...answer.headers, ...outcome.headers } };
  }
  if (outcome === undefined) return { status: 204, text: null, headers: NO_HEADERS };
  if (outcome instanceof SerializedJson) {
    return { status: 200, text: outcome.text, headers: JSON_HEADERS };
  }
  const isNew = outcome instanceof Created;
  const value = isNew ? outcome.value : outcome;
  const status = isNew ? 201 : declared.isAccepted ? 202 : 200;
  if (value === undefined) return { status, text: null, headers: NO_HEADERS };
  return { status, text: JSON.stringify(value), headers: JSON_HEADERS };
}

function responseWith({ text, status, headers }: Answer): Response {
  return new Response(text, { status, headers });
}

interface Routed {
  readonly declared: Pick<Head, "http">;
}

/** The operations that HTTP has, in the order in which their routes are tried. */
export function inOrderOfRoutes<Operation extends { readonly declared: Partial<Head> }>(
  operations: Readonly<Record<string, Operation>>,
): [string, Operation & Routed][] {
  const isRouted = (entry: [string, Operation]): entry is [string, Operation & Routed] =>
    entry[1].declared.http !== undefined;
  return Object.entries(operations).filter(isRouted).sort(([, one], [, other]) =>
    bySpecificity(one.declared.http, other.declared.http)
  );
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
  { bodyField }: Pick<Declared, "bodyField">,
): Record<string, unknown> {
  return Object.assign({}, query, bodyField === undefined ? json : { [bodyField]: json }, params);
}

function answerOf({ schema, description, headers }: Shown) {
  return { ...json(schema, description), ...headers === undefined ? {} : { headers } };
}
