import type { Context } from "hono";
import { Waits } from "../../http/mod.ts";
import { EarlyEnd } from "../../services/kernel/early_end.ts";
import { Invalid } from "../../services/kernel/errors.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import type { PooledRepository } from "../../services/engines/fossil/mod.ts";
import type { NewAnswer } from "../../services/work/projects/mod.ts";
import {
  FileRead,
  type OperationCall,
  type ProjectHead,
  type RepositoryFile,
  RepositoryRead,
} from "../../services/work/projects/operation.ts";
import { ApiRoutes, inputOf } from "../api_routes.ts";
import { type AppEnv, callerOf } from "../environment.ts";
import {
  answerWith,
  type Declared,
  describeOperation,
  inOrderOfRoutes,
  joinInput,
} from "../operations.ts";
import { bytesResponses, notModified, respond } from "./answers.ts";
import { contentHeaders } from "./content_headers.ts";
import { projectAccess, projectErrors } from "./route.ts";
import { tableRoute } from "../route.ts";
import type { ProjectEndpoint } from "./table.ts";

/** An operation in a project, whatever its input and answer are. */
export interface AnyOperation {
  readonly declared: ProjectHead & Declared;
  perform(services: Services, input: unknown, call: OperationCall): unknown;
  keyOf(input: unknown, surroundings?: string): string;
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
  const routes = new ApiRoutes();
  const waits = new Waits();
  services.identity.onEnded((ended) => waits.abortEnded(ended));
  for (const [operationId, operation] of inOrderOfRoutes(operations)) {
    const { declared } = operation;
    const described = describeOperation(operationId, declared, errorsInProject);
    const access = projectAccess(declared.http as ProjectEndpoint);
    const route = tableRoute(declared.http, described, access);
    const handler = (context: Context<AppEnv>) => {
      if (declared.waits === undefined || context.req.query("wait_seconds") === undefined) {
        return answer(context, services, operation);
      }
      const run = (end: EarlyEnd) => answer(context, services, operation, end);
      return waits.run(context.get("principal"), context.req.raw.signal, run);
    };
    routes.handle(route, handler);
    if (declared.hasSlashes) {
      routes.handle({ ...route, path: `${route.path}{[\\s\\S]+}`, hide: true }, handler);
    }
  }
  return routes;
}

/** The errors of every operation in a project, and the answers of one that reads. */
function errorsInProject({ http, needs, isRead, isFile, input, example }: Declared & ProjectHead) {
  const isChange = !http.startsWith("GET ") && needs !== "read";
  return {
    ...isFile ? bytesResponses : {},
    ...isRead ? notModified : {},
    ...projectErrors(),
    // An archived project cannot be changed.
    ...isChange ? projectErrors(409) : {},
    ...(Object.keys(input.shape).length > 0 ? projectErrors(400) : {}),
    ...(example === undefined ? {} : projectErrors(413)),
  };
}

/** Runs an operation for a request that is authorized and validated, and answers with its outcome. */
async function answer(
  context: Context<AppEnv>,
  services: Services,
  operation: AnyOperation,
  end = new EarlyEnd(),
): Promise<Response> {
  const access = context.get("access");
  const { project } = access;
  const { declared } = operation;
  const input = joinInput(inputOf(context), declared);
  if ("generation" in declared.input.shape) {
    input["generation"] = generationOf(context, input["generation"] as number | undefined);
  }
  // An item of a batch does not make the others wait.
  if (context.env?.inner !== undefined) end.end();
  const call = { access, project, caller: callerOf(context), end };
  const outcome = await operation.perform(services, input, call);
  const { answers } = services.hosting.repositories;
  if (outcome instanceof RepositoryRead) {
    const { answer, dependence, surroundings } = outcome;
    const key = operation.keyOf(input, surroundings);
    return respond(context, await answers.get(project, key, answer, dependence));
  }
  if (outcome instanceof FileRead) {
    const answer = async (from: PooledRepository) => answerOf(await outcome.read(from));
    const { dependence } = outcome;
    const key = operation.keyOf(input);
    return respond(context, await answers.get(project, key, answer, dependence), true);
  }
  const { status, text, headers } = answerWith(outcome, declared);
  return context.newResponse(text, status, headers);
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

/** The header with the generation of the claim under which a client works. */
const HEADER = "X-Claim-Generation";

/**
 * The generation of the claim that a request names in its body or its header.
 *
 * @throws Invalid if the header is no number, or the two differ
 */
function generationOf(context: Context, inBody: number | undefined): number | undefined {
  const text = context.req.header(HEADER);
  if (text === undefined) return inBody;
  const inHeader = /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null;
  if (inHeader === null) throw new Invalid(`The header ${HEADER} must be a whole number from 1`);
  if (inBody !== undefined && inBody !== inHeader) {
    throw new Invalid(`The header ${HEADER} and the field "generation" differ`);
  }
  return inHeader;
}
