/** What muster's own runner asks for and tells: the jobs of one runner, by its token. */
import { z } from "zod";
import { Conflict } from "../../kernel/errors.ts";
import { serverOperation } from "../../people/identity/server_operation.ts";
import type { Leases, Runners } from "../runners/mod.ts";
import {
  assignmentSchema,
  finishedSchema,
  finishRequestSchema,
  leaseRequestSchema,
  logAcceptedSchema,
  logRequestSchema,
  renewalSchema,
  renewRequestSchema,
} from "./assignment.ts";
import { assignmentOf, type Dispatcher } from "./dispatcher.ts";
import type { JobLogs } from "./job_logs.ts";
import type { Runs } from "./runs.ts";

/** What the operations of runners call. */
interface WireServices {
  readonly hosting: {
    readonly runs: Runs;
    readonly runners: Runners;
    readonly leases: Leases;
    readonly dispatcher: Dispatcher;
    readonly jobLogs: JobLogs;
  };
  readonly config: { readonly projects: { readonly scm: string } };
}

const id = z.string().max(30);

export const leaseJob = serverOperation({
  http: "POST /v1/runner/jobs",
  on: "runner",
  waits: "always",
  summary: "Get a job, or wait for one",
  description:
    "A lease lasts 30 seconds from each renewal. Only what comes with the `generation` " +
    "of the newest lease of a job counts.",
  input: leaseRequestSchema,
  bodyName: "LeaseRequest",
  example: { wait_seconds: 0, isolation: ["bwrap"], version: "1.0.0" },
  ok: { schema: assignmentSchema.meta({ id: "Assignment" }), description: "The job" },
  done: "No job came in time",
}, async ({ hosting: { dispatcher, runners }, config }: WireServices, request, { caller, end }) => {
  const { wait_seconds, isolation, version } = request;
  runners.note(caller.principal.id ?? "", { version, isolation });
  const asked = { wait: wait_seconds * 1000, isolation, kinds: ["commands"] as const };
  const leased = await dispatcher.lease(caller, asked, end);
  return leased === null ? undefined as never : assignmentOf(leased, config.projects.scm);
});

export const renewJob = serverOperation({
  http: "POST /v1/runner/jobs/{id}/renew",
  on: "runner",
  waits: "always",
  whileFull: true,
  summary: "Keep the lease of a job, and wait for its cancellation",
  input: renewRequestSchema.extend({ id }),
  example: { generation: 1, wait_seconds: 0 },
  ok: { schema: renewalSchema.meta({ id: "Renewal" }), description: "How the job stands" },
  refusals: [{ error: Conflict }],
}, async ({ hosting: { dispatcher, leases, runners } }: WireServices, request, { caller, end }) => {
  const { id: jobId, generation, wait_seconds } = request;
  const lease = leases.require(caller.principal, jobId, generation);
  runners.note(lease.runnerId);
  return await dispatcher.renew(lease, wait_seconds * 1000, end);
});

export const appendJobLog = serverOperation({
  http: "POST /v1/runner/jobs/{id}/log",
  on: "runner",
  summary: "Add lines to the log of a job; those that are there already are skipped",
  input: logRequestSchema.extend({ id }),
  example: {
    generation: 1,
    from: 1,
    lines: [{ at: 0, stream: "command", text: "deno task test" }],
  },
  ok: { schema: logAcceptedSchema, description: "The lines are kept" },
  refusals: [{ error: Conflict }],
}, async ({ hosting: { jobLogs, leases } }: WireServices, request, { caller }) => {
  const { id: jobId, generation, from, lines } = request;
  const lease = leases.require(caller.principal, jobId, generation);
  return { next: await jobLogs.append(lease, from, lines) };
});

export const finishJob = serverOperation({
  http: "POST /v1/runner/jobs/{id}/finish",
  on: "runner",
  whileFull: true,
  summary: "End a job with its result, which is reported; may be repeated",
  input: finishRequestSchema.extend({ id }),
  example: { generation: 1, outcome: "success", exit_code: 0, summary: "214 tests passed" },
  ok: { schema: finishedSchema, description: "How it has ended" },
  refusals: [{ error: Conflict }],
}, async ({ hosting: { runs, leases } }: WireServices, request, { caller }) => {
  const { id: jobId, ...result } = request;
  const lease = leases.of(jobId);
  const isOurs = lease?.generation === result.generation &&
    lease.runnerId === caller.principal.id;
  const state = await runs.finish(isOurs ? lease : null, jobId, result, caller);
  const { outcome } = result;
  return { outcome: state === "queued" ? "cancelled" as const : endOf(state, outcome) };
});

function endOf(state: string, outcome: z.output<typeof finishedSchema>["outcome"]) {
  return finishedSchema.shape.outcome.safeParse(state).data ?? outcome;
}
