import type { Selectable } from "kysely";
import type { Database, Tables } from "../../engines/database/mod.ts";
import type { Actor, ProjectRepositories, Projects } from "../projects/mod.ts";
import type { Slots } from "../../people/agents/mod.ts";
import type { AccountDirectory, AgentSessions, Caller } from "../../people/identity/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import { Conflict } from "../../kernel/errors.ts";
import type { TicketRef } from "../../engines/fossil/mod.ts";
import type { Numbered } from "./numbers.ts";

/**
 * How a claim ended. Submitted or merged work is a result, and so is a closed ticket; every other end
 * is a strike.
 */
export type ClaimOutcome =
  | "released"
  | "submitted"
  | "merged"
  | "closed"
  | "lapsed"
  | "broken"
  | "revoked";

/** Who holds a claim. */
export type Holder = Pick<Actor, "key" | "name">;

/** Who changes a ticket, and under which generation of its claim, if the request names one. */
export interface TicketWriter {
  readonly caller: Caller;
  readonly actor: Actor;
  readonly generation?: number | undefined;
}

/** A lease on a ticket. Times are Unix milliseconds. */
export interface Claim {
  readonly id: string;
  readonly projectId: string;
  /** The whole id of the ticket. */
  readonly ticket: string;
  /** The number of the ticket; null if it had none yet. */
  readonly ticketNumber: number | null;
  /** Counts the claims of the ticket, from 1. */
  readonly generation: number;
  readonly holder: Holder;
  /** The workspace that the claim names, or null. */
  readonly workspace: string | null;
  readonly claimedAt: number;
  readonly expiresAt: number;
  /** Since when the lease stands still, because its holder is halted; or null. */
  readonly frozenAt: number | null;
  readonly endedAt: number | null;
  /** Null while it is active. */
  readonly outcome: ClaimOutcome | null;
}

/**
 * A claim as the API shows it, with the contract's field names and those of the original agent hub.
 */
export interface ClaimView {
  readonly id: string;
  readonly ticket: string;
  readonly ticket_uuid: string;
  /** The number of the ticket; null if it had none yet. */
  readonly ticket_number: number | null;
  readonly agent: string;
  readonly agent_id: string;
  /** `claimed`, or how it ended. */
  readonly status: "claimed" | ClaimOutcome;
  readonly workspace: string | null;
  readonly generation: number;
  readonly claimed_at: string;
  readonly expires_at: string;
  /** While it is set, the lease stands still: the time that it had left then comes back. */
  readonly frozen_at: string | null;
}

export function viewOfClaim(claim: Claim): ClaimView {
  return {
    id: claim.id,
    ticket: claim.ticket,
    ticket_uuid: claim.ticket,
    ticket_number: claim.ticketNumber,
    agent: claim.holder.name,
    agent_id: claim.holder.name,
    status: claim.outcome ?? "claimed",
    workspace: claim.workspace,
    generation: claim.generation,
    claimed_at: isoOf(claim.claimedAt),
    frozen_at: claim.frozenAt === null ? null : isoOf(claim.frozenAt),
    expires_at: isoOf(claim.expiresAt),
  };
}

/** @param row a row of claims with the number of its ticket */
export function claimOf(
  row: Selectable<Tables["claims"]> & { readonly number: number | null },
): Claim {
  return {
    id: row.id,
    projectId: row.project_id,
    ticket: row.ticket,
    ticketNumber: row.number,
    generation: row.generation,
    holder: { key: row.holder_key, name: row.holder_name },
    workspace: row.workspace,
    claimedAt: row.claimed_at,
    expiresAt: row.expires_at,
    frozenAt: row.frozen_at,
    endedAt: row.ended_at,
    outcome: row.outcome,
  };
}

/** Whether a claim ended with a result. */
export function isResult(outcome: ClaimOutcome | null): boolean {
  return outcome === "submitted" || outcome === "merged" || outcome === "closed";
}

/** A time in the format of the API. */
export function isoOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

export interface ClaimsOptions {
  readonly database: Database;
  readonly projects: Projects;
  readonly repositories: ProjectRepositories;
  readonly accounts: AccountDirectory;
  readonly scheduler: Scheduler;
  readonly log: Log;
  /** How many slots each holder has, in all projects together. */
  readonly slots: Pick<Slots, "limitOf">;
  /** Tells what ended sessions of agents have left. */
  readonly agentSessions: Pick<AgentSessions, "isLeft">;
}

/** Who acts on a ticket, and under which generation, if the request names one. */
export interface FenceRequest {
  /** The whole id of the ticket. */
  readonly ticket: string;
  /** The holder on whose behalf the write is made. */
  readonly actor: Holder;
  readonly generation?: number | undefined;
}

/** Who asks for a claim or its end. */
export interface ClaimRequest {
  readonly caller: Caller;
  readonly actor: Actor;
  readonly generation?: number | undefined;
}

/** Why an ended claim no longer permits a write. */
const REASONS: Record<ClaimOutcome, string> = {
  released: "The claim of this ticket was released: claim it again",
  submitted: "The work on this ticket was submitted by its holder",
  merged: "The work on this ticket was merged",
  closed: "The ticket is closed",
  lapsed: "The claim of this ticket has expired: claim it again",
  broken: "An admin ended the claim of this ticket: claim it again",
  revoked: "The holder of this ticket's claim is revoked",
};

/** Refuses a write because somebody else holds the claim. */
export function claimRefusal(message: string, claim: Claim, next?: readonly string[]): Conflict {
  return new Conflict(message, {
    claimed_by: claim.holder.name,
    claimed_at: isoOf(claim.claimedAt),
    generation: claim.generation,
    expires_at: isoOf(claim.expiresAt),
    ...(next === undefined ? {} : { next }),
  });
}

/** Refuses a write because the claim has ended; nobody holds the ticket now. */
export function refusalOf(claim: Claim, outcome: ClaimOutcome): Conflict {
  return new Conflict(REASONS[outcome], {
    claimed_by: null,
    claimed_at: null,
    generation: claim.generation,
    expires_at: isoOf(claim.expiresAt),
  });
}

/**
 * Refuses a claim because the ticket waits for others.
 *
 * @param next whole ids of tickets that are free
 */
export function blockedRefusal(ticket: Numbered, next: readonly string[]): Conflict {
  const blocked_by = ticket.blocked_by.filter(({ is_closed }) => !is_closed);
  const names = blocked_by.slice(0, MAX_NAMED)
    .map(({ number, uuid }) => number === null ? uuid.slice(0, 10) : `#${number}`);
  const more = blocked_by.length - names.length;
  const whom = names.join(", ") + (more > 0 ? ` and ${more} more` : "");
  return new Conflict(`The ticket is blocked by ${whom}: claim it once nothing blocks it`, {
    blocked_by,
    next,
  });
}

/** Most blockers that an error names. */
const MAX_NAMED = 5;

/** @throws Conflict if a request names a generation that is not the claim's */
export function requireGeneration(claim: Claim, generation: number | undefined): void {
  if (generation === undefined || generation === claim.generation) return;
  throw claimRefusal(
    `The claim's generation is ${claim.generation}, not ${generation}: ` +
      "another process has claimed the ticket since",
    claim,
  );
}

/**
 * Keeps an agent with an old list from doing a ticket again that was submitted meanwhile.
 *
 * @param previous the newest claim of the ticket, or null
 * @throws Conflict if somebody else has done the ticket and nobody has reopened it
 */
export function requireNotDone(ticket: TicketRef, previous: Claim | null, actor: Holder): void {
  if (previous === null || !isResult(previous.outcome) || ticket.status === "Open") return;
  if (previous.holder.key === actor.key) return;
  throw claimRefusal(
    `"${previous.holder.name}" has done this ticket, which is "${ticket.status}": ` +
      `set it to "Open" to have it done again`,
    previous,
  );
}

/** Why a claim cannot be ended. */
export const NOT_CLAIMED = "No active claim for this ticket";
