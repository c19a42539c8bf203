import {
  type Change,
  type Database,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import type { Origin } from "../../engines/events/mod.ts";
import { type Project, projectEvent } from "../projects/mod.ts";
import type { ClaimBook } from "./claim_book.ts";
import { type Claim, type ClaimOutcome, isoOf, isResult } from "./records.ts";

/** Claims that one statement changes. */
const CLAIMS_AT_ONCE = 500;

/** How a claim ends. */
export interface ClaimEnd {
  readonly outcome: ClaimOutcome;
  /** Unix milliseconds. */
  readonly now: number;
  readonly origin: Origin;
  /** Who ended it, if not its holder. */
  readonly by?: string;
  /** The submitted work. */
  readonly submission?: {
    readonly summary: string;
    readonly filesChanged: readonly string[];
    readonly workspace: string | null;
  };
  /** Whether to undo the transaction if the claim has ended meanwhile. */
  readonly mustChange?: boolean;
}

/**
 * The statements and events of a claim's beginning, renewal and end. Each statement also updates
 * the claim book.
 */
export class ClaimStatements {
  readonly #database: Database;
  readonly #book: ClaimBook;

  constructor(database: Database, book: ClaimBook) {
    this.#database = database;
    this.#book = book;
  }

  /** @param previous the claim of the ticket before this one, or null */
  beginning(project: Project, claim: Claim, previous: Claim | null, origin: Origin): Change {
    const { tables } = this.#database;
    const key = { project_id: claim.projectId, ticket: claim.ticket };
    const { generation } = claim;
    const lease = tables.insertInto("ticket_leases").values({ ...key, generation, strikes: 0 })
      .onConflict((conflict) =>
        conflict.columns(["project_id", "ticket"]).doUpdateSet({ generation })
      );
    const insertion = tables.insertInto("claims").values({
      ...key,
      id: claim.id,
      generation,
      holder_key: claim.holder.key,
      holder_name: claim.holder.name,
      workspace: claim.workspace,
      summary: null,
      files_changed: null,
      claimed_at: claim.claimedAt,
      expires_at: claim.expiresAt,
      frozen_at: null,
      ended_at: null,
      outcome: null,
    });
    return {
      statements: [
        statement(insertion, { committed: () => this.#book.put(claim) }),
        statement(lease),
      ],
      events: [this.#event(project, claim, { status: "claimed", previous, by: null }, {
        origin,
        time: claim.claimedAt,
      })],
    };
  }

  /** @param mustChange whether to undo the transaction if the claim has ended */
  renewal(claim: Claim, { mustChange = true } = {}): Statement {
    const update = this.#database.tables.updateTable("claims")
      .set({ expires_at: claim.expiresAt })
      .where("id", "=", claim.id).where("ended_at", "is", null);
    return statement(update, { mustChange, committed: () => this.#book.put(claim) });
  }

  /**
   * Stops the leases of the given claims, or lets them run again with the time that they had left.
   *
   * @param now Unix milliseconds
   */
  freezing(claims: readonly Claim[], isFrozen: boolean, now: number): readonly Statement[] {
    const statements: Statement[] = [];
    for (let at = 0; at < claims.length; at += CLAIMS_AT_ONCE) {
      const part = claims.slice(at, at + CLAIMS_AT_ONCE);
      const update = this.#database.tables.updateTable("claims").where("ended_at", "is", null)
        .where("id", "in", part.map(({ id }) => id));
      const change = isFrozen ? update.set({ frozen_at: now }) : update.set(({ eb, ref }) => ({
        expires_at: eb("expires_at", "+", eb(eb.val(now), "-", ref("frozen_at"))),
        frozen_at: null,
      }));
      statements.push(statement(change, {
        committed: () => this.#book.freeze(part, isFrozen ? now : null, now),
      }));
    }
    return statements;
  }

  /** Ends an active claim, or records that submitted work was merged. */
  end(project: Project, claim: Claim, end: ClaimEnd): Change {
    const { outcome, now, origin, submission } = end;
    const statements = this.endWithoutEvent(claim, end);
    const ended: Claim = {
      ...claim,
      outcome,
      endedAt: now,
      workspace: submission?.workspace ?? claim.workspace,
    };
    const about = { status: outcome, previous: null, by: end.by ?? null };
    return { statements, events: [this.#event(project, ended, about, { origin, time: now })] };
  }

  /** The same without an event, for a removed project. */
  endWithoutEvent(
    claim: Claim,
    { outcome, now, submission, mustChange = false }: ClaimEnd,
  ): readonly Statement[] {
    const { tables } = this.#database;
    const update = tables.updateTable("claims").set({
      outcome,
      ...(claim.endedAt === null ? { ended_at: now } : {}),
      ...(submission === undefined ? {} : {
        summary: submission.summary,
        files_changed: JSON.stringify(submission.filesChanged),
        workspace: submission.workspace ?? claim.workspace,
      }),
    }).where("id", "=", claim.id)
      .where("ended_at", claim.endedAt === null ? "is" : "is not", null);
    const strikes = this.#strikesAfter(claim, outcome);
    return [
      statement(update, { mustChange, committed: () => this.#book.remove(claim) }),
      this.strikes(claim.projectId, claim.ticket, strikes),
    ];
  }

  /** Sets the number of a ticket's claims that ended without a result. */
  strikes(projectId: string, ticket: string, count: number): Statement {
    const update = this.#database.tables.updateTable("ticket_leases").set({ strikes: count })
      .where("project_id", "=", projectId).where("ticket", "=", ticket);
    return statement(update, {
      committed: () => this.#book.setStrikes(projectId, ticket, count),
    });
  }

  #strikesAfter({ projectId, ticket }: Claim, outcome: ClaimOutcome): number {
    return isResult(outcome) ? 0 : this.#book.strikes(projectId, ticket) + 1;
  }

  #event(
    project: Project,
    claim: Claim,
    { status, previous, by }: {
      readonly status: "claimed" | ClaimOutcome;
      readonly previous: Claim | null;
      readonly by: string | null;
    },
    when: { readonly origin: Origin; readonly time: number },
  ) {
    const { ticket, generation, workspace, holder } = claim;
    const isTaken = previous !== null && previous.holder.key !== holder.key;
    return projectEvent(project, "project.claim", {
      ticket,
      ticket_uuid: ticket,
      agent: holder.name,
      agent_id: holder.name,
      status,
      generation,
      claimed_at: isoOf(claim.claimedAt),
      expires_at: isoOf(claim.expiresAt),
      workspace,
      by,
      previous_agent: isTaken ? previous.holder.name : null,
      previous_outcome: isTaken ? previous.outcome : null,
      strikes: status === "claimed"
        ? this.#book.strikes(claim.projectId, ticket)
        : this.#strikesAfter(claim, status),
    }, when);
  }
}
