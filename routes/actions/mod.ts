/** What runners of Forgejo and Gitea call, below `/api/actions/`, and the actions offered to them. */
import type { Context } from "hono";
import { create } from "@bufbuild/protobuf";
import { bodyLimitsOf, Waits } from "../../http/mod.ts";
import { GitError } from "../../services/engines/git/mod.ts";
import { EarlyEnd } from "../../services/kernel/early_end.ts";
import { Forbidden, Invalid, NotFound, Unauthorized } from "../../services/kernel/errors.ts";
import type { Services } from "../../services/operation/daemon/mod.ts";
import type { Principal } from "../../services/people/identity/mod.ts";
import { ApiRoutes } from "../api_routes.ts";
import { type AppEnv, callerOf } from "../environment.ts";
import { z } from "../extended_zod.ts";
import { readGitBody } from "../git/body.ts";
import { addressForPrograms } from "../middleware/pages_host.ts";
import { once } from "../once.ts";
import { connectErrors, errors } from "../schemas.ts";
import { specialRoute } from "../special_route.ts";
import { answerWith, failureOf, readMessage, requireProto, timeoutOf } from "./connect.ts";
import { progressOf, readLogRows, runnerMessage, taskMessage } from "./messages.ts";
import { offeredActions } from "./offered.ts";
import { PingRequestSchema, PingResponseSchema } from "./proto/ping_pb.ts";
import {
  DeclareRequestSchema,
  DeclareResponseSchema,
  FetchTaskResponseSchema,
  RegisterRequestSchema,
  RegisterResponseSchema,
  Result,
  UpdateLogResponseSchema,
  UpdateTaskRequestSchema,
  UpdateTaskResponseSchema,
} from "./proto/runner_pb.ts";

/** Most bytes of a request: a runner sends all that a job printed since the last one. */
const MAX_REQUEST_BYTES = 32 * 1024 * 1024;
/** How long before its time limit a runner that waits for a task is answered, in milliseconds. */
const HEADROOM_MS = 500;
/** Longest wait for a task. */
const MAX_WAIT_MS = 30_000;
const MAX_LABELS = 50;

const OFFERED = "/api/actions/git";
const FETCH = "git-upload-pack";

export type ActionServices = Pick<Services, "hosting" | "config" | "identity" | "pagesHost">;

const binary = z.any().openapi({ type: "string", format: "binary" });

const call = specialRoute("POST /api/actions/{service}/{method}", {
  operationId: "callAsForgeRunner",
  summary: "What runners of Forgejo and Gitea call",
  description: "The services `runner.v1.RunnerService` and `ping.v1.PingService`, as Connect has " +
    "them. A runner registers with the token that `muster runner create` shows.",
  request: {
    params: z.object({
      service: z.string().openapi({ example: "ping.v1.PingService" }),
      method: z.string().openapi({ example: "Ping" }),
    }),
    body: { content: { "application/proto": { schema: binary } }, required: true },
  },
  responses: {
    200: { content: { "application/proto": { schema: binary } }, description: "The answer" },
    ...connectErrors(400, 401, 403, 404, 408, 409, 413, 503),
  },
});

const action = z.object({
  owner: z.string().openapi({ example: "actions" }),
  name: z.string().openapi({ example: "checkout" }),
});

const getRefs = specialRoute("GET /api/actions/git/{owner}/{name}/info/refs", {
  operationId: "listActionRefs",
  summary: "What `git clone` asks first of an action that this server offers",
  request: { params: action, query: z.object({ service: z.string().optional() }) },
  responses: {
    200: {
      content: { [`application/x-${FETCH}-advertisement`]: { schema: binary } },
      description: "The references",
    },
    ...errors(400, 404),
  },
});

const postFetch = specialRoute("POST /api/actions/git/{owner}/{name}/git-upload-pack", {
  operationId: "fetchAction",
  summary: "Send an action that this server offers to `git clone`",
  request: {
    params: action,
    body: { content: { [`application/x-${FETCH}-request`]: { schema: binary } }, required: true },
  },
  responses: {
    200: {
      content: { [`application/x-${FETCH}-result`]: { schema: binary } },
      description: "The answer in Git's protocol",
    },
    ...errors(400, 404, 408, 413),
  },
});

/** The routes below `/api/actions/`. */
export function actionRoutes(services: ActionServices) {
  const { identity, config } = services;
  const { stallMilliseconds: stallMs } = bodyLimitsOf(config);
  const waits = new Waits();
  identity.onEnded((ended) => waits.abortEnded(ended));
  const offered = once(() => Promise.resolve(offeredActions()));
  const bodyOf = (context: Context<AppEnv>) =>
    readGitBody(context.req.raw, { maxBytes: MAX_REQUEST_BYTES, stallMs });
  const actionOf = async ({ owner, name }: z.output<typeof action>) => {
    const path = `${owner}/${name.replace(/\.git$/, "")}`;
    const found = (await offered()).get(path);
    if (found === undefined) {
      throw new NotFound(`This server offers no action ${path}: set checks.actions_url`);
    }
    return found;
  };
  return new ApiRoutes()
    .openapi(
      call,
      (async (context: Context<AppEnv>) => {
        try {
          requireProto(context.req.raw.headers);
          const { service = "", method = "" } = context.req.param() as Record<string, string>;
          const name = `${service}/${method}`;
          if (name === "ping.v1.PingService/Ping") {
            const { data } = readMessage(PingRequestSchema, await bodyOf(context));
            const answer = create(PingResponseSchema, { data: `Hello, ${data.slice(0, 100)}!` });
            return answerWith(PingResponseSchema, answer);
          }
          if (name === "runner.v1.RunnerService/Register") {
            return await register(context, services, await bodyOf(context));
          }
          const answer = CALLS[name];
          if (answer === undefined) throw new NotFound(`There is no method ${name}`);
          await authenticate(context, services, context.req.header("x-runner-token") ?? "");
          return await answer({ context, services, waits, body: () => bodyOf(context) });
        } catch (error) {
          return failureOf(error);
        }
      }) as never,
    )
    .openapi(
      getRefs,
      (async (context: Context<AppEnv>) => {
        const found = await actionOf(context.req.param() as z.output<typeof action>);
        return send(found.refs(), `application/x-${FETCH}-advertisement`);
      }) as never,
    )
    .openapi(
      postFetch,
      (async (context: Context<AppEnv>) => {
        const found = await actionOf(context.req.param() as z.output<typeof action>);
        try {
          return send(found.fetch(await bodyOf(context)), `application/x-${FETCH}-result`);
        } catch (error) {
          throw error instanceof GitError ? new Invalid(error.message) : error;
        }
      }) as never,
    );
}

interface Call {
  readonly context: Context<AppEnv>;
  readonly services: ActionServices;
  readonly waits: Waits;
  readonly body: () => Promise<Uint8Array>;
}

/** The calls of runners that are registered. */
const CALLS: Readonly<Record<string, (call: Call) => Promise<Response>>> = {
  async "runner.v1.RunnerService/Declare"({ context, services, body }) {
    const { version, labels } = readMessage(DeclareRequestSchema, await body());
    const said = { version: version.slice(0, 100), labels: boundedLabels(labels) };
    const runner = await services.hosting.forgeTasks.declare(callerOf(context), said);
    const answer = create(DeclareResponseSchema, { runner: runnerMessage(runner, said) });
    return answerWith(DeclareResponseSchema, answer);
  },

  async "runner.v1.RunnerService/FetchTask"({ context, services, waits, body }) {
    await body();
    const { raw } = context.req;
    const limit = timeoutOf(raw.headers);
    const wait = Math.min(Math.max((limit ?? 0) - HEADROOM_MS, 0), MAX_WAIT_MS);
    const caller = callerOf(context);
    const task = await waits.run(
      caller.principal,
      raw.signal,
      (end: EarlyEnd) => services.hosting.forgeTasks.next(caller, wait, end),
    );
    if (task === null) return answerWith(FetchTaskResponseSchema, create(FetchTaskResponseSchema));
    const server = addressForPrograms(context, services);
    const actions = services.config.checks.actions_url || `${server}${OFFERED}`;
    const answer = { task: taskMessage(task, { server, actions }) };
    return answerWith(FetchTaskResponseSchema, create(FetchTaskResponseSchema, answer));
  },

  async "runner.v1.RunnerService/UpdateTask"({ context, services, body }) {
    const request = readMessage(UpdateTaskRequestSchema, await body());
    const { state, outputs } = request;
    if (state === undefined) throw new Invalid("state is required");
    const { id, result } = state;
    const progress = progressOf(request);
    const found = await services.hosting.forgeTasks.update(
      callerOf(context),
      Number(id),
      progress,
    );
    const answer = create(UpdateTaskResponseSchema, {
      state: { id, result: found === "cancelled" ? Result.CANCELLED : result },
      sentOutputs: found === "running" ? [] : Object.keys(outputs),
    });
    return answerWith(UpdateTaskResponseSchema, answer);
  },

  async "runner.v1.RunnerService/UpdateLog"({ context, services, body }) {
    const { number, ...rows } = await readLogRows(await body());
    const count = await services.hosting.forgeTasks.log(callerOf(context), number, rows);
    const answer = create(UpdateLogResponseSchema, { ackIndex: BigInt(count) });
    return answerWith(UpdateLogResponseSchema, answer);
  },
};

/** Lets a runner in with its token, which it keeps. */
async function register(
  context: Context<AppEnv>,
  services: ActionServices,
  body: Uint8Array,
): Promise<Response> {
  const { token, version, labels, agentLabels } = readMessage(RegisterRequestSchema, body);
  await authenticate(context, services, token);
  const said = {
    version: version.slice(0, 100),
    labels: boundedLabels(labels.length > 0 ? labels : agentLabels),
  };
  const runner = await services.hosting.forgeTasks.declare(callerOf(context), said);
  const answer = create(RegisterResponseSchema, {
    runner: runnerMessage(runner, { token, version }),
  });
  return answerWith(RegisterResponseSchema, answer);
}

/** @throws Unauthorized; Forbidden if it is no runner's token */
async function authenticate(
  context: Context<AppEnv>,
  { identity }: Pick<ActionServices, "identity">,
  token: string,
): Promise<void> {
  if (token === "") throw new Unauthorized("A runner sends its token in X-Runner-Token");
  const address = context.get("address");
  const principal: Principal = await identity.authenticate({ kind: "bearer", token }, address);
  if (principal.kind !== "runner") {
    throw new Forbidden("This is no token of a runner: muster runner create NAME shows one");
  }
  context.set("principal", principal);
  context.env.trust?.(principal);
}

function boundedLabels(labels: readonly string[]): string[] {
  return labels.slice(0, MAX_LABELS).map((label) => label.slice(0, 100));
}

function send(body: Uint8Array<ArrayBuffer>, type: string): Response {
  return new Response(body, { headers: { "Content-Type": type, "Cache-Control": "no-cache" } });
}
