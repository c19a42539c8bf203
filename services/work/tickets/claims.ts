import { type Change, Duplicate, type Statement, Unchanged } from "../../engines/database/mod.ts";
import { Conflict, Forbidden, NotFound } from "../../kernel/errors.ts";
import { type Origin, SYSTEM } from "../../engines/events/mod.ts";
import type { TicketListOptions, TicketRef } from "../../engines/fossil/mod.ts";
import { slotFull, type Slots } from "../../people/agents/mod.ts";
import { type Caller, originOf, type Principal } from "../../people/identity/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";
import {
  accessOf,
  isSameActor,
  type Project,
  projectEvent,
  type Projects,
  type ReadsAnywhere,
  type Reception,
} from "../projects/mod.ts";
import { newUlid } from "../../kernel/ulid.ts";
import {
  ClaimBook,
  type ClaimEnd,
  ClaimStatements,
  hasHeld,
  newestClaim,
  type PastClaim,
  pastClaims,
  type Span,
} from "./claim_book.ts";
import { ClaimExpiry, ClaimLeases } from "./claim_leases.ts";
import type { Numbered } from "./numbers.ts";
import {
  blockedRefusal,
  type Claim,
  type ClaimOutcome,
  claimRefusal,
  type ClaimRequest,
  type ClaimsOptions,
  type FenceRequest,
  type Holder,
  isoOf,
  isResult,
  NOT_CLAIMED,
  refusalOf,
  requireGeneration,
  requireNotDone,
} from "./records.ts";

interface ClaimQuotaOptions {
  readonly book: Pick<ClaimBook, "heldBy">;
  readonly projects: Pick<Projects, "get">;
  readonly slots: Pick<Slots, "limitOf">;
  isLive(claim: Claim): boolean;
}

/** Bounds the active claims of one holder, in all projects together. */
class ClaimQuota {
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

/** Which of the tickets that somebody can claim a list has. */
export interface FreeTickets
  extends Pick<TicketListOptions, "limit" | "offset" | "status" | "assignee" | "label"> {
  readonly for: string;
}

/** Most active claims of a project. */
const MAX_CLAIMS = 20_000;

/** Free tickets that a refused claim lists. */
const NEXT_TICKETS = 5;

/** Attempts at a claim while other claims of the ticket come and go. */
const MAX_TRIES = 10;

/**
 * Claims: leases on tickets with a fence. The unique index on active claims decides every race.
 * Claims end only while nothing is written to the project's repository, so what {@link fence} finds
 * inside `write` holds until that write is settled.
 */
export class Claims {
  readonly book: ClaimBook;
  readonly statements: ClaimStatements;
  readonly #options: ClaimsOptions;
  readonly #leases: ClaimLeases;
  readonly #expiry: ClaimExpiry;
  readonly #quota: ClaimQuota;

  private constructor(options: ClaimsOptions) {
    this.#options = options;
    this.book = new ClaimBook(options.database);
    this.statements = new ClaimStatements(options.database, this.book);
    this.#leases = new ClaimLeases({ ...options, statements: this.statements });
    this.#quota = new ClaimQuota({
      book: this.book,
      projects: options.projects,
      slots: options.slots,
      isLive: (claim) => this.#leases.isLive(claim),
    });
    this.#expiry = new ClaimExpiry({
      book: this.book,
      scheduler: options.scheduler,
      log: options.log,
      isRevoked: (holder) => this.#leases.isRevoked(holder),
      isHere: ({ projectId: id }) => options.repositories.homes.isHere({ id }),
      end: (claim, outcome) => this.#endUnattended(claim, outcome),
    });
  }

  /** Reads the active claims. */
  static async open(options: ClaimsOptions): Promise<Claims> {
    const claims = new Claims(options);
    await options.database.keepCurrent(claims.book);
    options.repositories.homes.onChanged(() => claims.#expiry.again());
    options.repositories.onReceived((reception) => claims.#endClosed(reception));
    options.repositories.onReceived((reception) => claims.#renewPushed(reception));
    options.accounts.onChanged((id, account) => {
      if (account === null || account.revokedAt !== null) claims.#expiry.endAllOf(id);
    });
    return claims;
  }

  /**
   * The statements that stop the leases of halted agents, and let those of the others run again.
   *
   * @param isHalted whether the account with this internal id is a halted agent's
   * @param now Unix milliseconds
   */
  freezing(isHalted: (id: string) => boolean, now: number): readonly Statement[] {
    const halting: Claim[] = [];
    const resuming: Claim[] = [];
    for (const claim of this.book.all()) {
      const halted = isHalted(claim.holder.key);
      if (halted && claim.frozenAt === null && this.#leases.isLive(claim)) halting.push(claim);
      if (!halted && claim.frozenAt !== null) resuming.push(claim);
    }
    return [
      ...this.statements.freezing(halting, true, now),
      ...this.statements.freezing(resuming, false, now),
    ];
  }

  /** Looks again when leases end, after some of them began to run again. */
  thawed(): void {
    this.#expiry.again();
  }

  /** Begins to end expired claims. Settle the intentions of an earlier process before. */
  start(): void {
    this.#expiry.start();
  }

  close(): Promise<void> {
    return this.#expiry.close();
  }

  /** The claim that holds a ticket now, or null. */
  active(project: Pick<Project, "id">, ticket: string): Claim | null {
    const claim = this.book.find(project.id, ticket);
    return claim !== null && this.#leases.isLive(claim) ? claim : null;
  }

  /** The claims of a project that hold now, oldest first; only those of `holder`, if given. */
  list(project: Pick<Project, "id">, holder?: string): readonly Claim[] {
    const name = holder === undefined ? null : foldCase(holder.trim());
    return this.book.of(project.id).filter((claim) =>
      this.#leases.isLive(claim) && (name === null || foldCase(claim.holder.name) === name)
    );
  }

  /** The claims of an account that hold now, in all projects, oldest first. */
  heldBy(accountId: string): readonly Claim[] {
    return this.book.heldBy(accountId).filter((claim) => this.#leases.isLive(claim));
  }

  /**
   * The claims of an agent that hold now, in the projects that a reader may read, oldest first.
   *
   * @param nick compared without regard to case
   * @throws NotFound if there is no such agent, or it is revoked
   */
  ofAgent(
    nick: string,
    reader: Principal,
  ): readonly { readonly slug: string; readonly claim: Claim }[] {
    const { accounts, projects } = this.#options;
    const account = accounts.find(nick);
    if (account?.kind !== "agent" || account.revokedAt !== null) {
      throw new NotFound(`There is no agent "${nick}", or it is revoked`);
    }
    return this.heldBy(account.id).flatMap((claim) => {
      const held = projects.get(claim.projectId);
      const isReadable = held !== null && accessOf(held, reader).may("read");
      return isReadable ? [{ slug: held.project.slug, claim }] : [];
    });
  }

  /** The claims of all projects that hold now. */
  *all(): Generator<Claim> {
    for (const claim of this.book.all()) if (this.#leases.isLive(claim)) yield claim;
  }

  /** Tickets that wait for a person, because too many of their claims ended without a result. */
  struck(project: Pick<Project, "id">): readonly string[] {
    const { strikes: limit } = this.#options.projects.settingsOf(project.id);
    const ending = this.book.of(project.id).filter((claim) => !this.#leases.isLive(claim))
      .map(({ ticket }) => ticket).filter((ticket) => this.strikes(project, ticket) >= limit);
    return [...new Set([...this.book.struck(project.id, limit), ...ending])];
  }

  /** How many claims of a ticket ended without a result, including one that is just ending. */
  strikes({ id }: Pick<Project, "id">, ticket: string): number {
    const claim = this.book.find(id, ticket);
    const isEnding = claim !== null && !this.#leases.isLive(claim);
    return this.book.strikes(id, ticket) + (isEnding ? 1 : 0);
  }

  /**
   * A page of the tickets that somebody can claim: nobody holds them, they wait neither for a person
   * nor for an open ticket, and are not assigned to somebody else.
   *
   * @param free.for the name of who could claim them
   */
  unclaimed(
    project: Project,
    free: FreeTickets,
    reads: Pick<ReadsAnywhere, "read"> = this.#options.repositories,
  ): Promise<{ readonly tickets: readonly TicketRef[]; readonly total: number }> {
    const without = [...this.list(project).map(({ ticket }) => ticket), ...this.struck(project)];
    return reads.read(
      project,
      (repository) => repository.tickets({ ...free, without, isBlocked: false }),
    );
  }

  /**
   * Claims a ticket, or renews the actor's claim.
   *
   * @throws Conflict if somebody else holds it, it is blocked, or the generation is not the current one
   * @throws TooMany if the actor holds too many claims
   */
  async claim(
    project: Project,
    ticket: Numbered,
    request: ClaimRequest & { readonly workspace?: string | undefined },
  ): Promise<{ readonly claim: Claim; readonly isNew: boolean }> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const held = this.book.find(project.id, ticket.uuid);
      if (held !== null && !this.#leases.isLive(held)) {
        await this.#endUnattended(held, this.#leases.unattended(held));
        continue;
      }
      if (held !== null && this.isLeftTo(held.holder, request.actor)) {
        const passed = await this.#pass(project, held, request);
        if (passed !== null) return { claim: passed, isNew: true };
        continue;
      }
      if (held !== null && !isSameActor(held.holder, request.actor)) {
        const next = await this.#next(project, request.actor);
        throw claimRefusal("Ticket already claimed", held, next);
      }
      const done = held === null
        ? await this.#begin(project, ticket, request)
        : await this.#repeat(held, request.generation);
      if (done !== null) return { claim: done, isNew: held === null };
    }
    throw new Conflict("The ticket's claim keeps changing: try again");
  }

  /**
   * Ends a claim before its work is done.
   *
   * @param isAdmin whether the actor may end other holders' claims
   * @param isUndone whether no work began, so that the end is no strike
   * @throws NotFound if nobody holds the ticket; Forbidden, Conflict
   */
  release(
    project: Project,
    ticket: string,
    { caller, actor, generation, isAdmin, isUndone = false }: ClaimRequest & {
      readonly isAdmin: boolean;
      readonly isUndone?: boolean;
    },
  ): Promise<Claim> {
    return this.#options.repositories.exclusively(project, caller, async () => {
      const claim = this.active(project, ticket);
      if (claim === null) throw new NotFound(NOT_CLAIMED);
      const isOwn = isSameActor(claim.holder, actor) || this.isLeftTo(claim.holder, actor);
      if (!isOwn && !isAdmin) {
        throw new Forbidden("Only the claiming agent can release this ticket");
      }
      requireGeneration(claim, generation);
      const end: ClaimEnd = {
        outcome: isOwn ? "released" : "broken",
        now: this.#options.scheduler.now(),
        origin: originOf(caller),
        mustChange: true,
        isUndone,
        ...(isOwn ? {} : { by: actor.name }),
      };
      await this.#options.database.commit(this.statements.end(project, claim, end));
      return { ...claim, outcome: end.outcome, endedAt: end.now };
    });
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
    const claim = this.active(project, ticket);
    if (claim === null) return await this.#fenceOfPast(project, { ticket, actor, generation });
    if (!isSameActor(claim.holder, actor)) throw this.#held(claim, actor);
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
    const claim = this.active(project, request.ticket);
    if (claim !== null && isSameActor(claim.holder, request.actor)) await this.#leases.renew(claim);
  }

  /**
   * {@link fence} for writes that give work up, such as abandoning a workspace. An agent may tidy up
   * after it has released or ended its claim, but not once its lease has run out: its work waits for
   * the ticket's next holder.
   *
   * @throws Conflict like {@link fence}
   */
  async fenceGivingUp(
    project: Pick<Project, "id">,
    { ticket, actor, generation }: FenceRequest,
  ): Promise<void> {
    if (this.active(project, ticket) !== null) {
      await this.fence(project, { ticket, actor, generation });
      return;
    }
    const past = await this.newest(project, ticket);
    if (past === null) return;
    const outcome = past.outcome ?? "lapsed";
    if (past.holder.key !== actor.key) {
      if (generation !== undefined) throw refusalOf(past, outcome);
      return;
    }
    requireGeneration(past, generation);
    if (outcome === "lapsed" || outcome === "revoked") throw refusalOf(past, outcome);
  }

  /** The change that renews the leases of holders who did something. */
  renewing(
    project: Pick<Project, "id">,
    acts: readonly { readonly ticket: string; readonly holder: Pick<Holder, "key"> }[],
  ): Change {
    const held = acts.flatMap(({ ticket, holder: { key } }) => {
      const claim = this.active(project, ticket);
      return claim?.holder.key === key ? [claim] : [];
    });
    return this.#leases.renewals(held);
  }

  /**
   * The change for a merge of a ticket's work: the claim ends as merged, with its event. It depends
   * on the database alone, so `settle` of an intention can return it.
   *
   * @param owner the author of the merged work; if given, nobody else's claim ends
   */
  async merged(
    project: Project,
    { ticket, owner, origin, now }: {
      readonly ticket: string;
      readonly owner?: Holder | undefined;
      readonly origin: Origin;
      readonly now: number;
    },
  ): Promise<Change> {
    const claim = await this.newest(project, ticket);
    if (claim === null || (owner !== undefined && claim.holder.key !== owner.key)) return {};
    if (claim.outcome !== null && claim.outcome !== "submitted") return {};
    return this.statements.end(project, claim, { outcome: "merged", now, origin });
  }

  /** The newest claim of a ticket, active or not; null if there never was one. */
  async newest({ id }: Pick<Project, "id">, ticket: string): Promise<Claim | null> {
    return await newestClaim(this.#options.database, id, ticket);
  }

  /** Whether a holder has ever had the ticket. */
  async hasHeld(
    { id: projectId }: Pick<Project, "id">,
    ticket: string,
    holder: Holder,
  ): Promise<boolean> {
    return await hasHeld(this.#options.database, { projectId, ticket, holder });
  }

  /** The claims of a ticket that began or ended in a span of time, the newest first. */
  async past(
    { id: projectId }: Pick<Project, "id">,
    { ticket, limit }: { readonly ticket: string; readonly limit: number },
    span: Span,
  ): Promise<readonly PastClaim[]> {
    return await pastClaims(this.#options.database, { projectId, ticket, limit }, span);
  }

  /** Resets a ticket's strikes, so that it no longer waits for a person. */
  async forgetStrikes(project: Project, ticket: string, caller: Caller): Promise<void> {
    const strikes = this.book.strikes(project.id, ticket);
    if (strikes === 0) return;
    const { database, scheduler } = this.#options;
    const when = { origin: originOf(caller), time: scheduler.now() };
    await database.commit({
      statements: [this.statements.strikes(project.id, ticket, 0)],
      events: [projectEvent(project, "project.strikes_forgotten", { ticket, strikes }, when)],
    });
  }

  /**
   * Whether what a holder has is left to an actor: both are sessions of one agent, and that of the
   * holder has ended.
   */
  isLeftTo(holder: Holder, actor: Holder): boolean {
    return holder.key === actor.key && !isSameActor(holder, actor) &&
      this.#options.agentSessions.isLeft(holder.key, holder.name);
  }

  /** How a claim that no longer holds has ended, or is about to end. */
  outcomeOf(claim: Claim): ClaimOutcome {
    return this.#leases.outcomeOf(claim);
  }

  async #begin(
    project: Project,
    ticket: Numbered,
    { caller, actor, workspace }: ClaimRequest & { readonly workspace?: string | undefined },
  ): Promise<Claim | null> {
    if (this.book.count(project.id) >= MAX_CLAIMS) {
      throw new Conflict(`The project has ${MAX_CLAIMS} claims, which is the limit`);
    }
    const previous = await this.newest(project, ticket.uuid);
    requireNotDone(ticket, previous, actor);
    if (ticket.is_blocked) throw blockedRefusal(ticket, await this.#next(project, actor));
    const now = this.#options.scheduler.now();
    const claim: Claim = {
      id: newUlid(now),
      projectId: project.id,
      ticket: ticket.uuid,
      ticketNumber: ticket.number,
      generation: (previous?.generation ?? 0) + 1,
      holder: { key: actor.key, name: actor.name },
      workspace: workspace ?? null,
      claimedAt: now,
      expiresAt: this.#leases.expiryFrom(project.id, now),
      frozenAt: null,
      endedAt: null,
      outcome: null,
    };
    try {
      const beginning = this.statements.beginning(project, claim, previous, originOf(caller));
      await this.#quota.take(claim, () => this.#options.database.commit(beginning));
    } catch (error) {
      if (error instanceof Duplicate) return null;
      throw error;
    }
    this.#expiry.expect(claim.expiresAt);
    return claim;
  }

  /** Refuses an actor who does not hold the claim. */
  #held(claim: Claim, actor: Holder): Conflict {
    const { name } = claim.holder;
    if (!this.isLeftTo(claim.holder, actor)) {
      return claimRefusal(`"${name}" holds the claim of this ticket`, claim);
    }
    return claimRefusal(
      `The session "${name}" has ended and left this ticket: claim it first`,
      claim,
    );
  }

  /** Gives a claim that an ended session has left to another session of the agent. */
  #pass(
    project: Project,
    held: Claim,
    { caller, actor, generation }: ClaimRequest,
  ): Promise<Claim | null> {
    requireGeneration(held, generation);
    const now = this.#options.scheduler.now();
    const passed: Claim = {
      ...held,
      generation: held.generation + 1,
      holder: { key: actor.key, name: actor.name },
      expiresAt: this.#leases.expiryFrom(project.id, now),
    };
    // The work of the earlier session may be on its way to the repository.
    return this.#options.repositories.exclusively(project, caller, async () => {
      const when = { origin: originOf(caller), time: now };
      try {
        await this.#options.database.commit(this.statements.passing(project, passed, held, when));
      } catch (error) {
        if (error instanceof Unchanged) return null;
        throw error;
      }
      return passed;
    });
  }

  async #repeat(claim: Claim, generation: number | undefined): Promise<Claim | null> {
    requireGeneration(claim, generation);
    return await this.#leases.renew(claim, { always: true });
  }

  async #next(project: Project, { name }: Holder): Promise<readonly string[]> {
    // Tickets are assigned to agents, and not to their sessions.
    const me = this.#options.accounts.find(name)?.name ?? name;
    const page = { for: me, status: "Open", limit: NEXT_TICKETS };
    return (await this.unclaimed(project, page)).tickets.map(({ uuid }) => uuid);
  }

  /** Ends a claim that holds no more, unless it was renewed or ended meanwhile. */
  async #endUnattended(claim: Claim, outcome: "lapsed" | "revoked"): Promise<void> {
    const { projects, repositories, database, scheduler } = this.#options;
    const held = projects.get(claim.projectId);
    const end: ClaimEnd = { outcome, now: scheduler.now(), origin: SYSTEM, mustChange: true };
    if (held !== null) await repositories.catchUp(held.project);
    await repositories.exclusively({ id: claim.projectId }, null, async () => {
      const current = this.book.find(claim.projectId, claim.ticket);
      if (current?.id !== claim.id || this.#leases.isLive(current)) return;
      await database.commit(
        held === null
          ? { statements: this.statements.endWithoutEvent(current, end) }
          : this.statements.end(held.project, current, end),
      );
    });
  }

  async #fenceOfPast(
    project: Pick<Project, "id">,
    { ticket, actor, generation }: FenceRequest,
  ): Promise<Claim> {
    const claim = await this.newest(project, ticket);
    if (claim === null) throw new Conflict("Nobody holds this ticket: claim it first");
    if (this.#leases.isRevoked(actor)) throw refusalOf(claim, "revoked");
    if (claim.holder.key !== actor.key || !isResult(claim.outcome)) {
      throw refusalOf(claim, this.#leases.outcomeOf(claim));
    }
    requireGeneration(claim, generation);
    return claim;
  }

  /**
   * Ends the claims of tickets that any program has closed. The work is done, so this is no strike. A
   * claim that the same step ends in another way, such as by a merge, is left alone.
   */
  #endClosed({ project, artifacts, settled, originOf, now }: Reception): Change {
    const ended = endedIn(settled);
    const changes: Change[] = [];
    for (const artifact of artifacts) {
      if (artifact.kind !== "ticket" || !artifact.is_closed || ended.has(artifact.ticket)) continue;
      const claim = this.book.find(project.id, artifact.ticket);
      if (claim === null) continue;
      ended.add(artifact.ticket);
      const origin = originOf(artifact);
      const by = artifact.user === claim.holder.name ? {} : { by: artifact.user };
      changes.push(this.statements.end(project, claim, { outcome: "closed", now, origin, ...by }));
    }
    return {
      statements: changes.flatMap((change) => change.statements ?? []),
      events: changes.flatMap((change) => change.events ?? []),
    };
  }

  /**
   * Renews the leases of holders who pushed a change of their ticket, as a change through the API
   * does. Who wrote to the file without a push is not known.
   */
  #renewPushed({ project, artifacts, originOf, isOwn, settled }: Reception): Change {
    const ended = endedIn(settled);
    const acts = artifacts.flatMap((artifact) => {
      if (artifact.kind !== "ticket" || isOwn(artifact) || ended.has(artifact.ticket)) return [];
      const { actorId } = originOf(artifact);
      return actorId === null ? [] : [{ ticket: artifact.ticket, holder: { key: actorId } }];
    });
    return this.renewing(project, acts);
  }
}

/** The tickets whose claims a step ends by itself. */
function endedIn(settled: Reception["settled"]): Set<unknown> {
  return new Set(
    settled.filter(({ type }) => type === "project.claim").map(({ data }) => data["ticket"]),
  );
}
