import { z } from "zod";
import { serverOperation } from "../../people/identity/server_operation.ts";
import type { Agents } from "../../people/agents/mod.ts";
import type { Status } from "./status.ts";

const statusSchema = z.object({
  status: z.string().meta({ example: "ok" }),
  uptime: z.string().meta({ example: "3h2m1s" }),
  agents: z.int().meta({ description: "All agent records, including revoked ones" }),
  started: z.iso.datetime(),
  halted: z.boolean().meta({ description: "Whether any agent is halted" }),
  agents_halted: z.int().meta({ description: "The number of active agents that are halted" }),
  build: z.string().meta({
    description: "Which build of the program runs: the hash of its code, or the commit of its tree",
    example: "3f9ac01d42b7",
  }),
}).meta({ id: "Status" });

export const getStatus = serverOperation({
  http: "GET /v1/status",
  on: "coordination",
  summary: "Show the state of the service",
  input: z.object({}),
  ok: { schema: statusSchema, description: "The state of the service" },
}, ({ status }: { readonly status: Pick<Status, "read"> }) => status.read());

export const summarizeStatus = serverOperation({
  on: "coordination",
  summary: "Tell the state of the service, and how many agents there are",
  input: z.object({}),
  ok: {
    schema: z.object({
      status: z.string(),
      agents: z.object({
        active: z.int().meta({ description: "Those that are not revoked" }),
        total: z.int(),
      }),
    }),
    description: "The state of the service",
  },
}, ({ status, agents }: {
  readonly status: Pick<Status, "read">;
  readonly agents: Pick<Agents, "counts">;
}) => {
  const { active, total } = agents.counts();
  return { status: status.read().status, agents: { active, total } };
});
