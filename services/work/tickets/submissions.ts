import type { Change } from "../../engines/database/mod.ts";
import { Conflict, Forbidden, NotFound } from "../../kernel/errors.ts";
import type { Origin } from "../../engines/events/mod.ts";
import type { TicketRef } from "../../engines/fossil/mod.ts";
import type { Caller } from "../../people/identity/mod.ts";
import {
  type Actor,
  isSameActor,
  type Project,
  type ProjectRepositories,
  type RegisteredKind,
} from "../projects/mod.ts";
import type { Claims } from "./claims.ts";
import {
  type Claim,
  claimRefusal,
  isResult,
  NOT_CLAIMED,
  refusalOf,
  type TicketWriter,
} from "./records.ts";
import type { SubmittedWork } from "./schemas.ts";
import { setting } from "./ticket_fields.ts";
import type { Tickets } from "./tickets.ts";

/** Work to submit. */
export interface Submission {
  readonly project: Project;
  readonly ticket: TicketRef;
  readonly claim: Claim;
  readonly caller: Caller;
  readonly actor: Actor;
  readonly summary: string;
  /** The workspace with the work, or null. */
  readonly workspace: string | null;
  /** Names of accounts to review the work. */
  readonly reviewers: readonly string[];
}

/** A further effect of a submission, such as opening a review. */
export interface SubmissionPart {
  /**
   * Checks the work and computes what `settle` needs, before anything is written.
   *
   * @returns a plan that survives JSON, and fields for the response; null for nothing to do
   * @throws ServiceError if the work cannot be submitted
   */
  prepare(submission: Submission): Promise<
    { readonly plan: unknown; readonly answer: Readonly<Record<string, unknown>> } | null
  >;
  /**
   * State and events, committed with the end of the claim. The rules of an intention's `settle`
   * apply.
   */
  settle(plan: unknown, settling: {
    readonly project: Project;
    readonly origin: Origin;
    /** Unix milliseconds. */
    readonly now: number;
  }): Change | Promise<Change>;
}

/** The intention's body, on disk while the work is being submitted. */
interface Submitting {
  readonly ticket: string;
  readonly generation: number;
  readonly summary: string;
  readonly filesChanged: readonly string[];
  readonly workspace: string | null;
  /** The plan of each part, in their order. */
  readonly plans: readonly unknown[];
}

export interface SubmissionsOptions {
  readonly repositories: ProjectRepositories;
  readonly claims: Claims;
  readonly tickets: Tickets;
}

/** Submits work: ends the claim, comments on the ticket, and runs the parts of other services. */
export class Submissions {
  readonly #options: SubmissionsOptions;
  readonly #kind: RegisteredKind<Submitting>;
  readonly #parts: SubmissionPart[] = [];

  constructor(options: SubmissionsOptions) {
    this.#options = options;
    this.#kind = options.repositories.intentions.register<Submitting>({
      name: "ticket.submit",
      settle: ({ project, body, origin, now }) => this.#settle(project, body, { origin, now }),
    });
  }

  /**
   * Adds a part to every submission. Call it before any intention is settled, always in the same
   * order.
   */
  extend(part: SubmissionPart): void {
    this.#parts.push(part);
  }

  /**
   * Submits the work of a claim and ends it: comments on the ticket and sets its status to
   * "Review".
   *
   * @param id the ticket's number, its id or a prefix of it
   * @throws NotFound if nobody claimed the ticket; Forbidden if somebody else did; Conflict
   */
  async submit(
    project: Project,
    id: string,
    work: SubmittedWork,
    writer: TicketWriter,
  ): Promise<{ readonly claim: Claim; readonly answer: Readonly<Record<string, unknown>> }> {
    const { tickets, repositories } = this.#options;
    const { caller, actor } = writer;
    const ticket = await tickets.resolve(project, id, { absence: NOT_CLAIMED });
    const claim = await this.#requireClaim(project, ticket.uuid, writer);
    const workspace = work.workspace || claim.workspace;
    const { summary, reviewers } = work;
    const submission = { project, ticket, claim, caller, actor, summary, workspace, reviewers };
    const prepared = [];
    for (const part of this.#parts) prepared.push(await part.prepare(submission));
    const body: Submitting = {
      ticket: ticket.uuid,
      generation: claim.generation,
      summary,
      filesChanged: work.files_changed,
      workspace,
      plans: prepared.map((part) => part?.plan ?? null),
    };
    await repositories.write(project, {
      caller,
      user: actor.name,
      intention: { kind: this.#kind, body },
      write: async (repository, stamp) => {
        await this.#requireClaim(project, ticket.uuid, writer);
        const text = commentOf(body);
        return await repository.changeTicket({
          ...stamp,
          ticket: ticket.uuid,
          fields: [],
          optional: setting({ status: "Review" }),
          ...(text === "" ? {} : { comment: { text, mimetype: "text/x-markdown" } }),
        });
      },
    });
    const answer = Object.assign({}, ...prepared.map((part) => part?.answer ?? {}));
    return { claim: { ...claim, outcome: "submitted", workspace }, answer };
  }

  async #requireClaim(
    project: Project,
    ticket: string,
    { actor, generation }: TicketWriter,
  ): Promise<Claim> {
    const { claims } = this.#options;
    const active = claims.active(project, ticket);
    if (active !== null) {
      if (isSameActor(active.holder, actor)) {
        return await claims.fence(project, { ticket, actor, generation });
      }
      if (await claims.hasHeld(project, ticket, actor)) {
        throw claimRefusal(`"${active.holder.name}" holds the claim of this ticket`, active);
      }
      throw new Forbidden("Only the claiming agent can submit work for this ticket");
    }
    const newest = await claims.newest(project, ticket);
    if (newest === null) throw new NotFound(NOT_CLAIMED);
    const { outcome } = newest;
    const isOwn = newest.holder.key === actor.key;
    if (isResult(outcome)) {
      if (!isOwn) throw new Forbidden("Only the claiming agent can submit work for this ticket");
      throw new Conflict(`Claim is already ${outcome}`);
    }
    if (!isOwn || outcome === "released") throw new NotFound(NOT_CLAIMED);
    throw refusalOf(newest, claims.outcomeOf(newest));
  }

  async #settle(
    project: Project,
    { ticket, generation, summary, filesChanged, workspace, plans }: Submitting,
    { origin, now }: { readonly origin: Origin; readonly now: number },
  ): Promise<Change> {
    const { claims } = this.#options;
    const claim = await claims.newest(project, ticket);
    const ends = claim !== null && claim.generation === generation && claim.outcome === null;
    const changes: Change[] = ends
      ? [claims.statements.end(project, claim, {
        outcome: "submitted",
        now,
        origin,
        submission: { summary, filesChanged, workspace },
      })]
      : [];
    for (const [index, part] of this.#parts.entries()) {
      const plan = plans[index] ?? null;
      if (plan !== null) changes.push(await part.settle(plan, { project, origin, now }));
    }
    return {
      statements: changes.flatMap(({ statements = [] }) => statements),
      events: changes.flatMap(({ events = [] }) => events),
    };
  }
}

/** The comment on the ticket, in Markdown: the summary, the workspace and the files. */
function commentOf({ summary, workspace, filesChanged }: Submitting): string {
  const files = filesChanged.map((file) => `- ${codeOf(file)}`).join("\n");
  return [
    summary.trim(),
    workspace === null ? "" : `Workspace: ${codeOf(workspace)}`,
    files === "" ? "" : `Files changed:\n\n${files}`,
  ].filter((part) => part !== "").join("\n\n");
}

/** A code span in Markdown, so that names such as `__init__.py` stay as they are. */
function codeOf(text: string): string {
  if (!text.includes("`")) return `\`${text}\``;
  const longest = Math.max(...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence} ${text} ${fence}`;
}
