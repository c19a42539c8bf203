import {
  type Change,
  type Database,
  type Directory,
  type Statement,
  statement,
} from "../../engines/database/mod.ts";
import { type Claim, claimOf, type ClaimOutcome, type Holder, isoOf, isResult } from "./records.ts";
import type { Origin } from "../../engines/events/mod.ts";
import { isSameActor, type Project, projectEvent } from "../projects/mod.ts";

/** The claims of one project. */
interface Page {
  /** Active claims by ticket. */
  readonly active: Map<string, Claim>;
  /** How many claims of a ticket ended without a result; only tickets with any. */
  readonly strikes: Map<string, number>;
}

/** The active claims and the strikes of every project, in memory. */
export class ClaimBook implements Directory {
  readonly tables = ["claims", "ticket_leases"] as const;
  readonly #database: Database;
  readonly #pages = new Map<string, Page>();
  /** Active claims by holder and id. */
  readonly #held = new Map<string, Map<string, Claim>>();

  constructor(database: Database) {
    this.#database = database;
  }

  async load(): Promise<void> {
    const { tables } = this.#database;
    const claims = await numberedClaims(tables).where("ended_at", "is", null).execute();
    const leases = await tables.selectFrom("ticket_leases").selectAll().where("strikes", ">", 0)
      .execute();
    this.#pages.clear();
    this.#held.clear();
    for (const row of claims) this.put(claimOf(row));
    for (const { project_id, ticket, strikes } of leases) {
      this.setStrikes(project_id, ticket, strikes);
    }
  }

  /** The active claim of a ticket, even if its lease has expired. */
  find(projectId: string, ticket: string): Claim | null {
    return this.#pages.get(projectId)?.active.get(ticket) ?? null;
  }

  /** The active claims of a project, oldest first. */
  of(projectId: string): readonly Claim[] {
    return [...this.#pages.get(projectId)?.active.values() ?? []];
  }

  /** Every active claim. */
  *all(): Generator<Claim> {
    for (const { active } of this.#pages.values()) yield* active.values();
  }

  /** The active claims of a holder in all projects, oldest first. */
  heldBy(key: string): readonly Claim[] {
    return [...this.#held.get(key)?.values() ?? []];
  }

  count(projectId: string): number {
    return this.#pages.get(projectId)?.active.size ?? 0;
  }

  strikes(projectId: string, ticket: string): number {
    return this.#pages.get(projectId)?.strikes.get(ticket) ?? 0;
  }

  /** The tickets of a project with at least `limit` strikes. */
  struck(projectId: string, limit: number): readonly string[] {
    const strikes = this.#pages.get(projectId)?.strikes ?? new Map<string, number>();
    return [...strikes].filter(([, count]) => count >= limit).map(([ticket]) => ticket);
  }

  /** Records a new or renewed claim. */
  put(claim: Claim): void {
    this.#page(claim.projectId).active.set(claim.ticket, claim);
    const { key } = claim.holder;
    const held = this.#held.get(key) ?? new Map<string, Claim>();
    this.#held.set(key, held.set(claim.id, claim));
  }

  /** Records that leases stand still since a time, or that they run again as of `now`. */
  freeze(claims: readonly Claim[], frozenAt: number | null, now: number): void {
    for (const { id, projectId, ticket } of claims) {
      const claim = this.find(projectId, ticket);
      if (claim?.id !== id) continue;
      const left = frozenAt === null && claim.frozenAt !== null ? now - claim.frozenAt : 0;
      this.put({ ...claim, frozenAt, expiresAt: claim.expiresAt + left });
    }
  }

  /** Records the end of a claim. */
  remove({ id, projectId, ticket, holder: { key } }: Claim): void {
    const active = this.#pages.get(projectId)?.active;
    if (active?.get(ticket)?.id === id) active.delete(ticket);
    const held = this.#held.get(key);
    held?.delete(id);
    if (held?.size === 0) this.#held.delete(key);
  }

  setStrikes(projectId: string, ticket: string, count: number): void {
    const { strikes } = this.#page(projectId);
    if (count > 0) strikes.set(ticket, count);
    else strikes.delete(ticket);
  }

  #page(projectId: string): Page {
    const page = this.#pages.get(projectId) ?? { active: new Map(), strikes: new Map() };
    this.#pages.set(projectId, page);
    return page;
  }
}

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
  /** Whether no work began, so that the end is no strike. */
  readonly isUndone?: boolean;
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

  /**
   * Passes an active claim on to another session of its holder, under the next generation.
   *
   * @param before the claim as it was
   */
  passing(
    project: Project,
    claim: Claim,
    before: Claim,
    when: { readonly origin: Origin; readonly time: number },
  ): Change {
    const { tables } = this.#database;
    const { id, generation, holder, expiresAt } = claim;
    const update = tables.updateTable("claims")
      .set({ generation, holder_name: holder.name, expires_at: expiresAt })
      .where("id", "=", id).where("generation", "=", before.generation)
      .where("ended_at", "is", null);
    const lease = tables.updateTable("ticket_leases").set({ generation })
      .where("project_id", "=", claim.projectId).where("ticket", "=", claim.ticket);
    const about = { status: "claimed", previous: before, by: null } as const;
    return {
      statements: [
        statement(update, { mustChange: true, committed: () => this.#book.put(claim) }),
        statement(lease),
      ],
      events: [this.#event(project, claim, about, when)],
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
    { outcome, now, submission, mustChange = false, isUndone = false }: ClaimEnd,
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
    const strikes = isUndone
      ? this.#book.strikes(claim.projectId, claim.ticket)
      : this.#strikesAfter(claim, outcome);
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
    const { ticket, ticketNumber, generation, workspace, holder } = claim;
    const isTaken = previous !== null && !isSameActor(previous.holder, holder);
    return projectEvent(project, "project.claim", {
      ticket,
      ticket_uuid: ticket,
      ticket_number: ticketNumber,
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

/** A claim and whether work was submitted under it. */
export interface PastClaim extends Claim {
  readonly isSubmitted: boolean;
}

/** A span of time in Unix milliseconds. */
export interface Span {
  readonly from: number;
  /** Does not belong to it; Infinity if it has no end, which PostgreSQL takes for no number. */
  readonly to: number;
}

function claimsOf({ tables }: Database, projectId: string, ticket: string) {
  return numberedClaims(tables).where("claims.project_id", "=", projectId)
    .where("claims.ticket", "=", ticket);
}

/** Claims with the numbers of their tickets. */
function numberedClaims(tables: Database["tables"]) {
  return tables.selectFrom("claims").leftJoin(
    "ticket_numbers",
    (join) =>
      join.onRef("ticket_numbers.project_id", "=", "claims.project_id")
        .onRef("ticket_numbers.ticket", "=", "claims.ticket"),
  ).selectAll("claims").select("ticket_numbers.number");
}

/** The newest claim of a ticket, active or not; null if there never was one. */
export async function newestClaim(
  database: Database,
  projectId: string,
  ticket: string,
): Promise<Claim | null> {
  const row = await claimsOf(database, projectId, ticket)
    .orderBy("generation", "desc").limit(1).executeTakeFirst();
  return row === undefined ? null : claimOf(row);
}

/** Whether a holder has ever had a ticket. */
export async function hasHeld(
  database: Database,
  { projectId, ticket, holder }: Pick<Claim, "projectId" | "ticket"> & { readonly holder: Holder },
): Promise<boolean> {
  const row = await claimsOf(database, projectId, ticket).where("holder_key", "=", holder.key)
    .limit(1).executeTakeFirst();
  return row !== undefined;
}

/** The claims of a ticket that began or ended in a span of time, the newest first. */
export async function pastClaims(
  database: Database,
  { projectId, ticket, limit }: Pick<Claim, "projectId" | "ticket"> & { readonly limit: number },
  { from, to }: Span,
): Promise<readonly PastClaim[]> {
  const begun = claimsOf(database, projectId, ticket);
  const rows = await (to === Infinity ? begun : begun.where("claimed_at", "<", to))
    .where((where) => where.or([where("claimed_at", ">=", from), where("ended_at", ">=", from)]))
    .orderBy("generation", "desc").limit(limit).execute();
  return rows.map((row) => ({ ...claimOf(row), isSubmitted: row.summary !== null }));
}
