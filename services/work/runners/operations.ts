import { z } from "zod";
import { Conflict, NotFound } from "../../kernel/errors.ts";
import { Created, serverOperation } from "../../people/identity/server_operation.ts";
import type { Runners } from "./runners.ts";
import { issuedRunnerSchema, newRunnerSchema, runnerNameSchema, runnerSchema } from "./schemas.ts";

/** What the operations on runners call. */
interface RunnerServices {
  readonly hosting: { readonly runners: Runners };
}

export const createRunner = serverOperation(
  {
    http: "POST /v1/runners",
    on: "server",
    summary: "Make a runner, which runs checks, and its token",
    description:
      "Start it with `muster runner --url URL` and the token in `MUSTER_RUNNER_TOKEN`. " +
      "The token opens the jobs that the runner has, and nothing else.",
    input: newRunnerSchema,
    bodyName: "RunnerRequest",
    example: { name: "east-1", labels: ["linux"], projects: null },
    created: { schema: issuedRunnerSchema, description: "The runner, with its token" },
    refusals: [{ error: NotFound }, { error: Conflict }],
    cli: {
      at: "runner create <name>",
      about: "make a runner of checks, and print its token once",
      options: {
        labels: { flags: "--labels <labels>", about: "what it has, separated by commas" },
        projects: { flags: "--projects <slugs>", about: "the projects whose jobs it takes" },
      },
      says: "{token}",
      examples: [{
        line: "runner create east-1 --labels linux > runner.token",
        purpose: "Then, on its machine: muster runner --url URL --token-file runner.token",
      }],
    },
  },
  async ({ hosting: { runners } }: RunnerServices, request, { caller }) =>
    new Created(await runners.create(request, caller)),
);

export const listRunners = serverOperation({
  http: "GET /v1/runners",
  on: "server",
  summary: "The runners of checks",
  input: z.object({}),
  ok: { schema: z.array(runnerSchema), description: "All of them, by name" },
  cli: {
    at: "runner list",
    about: "list the runners of checks",
    columns: ["name", "labels", "paused", "jobs", 'LAST SEEN: {last_seen|"never"}'],
  },
}, ({ hosting: { runners } }: RunnerServices) => runners.list());

export const changeRunner = serverOperation(
  {
    http: "PATCH /v1/runners/{name}",
    on: "server",
    whileFull: true,
    summary: "Pause a runner, or let it take jobs again",
    description: "A paused runner finishes the jobs that it has.",
    input: z.object({ name: runnerNameSchema, paused: z.boolean() }),
    example: { paused: true },
    ok: { schema: runnerSchema, description: "The runner" },
    refusals: [{ error: NotFound }],
    cli: [
      {
        at: "runner pause <name>",
        about: "let a runner take no more jobs",
        options: null,
        sends: { paused: true },
        says: "{name} takes no more jobs",
      },
      {
        at: "runner resume <name>",
        about: "let a runner take jobs again",
        options: null,
        sends: { paused: false },
        says: "{name} takes jobs",
      },
    ],
  },
  ({ hosting: { runners } }: RunnerServices, { name, paused }, { caller }) =>
    runners.pause(name, paused, caller),
);

export const removeRunner = serverOperation(
  {
    http: "DELETE /v1/runners/{name}",
    on: "server",
    summary: "Remove a runner: its token ends, and its jobs run elsewhere",
    input: z.object({ name: runnerNameSchema }),
    done: "Removed",
    refusals: [{ error: NotFound }],
    cli: { at: "runner remove <name>", about: "remove a runner of checks", aliases: ["delete"] },
  },
  ({ hosting: { runners } }: RunnerServices, { name }, { caller }) => runners.remove(name, caller),
);
