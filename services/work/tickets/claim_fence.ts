import { Conflict } from "../../kernel/errors.ts";
import type { Project } from "../projects/mod.ts";
import type { ClaimLeases } from "./claim_leases.ts";
import type { FenceRequest } from "./claim_requests.ts";
import type { Claims } from "./claims.ts";
import { type Claim, isResult } from "./records.ts";
import { claimRefusal, refusalOf, requireGeneration } from "./refusals.ts";

/** Lets writes of the holders of claims pass, and refuses those of others. */
export class ClaimFence {
  readonly #claims: Pick<Claims, "active" | "newest">;
  readonly #leases: ClaimLeases;

  constructor(claims: Pick<Claims, "active" | "newest">, leases: ClaimLeases) {
    this.#claims = claims;
    this.#leases = leases;
  }

  /**
   * Lets the holder's write to a ticket or its workspace pass and renews the lease; refuses
   * everybody else's. If the write goes to the repository, call this inside `write`: then nobody
   * can end the claim before the write is settled. Submitted or merged work stays with its author
   * until somebody else claims the ticket.
   *
   * @throws Conflict if somebody else holds the ticket, the lease has expired, the holder is
   * revoked or the generation is not the current one; its details are `claimed_by`, `claimed_at`,
   * `generation` and `expires_at`
   */
  async fence(
    project: Pick<Project, "id">,
    { ticket, actor, generation }: FenceRequest,
  ): Promise<Claim> {
    const claim = await this.standing(project, { ticket, actor, generation });
    if (claim.outcome !== null) return claim;
    return await this.#leases.renew(claim) ??
      await this.#fenceOfPast(project, { ticket, actor, generation });
  }

  /**
   * The claim that {@link fence} would find, without renewing its lease.
   *
   * @throws Conflict like {@link fence}
   */
  async standing(
    project: Pick<Project, "id">,
    { ticket, actor, generation }: FenceRequest,
  ): Promise<Claim> {
    const claim = this.#claims.active(project, ticket);
    if (claim === null) return await this.#fenceOfPast(project, { ticket, actor, generation });
    if (claim.holder.key !== actor.key) {
      throw claimRefusal(`"${claim.holder.name}" holds the claim of this ticket`, claim);
    }
    requireGeneration(claim, generation);
    return claim;
  }

  /**
   * {@link fence} for writes that anybody may make, such as a comment. A write of the holder renews
   * the lease. Only a request that names a generation must come from the holder.
   *
   * @throws Conflict like {@link fence}, if a generation is given
   */
  async touch(project: Pick<Project, "id">, request: FenceRequest): Promise<void> {
    if (request.generation !== undefined) await this.fence(project, request);
    const claim = this.#claims.active(project, request.ticket);
    if (claim !== null && claim.holder.key === request.actor.key) await this.#leases.renew(claim);
  }

  async #fenceOfPast(
    project: Pick<Project, "id">,
    { ticket, actor, generation }: FenceRequest,
  ): Promise<Claim> {
    const claim = await this.#claims.newest(project, ticket);
    if (claim === null) throw new Conflict("Nobody holds this ticket: claim it first");
    if (this.#leases.isRevoked(actor)) throw refusalOf(claim, "revoked");
    if (claim.holder.key !== actor.key || !isResult(claim.outcome)) {
      throw refusalOf(claim, this.#leases.outcomeOf(claim));
    }
    requireGeneration(claim, generation);
    return claim;
  }
}
