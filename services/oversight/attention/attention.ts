import type { Agents, DoingOf } from "../../people/agents/mod.ts";
import type { Checks } from "../../work/checks/mod.ts";
import type { Database } from "../../engines/database/mod.ts";
import type { EventLog, LoggedEvent } from "../../engines/events/mod.ts";
import { noticeOf } from "../../work/feeds/mod.ts";
import type { Principal } from "../../people/identity/mod.ts";
import {
  accessOf,
  type ProjectAccess,
  type Projects,
  type ReadsAnywhere,
} from "../../work/projects/mod.ts";
import type { Questions } from "../questions/mod.ts";
import type { Landing, Review, ReviewServices } from "../../work/reviews/mod.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import type { Claim, Claims } from "../../work/tickets/mod.ts";
import type { Workspaces } from "../../work/workspaces/mod.ts";
import {
  activityOf,
  type AgentAtWork,
  type AgentBoard,
  atWork,
  type BoardSources,
  makeBoard,
} from "./agent_board.ts";
import { BranchTips, isForPeople, RecentEvents, TicketTitles } from "./memory.ts";

/** Most entries of each list of what waits. */
const MAX_WAITING = 25;

/** Rows read for a list from which the visitor's are picked. */
const MAX_READ = 200;

/** An agent that holds a claim is silent when it was not seen for so long, in milliseconds. */
const SILENCE = 15 * 60_000;

/** A commit to a workspace counts as work for so long, in milliseconds. */
const COMMITTED = 3_600_000;

/** For so long, other nodes may have written without being noticed here, in milliseconds. */
const REMEMBERED = 1000;

/** Conflicts and failed checks of this time are shown, in milliseconds. */
const RECENTLY = 7 * 86_400_000;

export interface AttentionOptions extends Pick<ReviewServices, "reviews" | "landing"> {
  readonly agents: Agents;
  readonly claims: Claims;
  readonly checks: Pick<Checks, "failed">;
  readonly workspaces: Pick<Workspaces, "activeOf" | "recentOwners">;
  /** The accounts that wait for a language model. */
  readonly callers: () => Iterable<string>;
  readonly projects: Projects;
  readonly reads: Pick<ReadsAnywhere, "read">;
  readonly questions: Pick<Questions, "askers">;
  readonly eventLog: EventLog;
  readonly database: Pick<Database, "settled">;
  readonly scheduler: Pick<Scheduler, "now">;
}

/** The rights of one visitor in projects, each computed once. */
type Rights = (projectId: string) => ProjectAccess | null;

/** What the app database says about the states of agents. */
interface StoredSources extends Pick<BoardSources, "claims" | "waiting"> {
  /** Accounts that committed to a workspace lately. */
  readonly owners: ReadonlySet<string>;
}

/** Finds what waits for a person, what agents do, and what happened. */
export class Attention {
  readonly #options: AttentionOptions;
  readonly #titles: TicketTitles;
  readonly #tips: BranchTips;
  readonly #recent: RecentEvents;
  /** What was read last: lists of agents are asked for far more often than it changes. */
  #stored: {
    readonly settled: number;
    readonly at: number;
    readonly sources: Promise<StoredSources>;
  } | null = null;

  constructor(options: AttentionOptions) {
    this.#options = options;
    this.#titles = new TicketTitles(options.reads);
    this.#tips = new BranchTips(options.reads);
    const held = [this.#titles, this.#tips];
    this.#recent = new RecentEvents(options.eventLog, {
      event: (event) => held.forEach((one) => one.take(event)),
      gap: () => held.forEach((one) => one.clear()),
    });
  }

  /** What waits for a visitor; for an admin, everything that waits for a person. */
  async waiting(principal: Principal): Promise<Waiting> {
    await this.#recent.ready();
    const rights = this.#rightsOf(principal);
    const [reviews, conflicts, struck, silent] = await Promise.all([
      this.#reviews(principal, rights),
      this.#conflicts(principal, rights),
      this.#struck(principal, rights),
      this.#silent(principal, rights),
    ]);
    return { reviews, conflicts, struck, silent };
  }

  /** All active agents by state. */
  async agents(): Promise<AgentBoard> {
    const sources = await this.#sources();
    return makeBoard(this.#options.agents.presences(), sources);
  }

  /** What an active agent does; null if there is none of this account. */
  async agent(accountId: string): Promise<AgentAtWork | null> {
    const sources = await this.#sources();
    const presence = this.#options.agents.presence(accountId);
    return presence === null ? null : atWork(presence, sources);
  }

  /** Decides what each active agent does. */
  async states(): Promise<DoingOf> {
    const sources = await this.#sources();
    return (presence) => activityOf(presence, sources);
  }

  async #sources(): Promise<BoardSources> {
    const { callers, database, scheduler } = this.#options;
    const now = scheduler.now();
    const { settled } = database;
    let stored = this.#stored;
    if (stored?.settled !== settled || Math.abs(now - stored.at) >= REMEMBERED) {
      stored = this.#stored = { settled, at: now, sources: this.#storedSources(now) };
      stored.sources.catch(() => this.#stored = null);
    }
    const { claims, waiting, owners } = await stored.sources;
    return { claims, waiting, busy: owners.union(new Set(callers())), now };
  }

  async #storedSources(now: number): Promise<StoredSources> {
    const { claims, workspaces } = this.#options;
    const [waiting, owners] = await Promise.all([
      this.#askers(),
      workspaces.recentOwners(now - COMMITTED),
    ]);
    return { claims: Map.groupBy(claims.all(), ({ holder }) => holder.key), waiting, owners };
  }

  /** The accounts that wait for somebody's answer or verdict. */
  async #askers(): Promise<ReadonlySet<string>> {
    const { questions, reviews } = this.#options;
    return questions.askers().union(await reviews.store.pendingAuthors());
  }

  /** The tickets of claims in projects that the visitor may read, by the claim's id. */
  async ticketsOf(
    claims: readonly Claim[],
    principal: Principal,
  ): Promise<ReadonlyMap<string, HeldTicket>> {
    await this.#recent.ready();
    const held = await this.#held(claims, this.#rightsOf(principal));
    return new Map(held.map(({ claim, ticket }) => [claim.id, ticket]));
  }

  /** The last events that a visitor may know of, newest first. */
  async happened(principal: Principal, limit: number): Promise<readonly LoggedEvent[]> {
    await this.#recent.ready();
    const rights = this.#rightsOf(principal);
    return this.#recent.newest(
      limit,
      (event) => isForPeople(event) && mayKnow(principal, rights, event),
    );
  }

  /** The titles of the tickets of events that name only the ticket's id, by that id. */
  async titlesOf(events: readonly LoggedEvent[]): Promise<ReadonlyMap<string, string>> {
    const keys = events.flatMap(({ data }) => {
      const { project_id, ticket, title } = data;
      if (typeof ticket !== "string" || title !== undefined) return [];
      const held = this.#options.projects.get(String(project_id));
      return held === null ? [] : [{ project: held.project, ticket }];
    });
    const titles = await this.#titles.of(keys);
    return new Map(keys.map(({ ticket }, index) => [ticket, titles[index] ?? ticket]));
  }

  /** The last event that an account caused and a visitor may know of, or null. */
  lastOf(accountId: string, principal: Principal): LoggedEvent | null {
    const event = this.#recent.lastOf(accountId);
    const rights = this.#rightsOf(principal);
    if (event === null || mayKnow(principal, rights, event)) return event;
    const [known = null] = this.#recent.newest(
      1,
      (other) => other.actor_id === accountId && mayKnow(principal, rights, other),
    );
    return known;
  }

  /** What an account caused lately, as far as a visitor may know of it, newest first. */
  async happenedBy(
    accountId: string,
    principal: Principal,
    limit: number,
  ): Promise<readonly LoggedEvent[]> {
    await this.#recent.ready();
    const rights = this.#rightsOf(principal);
    return this.#recent.newest(
      limit,
      (event) => event.actor_id === accountId && mayKnow(principal, rights, event),
    );
  }

  /** The work of an agent, as far as a visitor may know of it. */
  async workOf(accountId: string, principal: Principal): Promise<AgentWorkload> {
    const rights = this.#rightsOf(principal);
    const readable = <Item extends { readonly projectId: string }>(items: readonly Item[]) =>
      items.flatMap((item) => {
        const access = rights(item.projectId);
        return access === null ? [] : [{ slug: access.project.slug, item }];
      });
    const { claims, workspaces, reviews } = await workloadOf(this.#options, accountId, MAX_READ);
    const held = await this.#held(claims, rights);
    return {
      claims: held.map(({ ticket }) => ticket),
      workspaces: readable(workspaces).map(({ slug, item: { name, ticket, updatedAt } }) => (
        { slug, name, ticket, updatedAt }
      )),
      reviews: readable(reviews).map(({ slug, item: review }) => ({ slug, review })),
    };
  }

  /** The open landings of the projects that a visitor may read, oldest first. */
  async landings(
    principal: Principal,
  ): Promise<readonly { readonly slug: string; readonly landing: Landing }[]> {
    const rights = this.#rightsOf(principal);
    const landings = await this.#options.landing.store.openOfAll(MAX_READ);
    return landings.flatMap((landing) => {
      const access = rights(landing.projectId);
      return access === null ? [] : [{ slug: access.project.slug, landing }];
    });
  }

  /**
   * Checks that failed lately in projects that a visitor may read, newest first: those of the newest
   * check-in of an open branch, because a newer check-in has checks of its own.
   */
  async failedChecks(principal: Principal): Promise<readonly FailedCheck[]> {
    await this.#recent.ready();
    const rights = this.#rightsOf(principal);
    const { checks, scheduler } = this.#options;
    const failed = await checks.failed(scheduler.now() - RECENTLY, MAX_READ);
    const readable = failed.flatMap((check) => {
      const access = rights(check.projectId);
      return access === null ? [] : [{ check, project: access.project }];
    });
    const projects = new Map(readable.map(({ project }) => [project.id, project]));
    const tips = new Map(
      await Promise.all(
        Array.from(projects, async ([id, project]) => [id, await this.#tips.of(project)] as const),
      ),
    );
    return readable.filter(({ check, project }) => tips.get(project.id)?.has(check.checkin) ?? true)
      .slice(0, MAX_WAITING).map(({ check, project: { slug } }) => {
        const { checkin, context, description, reporter, updatedAt } = check;
        return { slug, checkin, context, description, reporter, updatedAt };
      });
  }

  close(): void {
    this.#recent.close();
  }

  async #reviews(principal: Principal, rights: Rights): Promise<readonly PendingReview[]> {
    const { store } = this.#options.reviews;
    const { id } = principal;
    const [asked, unasked] = await Promise.all([
      id === null ? [] : store.waitingFor(id, MAX_READ),
      store.waitingForAnybody(MAX_READ),
    ]);
    const found: PendingReview[] = [];
    for (const review of asked) {
      const access = rights(review.projectId);
      if (access !== null) found.push({ slug: access.project.slug, review, isAsked: true });
    }
    for (const review of unasked) {
      const access = rights(review.projectId);
      if (access === null || review.author.key === id || !isConcerned(principal, access)) continue;
      found.push({ slug: access.project.slug, review, isAsked: false });
    }
    return found.slice(0, MAX_WAITING);
  }

  async #conflicts(principal: Principal, rights: Rights): Promise<Waiting["conflicts"]> {
    const { landing: { store }, scheduler } = this.#options;
    const landings = await store.conflicts(scheduler.now() - RECENTLY, MAX_READ);
    return landings.flatMap((landing) => {
      const access = rights(landing.projectId);
      if (access === null || !isConcerned(principal, access)) return [];
      return [{ slug: access.project.slug, landing }];
    }).slice(0, MAX_WAITING);
  }

  async #struck(principal: Principal, rights: Rights): Promise<readonly StruckTicket[]> {
    const { claims, projects } = this.#options;
    const found: Omit<StruckTicket, "title">[] = [];
    const keys = [];
    for (const { project } of projects.all()) {
      if (found.length >= MAX_WAITING) break;
      const tickets = project.archivedAt === null ? claims.struck(project) : [];
      const access = tickets.length === 0 ? null : rights(project.id);
      if (access === null || !isConcerned(principal, access)) continue;
      for (const ticket of tickets) {
        const strikes = claims.strikes(project, ticket);
        found.push({ slug: project.slug, ticket, strikes, mayChange: access.may("write") });
        keys.push({ project, ticket });
      }
    }
    const titles = await this.#titles.of(keys.slice(0, MAX_WAITING));
    return found.slice(0, MAX_WAITING).map((ticket, index) =>
      Object.assign(ticket, { title: titles[index] ?? ticket.ticket })
    );
  }

  async #silent(principal: Principal, rights: Rights): Promise<readonly HeldTicket[]> {
    const { claims, agents, scheduler } = this.#options;
    const before = scheduler.now() - SILENCE;
    const isSilent = (accountId: string) => {
      const presence = agents.presence(accountId);
      return presence !== null && !presence.online && (presence.lastSeen ?? 0) < before;
    };
    const found: Claim[] = [];
    for (const claim of claims.all()) {
      if (claim.claimedAt >= before || !isSilent(claim.holder.key)) continue;
      const access = rights(claim.projectId);
      if (access !== null && isConcerned(principal, access)) found.push(claim);
      if (found.length === MAX_WAITING) break;
    }
    return (await this.#held(found, rights)).map(({ ticket }) => ticket);
  }

  /** Claims with their tickets, as far as the visitor may read them. */
  async #held(
    claims: readonly Claim[],
    rights: Rights,
  ): Promise<readonly { readonly claim: Claim; readonly ticket: HeldTicket }[]> {
    const { agents } = this.#options;
    const readable = claims.flatMap((claim) => {
      const access = rights(claim.projectId);
      return access === null ? [] : [{ claim, access }];
    });
    const titles = await this.#titles.of(
      readable.map(({ claim: { ticket }, access: { project } }) => ({ project, ticket })),
    );
    return readable.map(({ claim, access }, index) => ({
      claim,
      ticket: {
        slug: access.project.slug,
        ticket: claim.ticket,
        title: titles[index] ?? claim.ticket,
        agent: claim.holder.name,
        claimedAt: claim.claimedAt,
        expiresAt: claim.expiresAt,
        lastSeen: agents.presence(claim.holder.key)?.lastSeen ?? null,
        mayRelease: access.isAdmin,
      },
    }));
  }

  /** What the visitor may do in the projects that it may read; null for the others. */
  #rightsOf(principal: Principal): Rights {
    const known = new Map<string, ProjectAccess | null>();
    return (projectId) => {
      const found = known.get(projectId);
      if (found !== undefined) return found;
      const held = this.#options.projects.get(projectId);
      const access = held === null ? null : accessOf(held, principal);
      const readable = access?.may("read") ? access : null;
      known.set(projectId, readable);
      return readable;
    };
  }
}

/** Whether the work of a project concerns a visitor: an admin, or a member who may write. */
function isConcerned({ kind }: Principal, access: ProjectAccess): boolean {
  return kind === "admin" || access.may("write");
}

/** Whether a visitor may know of an event. */
function mayKnow({ kind }: Principal, rights: Rights, event: LoggedEvent): boolean {
  const notice = noticeOf(event);
  if (notice === null) return kind === "admin" || event.type.startsWith("agent.");
  const access = rights(notice.projectId);
  return access !== null && access.may(notice.isHidden ? "admin" : "read");
}

/** The project of something. */
interface InProject {
  readonly slug: string;
}

/** A review that waits for a verdict. */
export interface PendingReview extends InProject {
  readonly review: Review;
  /** Whether the visitor was asked for it; else nobody was. */
  readonly isAsked: boolean;
}

/** A review that came back from the landing queue with conflicts. */
export interface ConflictedLanding extends InProject {
  readonly landing: Landing;
}

/** A ticket whose claims ended too often without a result. */
export interface StruckTicket extends InProject {
  readonly ticket: string;
  readonly title: string;
  readonly strikes: number;
  /** Whether the visitor may offer it to agents again. */
  readonly mayChange: boolean;
}

/** A ticket that an agent holds. Times are Unix milliseconds. */
export interface HeldTicket extends InProject {
  readonly ticket: string;
  readonly title: string;
  readonly agent: string;
  readonly claimedAt: number;
  readonly expiresAt: number;
  /** When the agent was last seen. */
  readonly lastSeen: number | null;
  /** Whether the visitor may end the claim. */
  readonly mayRelease: boolean;
}

/** What waits for a person; each list has at most its limit. */
export interface Waiting {
  readonly reviews: readonly PendingReview[];
  readonly conflicts: readonly ConflictedLanding[];
  readonly struck: readonly StruckTicket[];
  readonly silent: readonly HeldTicket[];
}

/** The work of an agent in all projects. */
export interface AgentWorkload {
  readonly claims: readonly HeldTicket[];
  readonly workspaces: readonly {
    readonly slug: string;
    readonly name: string;
    readonly ticket: string | null;
    /** Unix milliseconds. */
    readonly updatedAt: number;
  }[];
  /** Reviews that are neither merged nor closed. */
  readonly reviews: readonly { readonly slug: string; readonly review: Review }[];
}

/** A check that failed. */
export interface FailedCheck extends InProject {
  readonly checkin: string;
  readonly context: string;
  readonly description: string;
  readonly reporter: string;
  /** Unix milliseconds. */
  readonly updatedAt: number;
}

/**
 * What an account works on in all projects: its claims from memory, its active workspaces and open
 * reviews in one query each.
 *
 * @param key of the account
 * @param limit most entries of each list
 */
export async function workloadOf(
  { claims, workspaces, reviews }: Pick<ReviewServices, "reviews"> & {
    readonly claims: Pick<Claims, "heldBy">;
    readonly workspaces: Pick<Workspaces, "activeOf">;
  },
  key: string,
  limit: number,
) {
  const [opened, asked] = await Promise.all([
    workspaces.activeOf(key, limit),
    reviews.store.openBy(key, limit),
  ]);
  return { claims: claims.heldBy(key).slice(0, limit), workspaces: opened, reviews: asked };
}
