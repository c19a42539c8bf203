import type { Context } from "hono";
import type { Services } from "../../services/daemon/mod.ts";
import {
  Created,
  type OperationCall,
  type ProjectHead,
  RepositoryRead,
  SerializedJson,
} from "../../services/projects/operation.ts";
import { inputOf } from "../api_routes.ts";
import { callerOf } from "../caller.ts";
import { type AppEnv, newRoutes } from "../context.ts";
import { jsonText } from "../json_text.ts";
import {
  type Declared,
  describeOperation,
  inOrderOfRoutes,
  joinInput,
  middlewareOf,
} from "../operations.ts";
import { notModified, respond } from "./answers.ts";
import { generationOf } from "./generation.ts";
import { projectErrors, projectRoute } from "./route.ts";
import type { ProjectEndpoint } from "./table.ts";

/** An operation in a project, whatever its input and answer are. */
export interface AnyOperation {
  readonly declared: ProjectHead & Declared;
  perform(services: Services, input: unknown, call: OperationCall): Promise<unknown>;
  keyOf(input: unknown): string;
}

/**
 * The routes of operations in projects. Each is validated, documented and answered by what the
 * operation declares.
 *
 * @param operations by their names, which are their ids in the OpenAPI document
 */
export function operationRoutes(
  services: Services,
  operations: Readonly<Record<string, AnyOperation>>,
) {
  const routes = newRoutes();
  for (const [operationId, operation] of inOrderOfRoutes(operations)) {
    const { declared } = operation;
    const described = describeOperation(operationId, declared, errorsInProject);
    const name = declared.http as ProjectEndpoint;
    const route = projectRoute(name, described, ...middlewareOf(declared));
    const handler = (context: Context<AppEnv>) => answer(context, services, operation);
    routes.handle(route, handler);
    if (declared.hasSlashes) {
      routes.handle({ ...route, path: `${route.path}{[\\s\\S]+}`, hide: true }, handler);
    }
  }
  return routes;
}

/** The errors of every operation in a project, and the answer to those who revalidate a read. */
function errorsInProject({ isRead, input, example }: Declared & ProjectHead) {
  return {
    ...isRead ? notModified : {},
    ...projectErrors(),
    ...(Object.keys(input.shape).length > 0 ? projectErrors(400) : {}),
    ...(example === undefined ? {} : projectErrors(413)),
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
  const { declared } = operation;
  const input = joinInput(inputOf(context), declared);
  if ("generation" in declared.input.shape) {
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
    return context.json(outcome, declared.isAccepted ? 202 : 200);
  }
  const { answers } = services.hosting.repositories;
  const key = operation.keyOf(input);
  return respond(context, await answers.get(project, key, outcome.answer));
}
