import { z } from "zod";
import { Conflict, Forbidden, Invalid, TooMany } from "../../kernel/errors.ts";
import { TICKET_ORDERS } from "../../engines/fossil/front/mod.ts";
import { type AccountDirectory, accountNameOf } from "../../people/identity/mod.ts";
import { writeArray } from "../../kernel/pieces.ts";
import { actorOf, type Project } from "../projects/mod.ts";
import {
  Created,
  operation,
  type OperationCall,
  RepositoryRead,
  SerializedJson,
} from "../projects/operation.ts";
import {
  boundedNumber,
  given,
  htmlParameter,
  pageOf,
  pageParameters,
  rangeOf,
} from "../projects/schemas.ts";
import type { ProjectTexts } from "../texts/mod.ts";
import { trimmedLineSchema } from "../../kernel/validation/schemas.ts";
import type { Claims } from "./claims.ts";
import type { CustomFields } from "./ticket_fields.ts";
import { assigneeOf } from "./given_work.ts";
import { isoOf, NOT_CLAIMED, type TicketWriter, viewOfClaim } from "./records.ts";
import {
  claimListSchema,
  claimRefusalSchema,
  claimSchema,
  commentSchema,
  fieldSchema,
  fieldsSchema,
  generationField,
  newCommentSchema,
  newFieldSchema,
  newTicketSchema,
  OF_GENERATION,
  releasedSchema,
  struckTicketsSchema,
  submissionSchema,
  submittedSchema,
  ticketChangeSchema,
  ticketChangesSchema,
  ticketIdSchema,
  ticketListSchema,
  ticketSchema,
  tooManyClaimsSchema,
  unclaimedSchema,
} from "./schemas.ts";
import type { Submissions } from "./submissions.ts";
import type { Tickets, TicketView } from "./tickets.ts";

/** What the operations on tickets and claims call. */
interface TicketServices {
  readonly hosting: {
    readonly tickets: Tickets;
    readonly customFields: CustomFields;
    readonly claims: Claims;
    readonly submissions: Submissions;
    readonly texts: ProjectTexts;
  };
  readonly accounts: Pick<AccountDirectory, "find" | "session">;
}

const byId = z.object({ uuid: ticketIdSchema });

const agentId = z.string().optional().meta({
  description: "In whose name to act; by default, your own. Only admins may name somebody else",
});

/** Fields of a change beside those of the ticket: in whose name, and under which claim. */
const writing = { agent_id: agentId, generation: generationField };

/** Fields of a request about a claim: for whom, and which one. */
const acting = {
  agent_id: z.string().max(200, { error: "must have at most 200 characters" }).optional().meta({
    description: "Who claims the ticket; by default, you. Only admins may name somebody else",
  }),
  generation: generationField,
};

const byClaim = {
  error: Conflict,
  schema: claimRefusalSchema,
  description: "Refused because of the ticket's claim or the state of the project",
};

function writerOf(
  { accounts }: TicketServices,
  { access, caller }: OperationCall,
  { agent_id, generation }: z.output<z.ZodObject<typeof writing>> = {},
): TicketWriter {
  return { caller, actor: actorOf(access, agent_id, accounts), generation };
}

/** A filter by a built-in field of tickets. */
function exactly(field: string) {
  return z.string().max(200).optional().meta({ description: `Only tickets of this ${field}` });
}

/** Filters by what gives work. */
const byGiven = {
  assignee: z.string().max(200).optional().meta({
    description: "Only tickets that are assigned to this account, `me` or `nobody`",
  }),
  label: z.string().max(200).optional().meta({
    description: "Only tickets with this label, in upper or lower case",
  }),
};

export const listTickets = operation(
  {
    http: "GET /api/tickets",
    needs: "read",
    summary: "Tickets: filtered, searched and sorted; newest first by default",
    input: z.object({
      page: pageParameters.page,
      per_page: pageParameters.per_page,
      status: z.string().optional().meta({ description: "Only tickets of exactly this status" }),
      state: z.enum(["open", "closed"], { error: 'must be "open" or "closed"' }).optional().meta({
        description: "Only open or only closed tickets, by the repository's own words",
      }),
      type: exactly("type"),
      priority: exactly("priority"),
      severity: exactly("severity"),
      subsystem: exactly("subsystem"),
      ...byGiven,
      blocked: z.enum(["true", "false"]).optional().meta({
        description: "Only tickets that wait for an open one, or only those that do not",
      }),
      search: z.string().max(200).optional().meta({
        description: "Only tickets with every word of this text in the title or at the start of " +
          "the id; `#12` finds the ticket with this number",
      }),
      sort: z.enum(TICKET_ORDERS, { error: `must be one of ${TICKET_ORDERS.join(", ")}` })
        .optional().meta({
          description: "`created` and `modified`: newest first; `priority` and `severity`: most " +
            "urgent first. By default, `created`",
        }),
      reverse: z.enum(["true", "false"]).optional().meta({
        description: "Whether the order is reversed",
      }),
      field: z.string().max(100).optional().meta({
        description: "Only tickets with the given `value` in this field of the ticket",
      }),
      value: z.string().max(1000).optional().meta({
        description: "The exact value; without it, tickets in which the field is empty",
      }),
    }),
    ok: { schema: ticketListSchema, description: "A page of tickets" },
    isRead: true,
    cli: {
      at: "ticket list <project>",
      about: "list the open tickets of a project, newest first",
      options: {
        state: { about: "open or closed tickets", default: "open" },
        assignee: { flags: "--assignee <name>" },
        reverse: null,
        field: null,
        value: null,
      },
      items: "tickets",
      columns: [
        "NUMBER: [#{number}]",
        "status",
        "assignee",
        "BLOCKED: {is_blocked?yes|}",
        "LABELS: {labels:commas}",
        "title",
      ],
      examples: [{
        line: "ticket list website --assignee me --blocked false",
        purpose: "What you can begin now",
      }],
    },
  },
  async (
    { hosting }: TicketServices,
    { status, field: name, value, page, per_page, reverse, assignee, blocked, ...conditions },
    call,
  ) => {
    if (name === undefined && value !== undefined) {
      throw new Invalid("The parameter `value` needs a `field`");
    }
    const asked = { page, per_page };
    const { numbers } = hosting.tickets;
    const sought = conditions.search?.trim() ?? "";
    const named = await numbers.named(call.project, sought.startsWith("#") ? [sought] : []);
    const search = named.get(sought);
    const { access } = call;
    const filter = {
      ...given(conditions),
      ...(search === undefined ? {} : { search }),
      ...(status === undefined || status === "" ? {} : { status }),
      ...(name === undefined ? {} : { field: { name, value: value ?? "" } }),
      ...(assignee === undefined
        ? {}
        : { assignee: assigneeOf(assignee, accountNameOf(access.principal)) }),
      ...(blocked === undefined ? {} : { isBlocked: blocked === "true" }),
      isReversed: reverse === "true",
    };
    return new RepositoryRead(
      async (repository) => {
        const found = await repository.tickets({ ...rangeOf(asked), ...filter });
        const { total, statuses } = found;
        const tickets = await numbers.with(call.project, found.tickets);
        return { ...pageOf(asked, total), tickets, statuses };
      },
      "all",
      {
        isProvisional: ({ tickets }) =>
          tickets.some((ticket) =>
            [ticket, ...ticket.blocked_by].some(({ number }) => number === null)
          ),
        surroundings: `${search ?? ""} ${assignee === "me" ? accountNameOf(access.principal) : ""}`,
      },
    );
  },
);

export const listUnclaimedTickets = operation({
  http: "GET /api/tickets/unclaimed",
  needs: "read",
  summary: "Tickets that an agent can claim, newest first",
  input: z.object({
    status: z.string().optional().meta({
      description: "Only tickets of this status, Open by default; empty for every status",
    }),
    limit: boundedNumber("Most tickets to list, at most 200", 50, 200),
    ...byGiven,
    offset: boundedNumber("How many tickets to skip", 0, 1_000_000, 0),
  }),
  ok: {
    schema: unclaimedSchema,
    description: "Tickets that nobody holds, that wait neither for a person nor for an open " +
      "ticket, and that are not assigned to somebody else",
  },
}, async ({ hosting }: TicketServices, asked, { project, access: { principal } }) => {
  const { status = "Open", assignee, ...page } = asked;
  const free = {
    ...given(page),
    ...(assignee === undefined ? {} : { assignee: assigneeOf(assignee, accountNameOf(principal)) }),
    ...(status === "" ? {} : { status }),
    for: accountNameOf(principal),
  };
  const { tickets, total } = await hosting.claims.unclaimed(project, free);
  return { tickets: await hosting.tickets.numbers.with(project, tickets), total };
});

export const listStruckTickets = operation({
  http: "GET /api/tickets/struck",
  needs: "read",
  summary: "Tickets that wait for a person because too many of their claims ended without a result",
  input: z.object(pageParameters),
  ok: { schema: struckTicketsSchema, description: "A page of tickets" },
}, async ({ hosting }: TicketServices, asked, { project }) => {
  const { tickets, total } = await hosting.tickets.struck(project, rangeOf(asked));
  return { ...pageOf(asked, total), tickets };
});

export const getTicketFields = operation({
  http: "GET /api/tickets/fields",
  needs: "read",
  summary: "The fields of the repository's tickets",
  input: z.object({}),
  ok: { schema: fieldsSchema, description: "The fields" },
  isRead: true,
}, () => new RepositoryRead((repository) => repository.ticketFields()));

export const defineTicketField = operation({
  http: "POST /api/tickets/fields",
  needs: "admin",
  callers: "no passphrase",
  summary: "Define a custom field of tickets",
  description: "The field becomes part of the repository's ticket schema, so the `fossil` " +
    "program has it too. Every ticket is made again in the same step. A project can have at " +
    "most 50 custom fields.",
  input: newFieldSchema,
  example: { name: "customer", type: "text" },
  created: { schema: fieldSchema, description: "The field" },
}, async (services: TicketServices, field, call) => {
  await services.hosting.customFields.define(call.project, field, writerOf(services, call));
  return new Created(field);
});

export const removeTicketField = operation({
  http: "DELETE /api/tickets/fields/{name}",
  needs: "admin",
  callers: "no passphrase",
  summary: "Remove a custom field of tickets",
  description: "The repository keeps the values: if the field is defined again, they are back.",
  input: z.object({ name: z.string().max(100) }),
  done: "The field is removed",
}, async (services: TicketServices, { name }, call) => {
  await services.hosting.customFields.remove(call.project, name, writerOf(services, call));
  return undefined;
});

export const getTicket = operation({
  http: "GET /api/tickets/{uuid}",
  needs: "read",
  summary: "A ticket with its comments and its claim",
  input: byId.extend({
    html: htmlParameter.html,
    comments: z.enum(["true", "false"]).optional().meta({
      description: 'With "false", the answer has no comments: `/changes` has them in pages',
    }),
  }),
  ok: { schema: ticketSchema, description: "The ticket" },
  cli: {
    at: "ticket show <project> <ticket:uuid>",
    about: "show a ticket with its comments",
    options: null,
    items: "comments",
    fields: [
      "number",
      "id: {uuid}",
      "title",
      "status",
      "resolution",
      "type",
      "severity",
      "priority",
      "subsystem",
      "assignee",
      "labels: {labels:commas}",
      "blocked by: {blocked_by:tickets}",
      "held by: {claim.agent}",
      "filed: {created:time}",
      "description: {body}",
    ],
    says: "{timestamp:time} {user}: {comment}",
  },
}, async ({ hosting }: TicketServices, { uuid, html, comments }, { project }) => {
  const ticket = shown(await hosting.tickets.read(project, uuid, comments !== "false"));
  if (html !== "true") return ticket;
  const { comments: said, ...rest } = await withHtml(hosting.texts, project, ticket);
  const head = JSON.stringify(rest).slice(0, -1);
  return new SerializedJson(`${head},"comments":${await writeArray(said)}}`);
});

export const listTicketChanges = operation({
  http: "GET /api/tickets/{uuid}/changes",
  needs: "read",
  summary: "Who changed a ticket, newest first",
  input: byId.extend(pageParameters),
  ok: { schema: ticketChangesSchema, description: "A page of changes" },
  isRead: true,
}, async ({ hosting }: TicketServices, { uuid, ...page }, { project }) => {
  const id = await hosting.tickets.numbers.idOf(project, uuid);
  return new RepositoryRead(
    async (repository) => {
      const found = await repository.ticketChanges({ id, ...rangeOf(page) });
      const { ticket, changes, total } = found;
      return { ticket, changes, ...pageOf(page, total) };
    },
    "all",
    { surroundings: id },
  );
});

/** How a command line gives work. */
const GIVEN_OPTIONS = {
  assignee: { flags: "--assignee <name>" },
  blocked_by: { flags: "--blocked-by <tickets>" },
};

/** How a command line sets words of a ticket. */
const WORD_OPTIONS = {
  status: "such as Open, Review or Closed",
  type: "such as Code_Defect or Feature_Request",
  severity: "Critical, Severe, Important, Minor or Cosmetic",
  priority: "Immediate, High, Medium, Low or Zero",
  subsystem: "the part of the project",
  resolution: "such as Fixed or Rejected",
};

export const createTicket = operation({
  http: "POST /api/tickets",
  needs: "write",
  summary: "Make a ticket",
  input: newTicketSchema.extend({ agent_id: agentId }),
  example: {
    title: "The parser crashes on an empty line",
    comment: "Send an empty line to port 6667.",
    type: "Code_Defect",
    severity: "Important",
  },
  created: { schema: ticketSchema, description: "The ticket" },
  cli: {
    at: "ticket create <project> <title>",
    about: "file a ticket",
    options: {
      ...GIVEN_OPTIONS,
      ...WORD_OPTIONS,
      comment: { flags: "--description <text>" },
      agent_id: null,
    },
    says: "Ticket {number|uuid} is filed",
    examples: [{
      line: 'ticket create website "Pour the floor" --blocked-by 12,14 --assignee scout',
      purpose: "A ticket that waits for two others",
    }],
  },
}, async (services: TicketServices, { agent_id, ...request }, call) => {
  const writer = writerOf(services, call, { agent_id });
  return new Created(shown(await services.hosting.tickets.create(call.project, request, writer)));
});

export const changeTicket = operation({
  http: "PATCH /api/tickets/{uuid}",
  needs: "write",
  summary: "Change a ticket's fields, and add a comment in the same step",
  input: ticketChangeSchema.extend({ ...byId.shape, ...writing }),
  example: {
    status: "Closed",
    resolution: "Fixed",
    comment: "Empty lines are skipped now.",
  },
  ok: { schema: ticketSchema, description: "The ticket" },
  refusals: [byClaim],
  cli: {
    at: "ticket edit <project> <ticket:uuid>",
    about: "change a ticket, or comment on it",
    options: {
      ...GIVEN_OPTIONS,
      ...WORD_OPTIONS,
      title: "the new title",
      body: { flags: "--description <text>" },
      agent_id: null,
      generation: null,
    },
    says: "Ticket {number|uuid} is changed",
    examples: [{
      line: "ticket edit website 12 --status Closed --resolution Fixed",
      purpose: "Close a ticket",
    }],
  },
}, async (services: TicketServices, { uuid, agent_id, generation, ...change }, call) => {
  const writer = writerOf(services, call, { agent_id, generation });
  return shown(await services.hosting.tickets.change(call.project, uuid, change, writer));
});

export const commentOnTicket = operation({
  http: "POST /api/tickets/{uuid}/comments",
  needs: "write",
  summary: "Comment on a ticket",
  input: newCommentSchema.extend({ ...byId.shape, ...writing }),
  example: { comment: "It happens on Windows too." },
  created: {
    schema: commentSchema.extend({ ticket_uuid: z.string() }),
    description: "The comment",
  },
  refusals: [byClaim],
}, async (services: TicketServices, { uuid, agent_id, generation, ...comment }, call) => {
  const writer = writerOf(services, call, { agent_id, generation });
  return new Created(await services.hosting.tickets.comment(call.project, uuid, comment, writer));
});

export const forgetStrikes = operation({
  http: "DELETE /api/tickets/{uuid}/strikes",
  needs: "write",
  callers: "no passphrase",
  summary: "Reset a ticket's strikes, so that agents can claim it again",
  input: byId,
  done: "The strikes are reset",
}, async ({ hosting: { tickets, claims } }: TicketServices, input, { access, project, caller }) => {
  if (access.principal.kind === "agent" && !access.isAdmin) {
    throw new Forbidden("The ticket waits for a person: an agent cannot reset its strikes");
  }
  const { uuid } = await tickets.resolve(project, input.uuid);
  await claims.forgetStrikes(project, uuid, caller);
  return undefined;
});

export const listClaims = operation({
  http: "GET /api/claims",
  needs: "read",
  summary: "Active claims: who holds which ticket",
  input: z.object({
    page: pageParameters.page,
    per_page: pageParameters.per_page,
    agent_id: z.string().optional().meta({ description: "Only the claims of this holder" }),
  }),
  ok: { schema: claimListSchema, description: "A page of claims, oldest first" },
}, ({ hosting: { claims } }: TicketServices, { page, per_page, agent_id }, { project }) => {
  const asked = { page, per_page };
  const { limit, offset } = rangeOf(asked);
  const found = claims.list(project, agent_id);
  const listed = found.slice(offset, offset + limit).map(viewOfClaim);
  return { ...pageOf(asked, found.length), claims: listed };
});

export const claimTicket = operation({
  http: "POST /api/tickets/{uuid}/claim",
  needs: "write",
  summary: "Claim a ticket for yourself, or renew your claim",
  input: z.object({
    ...byId.shape,
    ...acting,
    workspace: trimmedLineSchema(0, 200).optional().meta({
      description: "The workspace in which you will work",
    }),
  }),
  example: { agent_id: "builder" },
  hasOptionalBody: true,
  created: { schema: claimSchema, description: "The ticket is yours" },
  ok: {
    schema: claimSchema.extend({ message: z.string() }),
    description: "It was already yours; the lease is renewed",
  },
  refusals: [byClaim, {
    error: TooMany,
    schema: tooManyClaimsSchema,
    description: "Refused because the agent holds too many claims",
  }],
}, async (services: TicketServices, { uuid, workspace, ...by }, call) => {
  const { tickets, claims } = services.hosting;
  const writer = writerOf(services, call, by);
  const ticket = await tickets.resolve(call.project, uuid, {
    absence: "Ticket not found in repository",
  });
  const request = { ...writer, generation: writer.generation, workspace: workspace || undefined };
  const { claim, isNew } = await claims.claim(call.project, ticket, request);
  const view = viewOfClaim(claim);
  return isNew ? new Created(view) : { ...view, message: "Already claimed by you" };
});

export const releaseTicket = operation({
  http: "POST /api/tickets/{uuid}/release",
  needs: "write",
  whileFull: true,
  mcp: {
    name: "release_ticket",
    about: "Gives back a ticket that you claimed, without a result. Say in a comment " +
      "(update_ticket) what you found. If the work is done, use submit_work.",
    names: { ticket: "uuid" },
    takes: {
      ticket: "Its number, id or a prefix of it",
      generation: OF_GENERATION,
    },
    shows: [
      "ticket",
      "ticket_number",
      "agent",
      "status",
      "workspace",
      "generation",
      "claimed_at",
      "expires_at",
      "released_at",
    ],
    advice: { notFound: "get_my_work lists your claims" },
  },
  summary: "Release a ticket without a result; an admin can end anybody's claim",
  input: z.object({ ...byId.shape, ...acting }),
  example: {},
  hasOptionalBody: true,
  ok: { schema: releasedSchema, description: "Nobody holds the ticket" },
  refusals: [byClaim],
}, async (services: TicketServices, { uuid, ...by }, call) => {
  const { tickets, claims } = services.hosting;
  const writer = writerOf(services, call, by);
  const ticket = await tickets.resolve(call.project, uuid, { absence: NOT_CLAIMED });
  const { isAdmin } = call.access;
  const request = { ...writer, generation: writer.generation, isAdmin };
  const claim = await claims.release(call.project, ticket.uuid, request);
  const released_at = isoOf(claim.endedAt ?? claim.expiresAt);
  return { ...viewOfClaim(claim), status: "released", released_at };
});

export const submitTicket = operation({
  http: "POST /api/tickets/{uuid}/submit",
  needs: "write",
  summary: "Submit your work: adds a comment, sets the status to Review, and ends the claim",
  input: submissionSchema.extend({ ...acting, ...byId.shape }),
  example: { summary: "Empty lines are skipped.", workspace: "fix-parser" },
  ok: { schema: submittedSchema, description: "The work is submitted and the claim has ended" },
  refusals: [byClaim],
}, async (services: TicketServices, { uuid, agent_id, generation, ...work }, call) => {
  const writer = writerOf(services, call, { agent_id, generation });
  const { submissions } = services.hosting;
  const { claim, answer } = await submissions.submit(call.project, uuid, work, writer);
  const { summary, files_changed } = work;
  return { ...viewOfClaim(claim), summary, files_changed, ...answer };
});

/** A ticket as the API shows it, without its changes, which are in the timeline. */
function shown({ changes: _, ...ticket }: TicketView) {
  return ticket;
}

/** The markup of a ticket's description; Fossil has no field for it. */
const BODY_MIMETYPE = "text/x-markdown";

/** A ticket with its description and comments as HTML too. */
async function withHtml(texts: ProjectTexts, project: Project, ticket: ReturnType<typeof shown>) {
  const { body, comments } = ticket;
  const [body_html = "", ...html] = await texts.htmlOf(project, [
    { text: body, mimetype: BODY_MIMETYPE },
    ...comments.map(({ comment: text, mimetype }) => ({ text, mimetype })),
  ]);
  return {
    ...ticket,
    body_html,
    comments: comments.map((comment, index) => ({ ...comment, comment_html: html[index] ?? "" })),
  };
}
