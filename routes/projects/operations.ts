import type { Context } from "hono";
import type { Services } from "../../services/daemon/mod.ts";
import {
  Created,
  type Operation,
  type OperationCall,
  RepositoryRead,
  SerializedJson,
} from "../../services/projects/operation.ts";
import { callerOf } from "../caller.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { z } from "../extended_zod.ts";
import { jsonText } from "../json_text.ts";
import { optionalBody } from "../middleware/body.ts";
import { statusOfClass } from "../middleware/errors.ts";
import { DESCRIPTIONS, errorSchema, json } from "../schemas.ts";
import { notModified, respond } from "./answers.ts";
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
    const described = describe(operationId, operation.declared);
    const route = projectRoute(http as ProjectEndpoint, described, ...middleware);
    const handler = (context: Context<AppEnv>) => answer(context, services, operation);
    routes.handle(route, handler);
    if (operation.declared.hasSlashes) {
      routes.handle({ ...route, path: `${route.path}{[\\s\\S]+}`, hide: true }, handler);
    }
  }
  return routes;
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

/** The route's description, as `@hono/zod-openapi` takes it. */
function describe(operationId: string, declared: AnyOperation["declared"]) {
  const { http, summary, description, input, example, hasOptionalBody, ok, created, done } =
    declared;
  const names = parametersOf(http);
  // A schema that judges its fields together can pick and omit none.
  const params = names.length === 0 ? null : input.pick(maskOf(names));
  const rest: z.ZodObject = params === null ? input : input.omit(maskOf(names));
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
    operationId,
    summary,
    ...description === undefined ? {} : { description },
    request: {
      ...params === null ? {} : { params },
      ...hasQuery ? { query } : {},
      ...example === undefined ? {} : { body },
    },
    responses: {
      ...ok === undefined
        ? {}
        : { [declared.isAccepted ? 202 : 200]: json(ok.schema, ok.description) },
      ...created === undefined ? {} : { 201: json(created.schema, created.description) },
      ...done === undefined ? {} : { 204: { description: done } },
      ...declared.isRead ? notModified : {},
      ...projectErrors(),
      ...(Object.keys(input.shape).length > 0 ? projectErrors(400) : {}),
      ...(example === undefined ? {} : projectErrors(413)),
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
  if (outcome === undefined) return context.body(null, 204);
  if (outcome instanceof Created) return context.json(outcome.value, 201);
  if (outcome instanceof SerializedJson) {
    return jsonText(context, outcome.text) as unknown as Response;
  }
  if (!(outcome instanceof RepositoryRead)) {
    return context.json(outcome, operation.declared.isAccepted ? 202 : 200);
  }
  const { answers } = services.hosting.repositories;
  const key = operation.keyOf(input);
  return respond(context, await answers.get(project, key, (from) => outcome.answer(from)));
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
