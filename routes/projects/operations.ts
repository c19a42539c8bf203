import type { Context } from "hono";
import type { Services } from "../../services/daemon/mod.ts";
import type { PooledRepository } from "../../services/fossil/mod.ts";
import type { NewAnswer } from "../../services/projects/mod.ts";
import {
  Created,
  FileRead,
  type Operation,
  type OperationCall,
  type OwnedCall,
  type RepositoryFile,
  RepositoryRead,
  SerializedJson,
} from "../../services/projects/operation.ts";
import type { Project } from "../../services/projects/mod.ts";
import { callerOf } from "../caller.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { z } from "../extended_zod.ts";
import { jsonText } from "../json_text.ts";
import { optionalBody } from "../middleware/body.ts";
import { statusOfClass } from "../middleware/errors.ts";
import { route } from "../route.ts";
import { DESCRIPTIONS, errors, errorSchema, json } from "../schemas.ts";
import type { Endpoint } from "../table.ts";
import { bytesResponses, notModified, respond } from "./answers.ts";
import { contentHeaders } from "./content_headers.ts";
import { generationOf } from "./generation.ts";
import { projectErrors, projectRoute } from "./route.ts";
import type { ProjectEndpoint } from "./table.ts";

/** An operation, whatever its input and answer are. */
export type AnyOperation =
  & Pick<Operation<z.ZodObject, never, z.ZodType, z.ZodType>, "declared">
  & {
    perform(services: Services, input: unknown, call: OperationCall): Promise<unknown>;
    keyOf(input: unknown): string;
  };

/**
 * The routes of operations. Each is validated, documented and answered by what the operation declares.
 *
 * @param operations by their names, which are their ids in the OpenAPI document
 */
export function operationRoutes(
  services: Services,
  operations: Readonly<Record<string, AnyOperation>>,
) {
  const routes = newRoutes();
  // A literal part of a path comes before a parameter at its place: a field may be named "strikes".
  const inOrder = Object.entries(operations).sort(([, one], [, other]) =>
    orderOf(one) < orderOf(other) ? -1 : 1
  );
  for (const [operationId, operation] of inOrder) {
    const { hasOptionalBody, http } = operation.declared;
    const middleware = hasOptionalBody ? [optionalBody()] : [];
    const described = { operationId, ...describe(operation.declared, errorsIn(operation)) };
    const route = projectRoute(http as ProjectEndpoint, described, ...middleware);
    const handler = (context: Context<AppEnv>) => answer(context, services, operation);
    routes.handle(route, handler);
    if (operation.declared.hasSlashes) {
      routes.handle({ ...route, path: `${route.path}{[\\s\\S]+}`, hide: true }, handler);
    }
  }
  return routes;
}

/** The errors of every operation in a project: a change of an archived one is a conflict. */
function errorsIn({ declared: { http, needs } }: AnyOperation) {
  const isChange = !http.startsWith("GET ") && needs !== "read";
  return (...statuses: (400 | 409 | 413)[]) =>
    projectErrors(...(isChange ? [409] as const : []), ...statuses);
}

function orderOf({ declared: { http } }: AnyOperation): string {
  return http.replaceAll("{", "\u{ffff}");
}

/** The names of the path's parameters. */
function parametersOf(http: string): readonly string[] {
  return Array.from(http.matchAll(/\{(\w+)\}/g), ([, name = ""]) => name);
}

function maskOf(names: readonly string[]): Record<string, true> {
  return Object.fromEntries(names.map((name) => [name, true]));
}

/**
 * The route's description, as `@hono/zod-openapi` takes it.
 *
 * @param errorsOf the errors of every such route, and the given ones
 * @param outer the parameters of the path that the operation does not know
 */
function describe(
  declared: AnyOperation["declared"],
  errorsOf: (...statuses: (400 | 409 | 413)[]) => object,
  outer: z.ZodRawShape = {},
) {
  const { http, summary, description, input, example, hasOptionalBody } = declared;
  const { ok, created, done } = declared;
  const names = parametersOf(http);
  // A schema that judges its fields together can pick and omit none.
  const params = z.object(
    names.length === 0 ? outer : {
      ...outer,
      ...input.pick(maskOf(names)).shape,
    },
  );
  const rest: z.ZodObject = names.length === 0 ? input : input.omit(maskOf(names));
  const { bodyName, bodyField, inQuery = [] } = declared;
  const ofBody = inQuery.length === 0 ? z.object({}) : rest.pick(maskOf(inQuery));
  const query = example === undefined ? rest : ofBody;
  const hasQuery = Object.keys(query.shape).length > 0;
  const body = {
    content: {
      "application/json": {
        schema: bodyField === undefined
          ? (bodyName === undefined ? rest : rest.meta({ id: bodyName }))
          : input.shape[bodyField] as z.ZodType,
        example,
      },
    },
    required: hasOptionalBody !== true,
  };
  const refusals = (declared.refusals ?? []).map(({ error, schema, description }) => {
    const status = statusOfClass(error) as keyof typeof DESCRIPTIONS;
    return [status, json(schema ?? errorSchema, description ?? DESCRIPTIONS[status])];
  });
  return {
    summary,
    ...description === undefined ? {} : { description },
    request: {
      ...Object.keys(params.shape).length === 0 ? {} : { params },
      ...hasQuery ? { query } : {},
      ...example === undefined ? {} : { body },
    },
    responses: {
      ...ok === undefined || declared.isFile
        ? {}
        : { [declared.isAccepted ? 202 : 200]: json(ok.schema, ok.description) },
      ...declared.isFile ? bytesResponses : {},
      ...created === undefined ? {} : { 201: json(created.schema, created.description) },
      ...done === undefined ? {} : { 204: { description: done } },
      ...declared.isRead ? notModified : {},
      ...errorsOf(),
      ...(Object.keys(input.shape).length > 0 ? errorsOf(400) : {}),
      ...(example === undefined ? {} : errorsOf(413)),
      ...Object.fromEntries(refusals),
    },
  };
}

/** Runs an operation for a request that is authorized and validated, and answers with its outcome. */
async function answer(
  context: Context<AppEnv>,
  services: Services,
  operation: AnyOperation,
): Promise<Response> {
  const access = context.get("access");
  const { project } = access;
  const input = inputOf(context, operation.declared);
  if ("generation" in operation.declared.input.shape) {
    input["generation"] = generationOf(context, input["generation"] as number | undefined);
  }
  const call = { access, project, caller: callerOf(context) };
  const outcome = await operation.perform(services, input, call);
  const { answers } = services.hosting.repositories;
  if (outcome instanceof RepositoryRead) {
    const { answer } = outcome;
    return respond(context, await answers.get(project, operation.keyOf(input), answer));
  }
  if (outcome instanceof FileRead) {
    const answer = async (from: PooledRepository) => answerOf(await outcome.read(from));
    return respond(context, await answers.get(project, operation.keyOf(input), answer), true);
  }
  return answerWith(context, outcome, operation.declared);
}

/** A file as an answer to be kept. */
function answerOf({ path, uuid, is_binary, content, checkin }: RepositoryFile): NewAnswer {
  return {
    bytes: content as Uint8Array<ArrayBuffer>,
    etag: `"${uuid}"`,
    headers: {
      ...contentHeaders(path, is_binary),
      ...(checkin === undefined ? {} : { "X-Checkin": checkin }),
    },
  };
}

function answerWith(
  context: Context<AppEnv>,
  outcome: unknown,
  { isAccepted }: AnyOperation["declared"],
): Response {
  if (outcome === undefined) return context.body(null, 204);
  if (outcome instanceof Created) return context.json(outcome.value, 201);
  if (outcome instanceof SerializedJson) {
    return jsonText(context, outcome.text) as unknown as Response;
  }
  return context.json(outcome, isAccepted ? 202 : 200);
}

/** Where the operator calls operations beside the repository API. */
export interface OperatorPlace {
  /** The path of the operations in the repository API, and here. */
  readonly from: string;
  readonly to: string;
  /** Whose they are here, in place of "a project", in words. */
  readonly whose?: string;
  /**
   * The project of a request; null for all of them.
   *
   * @throws NotFound
   */
  readonly projectOf: (context: Context<AppEnv>) => Project | null;
}

/** An operation that needs to know only who calls it, and whose it is. */
type OwnedOperation = Pick<AnyOperation, "declared"> & {
  perform(services: Services, input: unknown, call: OwnedCall): Promise<unknown>;
};

/** The routes of operations outside of the repository API, for the operator. */
export function operatorRoutes(
  services: Services,
  operations: Readonly<Record<string, OwnedOperation>>,
  { from, to, whose = "a project", projectOf }: OperatorPlace,
) {
  const routes = newRoutes();
  const outer = z.object(to.includes("{slug}") ? { slug: z.string() } : {}).shape;
  for (const operation of Object.values(operations)) {
    const { declared } = operation;
    const isRead = declared.http.startsWith("GET ");
    const described = describe(
      { ...declared, summary: declared.summary.replace("a project", whose) },
      (...statuses) => errors(404, ...(isRead ? [] : [503] as const), ...statuses),
      outer,
    );
    routes.handle(
      route(declared.http.replace(from, to) as Endpoint, described),
      async (context) => {
        const { slug: _, ...input } = inputOf(context, declared);
        const call = { project: projectOf(context), caller: callerOf(context) };
        return answerWith(context, await operation.perform(services, input, call), declared);
      },
    );
  }
  return routes;
}

/** The validated parts of a request as one input. */
function inputOf(
  { req }: Context<AppEnv>,
  { bodyField }: AnyOperation["declared"],
): Record<string, unknown> {
  const part = (name: string): object | undefined => req.valid(name as never);
  const body = bodyField === undefined ? part("json") : { [bodyField]: part("json") };
  return { ...part("query"), ...body, ...part("param") };
}
