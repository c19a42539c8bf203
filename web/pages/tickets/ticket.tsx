import type { z } from "zod";
import { listReviews } from "../../../services/work/reviews/operations.ts";
import type { reviewListSchema } from "../../../services/work/reviews/schemas.ts";
import { listWorkspaces } from "../../../services/work/workspaces/operations.ts";
import type { workspaceListSchema } from "../../../services/work/workspaces/schemas.ts";
import { shownText } from "../../../services/engines/fossil/front/mod.ts";
import * as tickets from "../../../services/work/tickets/operations.ts";
import { definePage, type Leads, type View } from "../../page.ts";
import { AccountName } from "../../parts/account_name.tsx";
import { GivenWork } from "../../parts/given_work.tsx";
import { MARKUPS } from "../../parts/choices.tsx";
import { ButtonForm, Form, Select, TextArea } from "../../parts/form.tsx";
import { Pager } from "../../parts/lists.tsx";
import {
  type Holding,
  holdingOf,
  TicketHolder,
  TicketName,
  TicketStatus,
  TicketWords,
} from "../../parts/ticket_badges.tsx";
import { readable } from "../../parts/ticket_words.ts";
import { ThreadProse, threadTexts } from "../../parts/thread_texts.tsx";
import { Time } from "../../parts/time.tsx";
import { type OpenProject, openProject } from "../../project.ts";
import { type Visit, withQuery } from "../../visit.ts";
import { Activity, type ClaimNews, commentsIn, newsOf, type TicketChanges } from "./activity.tsx";
import { customFieldsOf, readFields, type Ticket, TicketForm, valuesOf } from "./fields.tsx";

type Reviews = z.output<typeof reviewListSchema>["reviews"];
type Workspaces = z.output<typeof workspaceListSchema>["workspaces"];

/** Each may be as long as a comment may be. */
const CHANGES_PER_PAGE = 20;

/** Claims among the changes of one page. */
const MAX_CLAIMS = 200;

/** Workspaces and reviews that a ticket links to; more are in their lists. */
const LINKS = 10;

/** One ticket: what it says, what happened to it, and who works on it. */
export const page = definePage({
  opens: "anybody",
  show,
  actions: { comment, edit, claim, release, forgive },
  keeps: ["comment", "edit"],
  json: (visit) => `/api/tickets/${encodeURIComponent(uuidOf(visit))}`,
});

async function show(visit: Visit): Promise<View> {
  const project = openProject(visit);
  const ticket = await readTicket(visit, project);
  const isEditing = visit.query("view") === "edit" && project.mayWrite;
  const body = isEditing
    ? await Editor({ visit, project, ticket })
    : await Shown({ visit, project, ticket });
  return {
    title: ticket.title === "" ? "Ticket" : ticket.title,
    body,
    project: project.place("tickets"),
    ...(isEditing ? {} : { live: project.live }),
  };
}

/** The title as it came from elsewhere, if it is too long to be shown as one. */
function WholeTitle({ title, fields }: Pick<Ticket, "title" | "fields">) {
  const whole = fields["title"] ?? "";
  if (whole.trim() === title) return null;
  return (
    <details>
      <summary>The whole title</summary>
      <p>{shownText(whole, "field")}</p>
    </details>
  );
}

async function readTicket(visit: Visit, { slug }: OpenProject): Promise<Ticket> {
  return await visit.invoke(slug, tickets.getTicket, { uuid: uuidOf(visit), comments: "false" });
}

function uuidOf(visit: Visit): string {
  return visit.param("uuid");
}

async function Shown({ visit, project, ticket }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly ticket: Ticket;
}) {
  const { slug } = project;
  const query = { ticket: ticket.uuid, per_page: LINKS };
  const [changes, { reviews }, { workspaces }] = await Promise.all([
    visit.invoke(slug, tickets.listTicketChanges, {
      uuid: ticket.uuid,
      page: visit.pageNumber,
      per_page: CHANGES_PER_PAGE,
    }),
    visit.invoke(slug, listReviews, query),
    visit.invoke(slug, listWorkspaces, { ...query, status: "all" }),
  ]);
  const holding = holdingOf(visit, project, ticket.uuid);
  const description = { text: ticket.body, mimetype: "text/x-markdown" };
  const [claims, comments, [body]] = await Promise.all([
    readClaims(visit, project, changes),
    commentsIn(visit, project, changes),
    threadTexts(visit, project, [description]),
  ]);
  return (
    <>
      <div class="page-head">
        <h1>{ticket.title === "" ? "(without a title)" : ticket.title}</h1>
        {project.mayWrite && <a class="button" href={`${visit.url.pathname}?view=edit`}>Edit</a>}
      </div>
      <WholeTitle {...ticket} />
      <div class="meta ticket-head" data-live-part="head" data-live-on="ticket claim">
        <TicketStatus status={ticket.status} />
        <TicketWords
          {...ticket}
          to={(field, value) => withQuery(`${project.base}/tickets`, { [field]: value })}
        />
        <GivenWork
          {...{ visit, project, ticket }}
          to={(query) => withQuery(`${project.base}/tickets`, query)}
        />
        <TicketName {...ticket} />
        <span>
          filed <Time at={ticket.created} />
        </span>
        <TicketHolder {...{ visit, project }} {...holding} />
      </div>
      <div class="columns">
        <div>
          <section class="card" aria-label="Description">
            {ticket.body === ""
              ? <p class="soft">There is no description.</p>
              : <ThreadProse text={body} alone={visit.url.pathname} />}
          </section>
          <section aria-labelledby="activity">
            <h2 id="activity">Activity</h2>
            <div data-live-part="activity" data-live-on="ticket claim strikes_forgotten">
              <Activity {...{ visit, project, changes, comments, claims }} />
            </div>
            <Pager visit={visit} page={changes.page} pages={changes.total_pages} />
          </section>
          {project.mayWrite ? <CommentForm visit={visit} ticket={ticket} /> : null}
        </div>
        <aside aria-label="About this ticket">
          <Work visit={visit} project={project} holding={holding} />
          <Facts ticket={ticket} />
          <Links {...{ visit, project, reviews, workspaces }} />
        </aside>
      </div>
    </>
  );
}

/**
 * What happened to the claims of a ticket between the changes of one page. A page of changes takes
 * what happened after its oldest change, up to the oldest one of the page before.
 */
async function readClaims(
  visit: Visit,
  { slug, access: { project } }: OpenProject,
  { ticket, changes, page, total_pages }: TicketChanges,
): Promise<readonly ClaimNews[]> {
  const newest = { uuid: ticket, page: (page - 1) * CHANGES_PER_PAGE, per_page: 1 };
  const [newer] = page === 1
    ? []
    : (await visit.invoke(slug, tickets.listTicketChanges, newest)).changes;
  const span = {
    from: page >= total_pages ? 0 : Date.parse(changes.at(-1)?.timestamp ?? ""),
    to: newer === undefined ? Infinity : Date.parse(newer.timestamp),
  };
  const { claims } = visit.services.hosting;
  return newsOf(await claims.past(project, { ticket, limit: MAX_CLAIMS }, span), span);
}

function CommentForm({ visit, ticket }: { readonly visit: Visit; readonly ticket: Ticket }) {
  return (
    <section class="card" aria-labelledby="say">
      <h2 id="say">Comment</h2>
      <Form visit={visit} action="comment" class="wide">
        <TextArea visit={visit} name="comment" label="Your comment" rows={5} />
        <Select
          visit={visit}
          name="mimetype"
          label="Markup"
          options={MARKUPS}
          value="text/x-markdown"
        />
        <div class="row">
          <button class="primary" type="submit">Comment</button>
          {ticket.status === "Closed"
            ? <button type="submit" name="then" value="Open">Comment and reopen</button>
            : <button type="submit" name="then" value="Closed">Comment and close</button>}
        </div>
      </Form>
    </section>
  );
}

function Work({ visit, project, holding }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly holding: Holding;
}) {
  const { holder, until, strikes, isStruck } = holding;
  const isOwn = holder !== null && holder === visit.principal.name;
  return (
    <section class="card" data-live-part="claim" data-live-on="claim strikes_forgotten">
      <h2>Claim</h2>
      {holder === null ? <p class="soft">Nobody holds this ticket.</p> : (
        <p>
          <AccountName {...{ visit, project }} name={holder} /> holds this ticket.{" "}
          {until !== null && (
            <>
              The claim ends <Time at={until} />. Work on the ticket or in its workspace renews it.
            </>
          )}
        </p>
      )}
      {strikes > 0 && (
        <p>
          {strikes} {strikes === 1 ? "claim" : "claims"} ended without a result.{" "}
          {isStruck && "So agents cannot claim it until a person offers it to them again."}
        </p>
      )}
      {project.mayWrite && (
        <div class="row">
          {(holder === null || isOwn) && (
            <ButtonForm
              visit={visit}
              action="claim"
              label={isOwn ? "Renew the claim" : "Claim it"}
            />
          )}
          {holder !== null && (isOwn || project.mayAdmin) && (
            <ButtonForm
              visit={visit}
              action="release"
              label={isOwn ? "Release it" : "End the claim"}
              look={isOwn ? "" : "danger"}
            />
          )}
          {strikes > 0 && (
            <ButtonForm
              visit={visit}
              action="forgive"
              label={isStruck ? "Offer it to agents again" : "Reset the count"}
            />
          )}
        </div>
      )}
    </section>
  );
}

/** Fields whose values are words of Fossil, such as `Code_Defect`. */
const READABLE: ReadonlySet<string> = new Set(["Resolution", "Type", "Priority", "Severity"]);

function Facts({ ticket }: { readonly ticket: Ticket }) {
  const facts = [
    ["Status", ticket.status],
    ["Resolution", ticket.resolution],
    ["Type", ticket.type],
    ["Priority", ticket.priority],
    ["Severity", ticket.severity],
    ["Subsystem", ticket.subsystem],
    ...customFieldsOf(ticket),
  ].filter(([, value]) => value !== "");
  return (
    <section class="card" data-live-part="fields" data-live-on="ticket">
      <h2>Fields</h2>
      <dl class="ticket-facts">
        {facts.map(([name = "", value = ""]) => (
          <>
            <dt>{name}</dt>
            <dd>{READABLE.has(name) ? readable(value) : value}</dd>
          </>
        ))}
      </dl>
    </section>
  );
}

function Links({ visit, project, reviews, workspaces }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly reviews: Reviews;
  readonly workspaces: Workspaces;
}) {
  const { base } = project;
  const isEmpty = reviews.length === 0 && workspaces.length === 0;
  return (
    <section
      class="card"
      data-live-part="links"
      data-live-on="review workspace landing"
      hidden={isEmpty}
    >
      <h2>Work on it</h2>
      <ul class="plain">
        {reviews.map(({ id, title, status }) => (
          <li>
            Review <a href={`${base}/reviews/${id}`}>#{id} {title}</a>{" "}
            <span class="badge">{status.replace("_", " ")}</span>
          </li>
        ))}
        {workspaces.map(({ name, agent_id, status }) => (
          <li>
            Workspace <a href={`${base}/workspaces/${encodeURIComponent(name)}`}>{name}</a> of{" "}
            <AccountName {...{ visit, project }} name={agent_id} />{" "}
            <span class="badge">{status}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

async function Editor({ visit, project, ticket }: {
  readonly visit: Visit;
  readonly project: OpenProject;
  readonly ticket: Ticket;
}) {
  const fields = await readFields(visit, project);
  return (
    <>
      <h1>Edit ticket</h1>
      <Form visit={visit} action="edit">
        <TicketForm {...{ visit, project, ticket, fields }} />
        <div class="row">
          <button class="primary" type="submit">Save</button>
          <a class="button" href={visit.url.pathname}>Cancel</a>
        </div>
      </Form>
    </>
  );
}

async function comment(visit: Visit): Promise<Leads> {
  const { slug } = openProject(visit);
  const [text, status] = [visit.entered("comment"), visit.entered("then")];
  if (status === "") {
    await addComment(visit, slug);
    return { to: visit.url.pathname, notice: "Your comment is there." };
  }
  if (text.trim() !== "") await addComment(visit, slug);
  await visit.invoke(slug, tickets.changeTicket, { uuid: uuidOf(visit), status });
  const notice = status === "Closed" ? "The ticket is closed." : "The ticket is open again.";
  return { to: visit.url.pathname, notice };
}

async function addComment(visit: Visit, slug: string): Promise<void> {
  const mimetype = visit.entered("mimetype", "text/plain");
  const comment = visit.entered("comment");
  await visit.invoke(slug, tickets.commentOnTicket, { uuid: uuidOf(visit), comment, mimetype });
}

async function edit(visit: Visit): Promise<Leads> {
  const project = openProject(visit);
  const [ticket, fields] = await Promise.all([
    readTicket(visit, project),
    readFields(visit, project),
  ]);
  const { description, ...change } = valuesOf(visit, fields, ticket);
  const body = description === undefined ? {} : { body: description };
  const { uuid } = ticket;
  await visit.invoke(project.slug, tickets.changeTicket, { uuid, ...change, ...body });
  return { to: visit.url.pathname, notice: "The ticket is saved." };
}

async function claim(visit: Visit): Promise<Leads> {
  await visit.invoke(openProject(visit).slug, tickets.claimTicket, { uuid: uuidOf(visit) });
  return { to: visit.url.pathname, notice: "You hold this ticket." };
}

async function release(visit: Visit): Promise<Leads> {
  await visit.invoke(openProject(visit).slug, tickets.releaseTicket, { uuid: uuidOf(visit) });
  return { to: visit.url.pathname, notice: "Nobody holds this ticket now." };
}

async function forgive(visit: Visit): Promise<Leads> {
  await visit.invoke(openProject(visit).slug, tickets.forgetStrikes, { uuid: uuidOf(visit) });
  return { to: visit.url.pathname, notice: "Agents can claim this ticket again." };
}
