import { slotFull, type Slots } from "../../people/agents/mod.ts";
import type { Projects } from "../projects/mod.ts";
import type { ClaimBook } from "./claim_book.ts";
import { type Claim, isoOf } from "./records.ts";

export interface ClaimQuotaOptions {
  readonly book: Pick<ClaimBook, "heldBy">;
  readonly projects: Pick<Projects, "get">;
  readonly slots: Pick<Slots, "limitOf">;
  isLive(claim: Claim): boolean;
}

/** Bounds the active claims of one holder, in all projects together. */
export class ClaimQuota {
  readonly #options: ClaimQuotaOptions;
  /** Tickets whose claims are being written, with the number of the requests, by holder. */
  readonly #coming = new Map<string, Map<string, number>>();

  constructor(options: ClaimQuotaOptions) {
    this.#options = options;
  }

  /**
   * Runs a task that writes a new claim. Concurrent claims of the holder count as well, those of one
   * ticket once.
   *
   * @throws TooMany with the holder's claims, if it has no room for one more; else what the task
   * throws
   */
  async take<T>(claim: Claim, task: () => Promise<T>): Promise<T> {
    const { key } = claim.holder;
    const ticket = ticketOf(claim);
    const coming = this.#coming.get(key) ?? new Map<string, number>();
    const requests = coming.get(ticket) ?? 0;
    if (requests === 0) this.#require(key, coming);
    this.#coming.set(key, coming.set(ticket, requests + 1));
    try {
      return await task();
    } finally {
      const left = (coming.get(ticket) ?? 1) - 1;
      if (left > 0) coming.set(ticket, left);
      else coming.delete(ticket);
      if (coming.size === 0) this.#coming.delete(key);
    }
  }

  #require(key: string, coming: ReadonlyMap<string, number>): void {
    const { book, projects, slots, isLive } = this.#options;
    const perAgent = slots.limitOf("claims", key);
    const known = book.heldBy(key);
    if (known.length + coming.size < perAgent) return;
    const held = known.flatMap((claim) => {
      const project = projects.get(claim.projectId)?.project;
      return project === undefined || !isLive(claim) ? [] : [{ project, claim }];
    });
    const written = held.filter(({ claim }) => coming.has(ticketOf(claim))).length;
    if (held.length + coming.size - written < perAgent) return;
    const filling = held.map(({ project, claim }) =>
      `${project.slug}/${claim.ticket.slice(0, 10)}`
    );
    const advice = "submit or release some";
    throw slotFull({ slot: "claims", limit: perAgent, filling, advice }, {
      claims: held.map(({ project: { slug }, claim: { ticket, expiresAt } }) => ({
        project: slug,
        ticket,
        expires_at: isoOf(expiresAt),
      })),
    });
  }
}

function ticketOf({ projectId, ticket }: Claim): string {
  return `${projectId} ${ticket}`;
}
