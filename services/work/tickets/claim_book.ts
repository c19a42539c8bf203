import type { Database, Directory } from "../../engines/database/mod.ts";
import { type Claim, claimOf } from "./records.ts";

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
    const claims = await tables.selectFrom("claims").selectAll().where("ended_at", "is", null)
      .execute();
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
