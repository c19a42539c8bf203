import { z } from "zod";
import { NotFound } from "../../kernel/errors.ts";
import { serverOperation } from "../../people/identity/server_operation.ts";
import { pageFields, pageOf, pageParameters, rangeOf } from "../projects/schemas.ts";
import type { Claims } from "./claims.ts";
import { viewOfClaim } from "./records.ts";
import { claimSchema } from "./schemas.ts";

/** What the operations on claims of all projects call. */
interface ClaimServices {
  readonly hosting: { readonly claims: Pick<Claims, "ofAgent"> };
}

const agentClaimSchema = claimSchema.extend({
  project: z.string().meta({ description: "The project's slug" }),
}).meta({ id: "AgentClaim" });

export const listAgentClaims = serverOperation({
  http: "GET /v1/agents/{nick}/claims",
  on: "coordination",
  summary: "List an agent's active claims in all projects that you may read, oldest first",
  input: z.object({ nick: z.string(), ...pageParameters }),
  ok: {
    schema: z.object({ claims: z.array(agentClaimSchema), ...pageFields })
      .meta({ id: "AgentClaims" }),
    description: "A page of claims",
  },
  refusals: [{ error: NotFound }],
  mcp: {
    name: "list_claims",
    about: "Lists the tickets that an agent holds in all projects that you may read, oldest " +
      "first, with the end of each lease. For your own, get_my_work shows more.",
    names: { agent: "nick" },
    takes: { agent: "The agent; your own nick to see your own claims" },
    list: { field: "claims", noun: "claims", limit: 25 },
    advice: { notFound: "Check the nick of the agent" },
    example: { agent: "scout" },
  },
  cli: {
    at: "agent claims <nick>",
    about: "list the tickets that an agent holds, in all projects",
    items: "claims",
    columns: [
      "project",
      "TICKET: [#{ticket_number} ]{ticket}",
      "workspace",
      "CLAIMED: {claimed_at}",
      "EXPIRES: {expires_at}",
    ],
  },
}, ({ hosting: { claims } }: ClaimServices, { nick, ...asked }, { caller }) => {
  const found = claims.ofAgent(nick, caller.principal);
  const { limit, offset } = rangeOf(asked);
  const listed = found.slice(offset, offset + limit)
    .map(({ slug, claim }) => ({ ...viewOfClaim(claim), project: slug }));
  return { claims: listed, ...pageOf(asked, found.length) };
});
