import { amount } from "../../kernel/words.ts";
import { isOverseer, type Principal } from "../../people/identity/mod.ts";
import type { Need, NeedSource } from "../../people/needs/mod.ts";
import type { AwaitedReview } from "../../work/reviews/mod.ts";
import type {
  ConflictedLanding,
  HeldTicket,
  PendingReview,
  StruckTicket,
  Waiting,
} from "./attention.ts";

/** What the needs of projects are made of. */
export interface WorkNeedsOptions {
  readonly attention: { waiting(principal: Principal): Promise<Waiting> };
  readonly reviews: {
    readonly store: { awaited(limit: number): Promise<readonly AwaitedReview[]> };
  };
  /** The slug of a project; null if it is gone. */
  readonly slugOf: (projectId: string) => string | null;
  /** The name of an account; null if it is gone. */
  readonly nameOf: (accountId: string) => string | null;
}

/** Requests for reviews that one list reads. */
const MAX_READ = 200;

/** The needs of projects: reviews, conflicts, stuck tickets and silent holders of claims. */
export class WorkNeeds implements NeedSource {
  readonly kinds = ["review", "conflict", "stuck", "silent"] as const;
  readonly #options: WorkNeedsOptions;

  constructor(options: WorkNeedsOptions) {
    this.#options = options;
  }

  async needs(reader: Principal): Promise<readonly Need[]> {
    const [{ reviews, conflicts, struck, silent }, asked] = await Promise.all([
      this.#options.attention.waiting(reader),
      isOverseer(reader) ? this.#options.reviews.store.awaited(MAX_READ) : [],
    ]);
    const own = reviews.map((entry) => needOfReview(entry, reader));
    const known = new Set(own.map(({ id }) => id));
    const others = asked.flatMap((entry) => this.#awaited(entry, reader) ?? []);
    return [
      ...own,
      ...others.filter(({ id }) => !known.has(id)),
      ...conflicts.map((entry) => needOfConflict(entry, reader)),
      ...struck.map(needOfStruck),
      ...silent.map(needOfSilent),
    ];
  }

  /** A review of which others were asked, for those who oversee the server. */
  #awaited({ review, reviewers }: AwaitedReview, reader: Principal): Need | null {
    const slug = this.#options.slugOf(review.projectId);
    const names = reviewers.flatMap((id) => this.#options.nameOf(id) ?? []);
    if (slug === null || names.length === 0) return null;
    const isAsked = reader.id !== null && reviewers.includes(reader.id);
    return { ...needOfReview({ slug, review, isAsked }, reader), actors: names, group: null };
  }
}

function needOfReview({ slug, review, isAsked }: PendingReview, { name }: Principal): Need {
  return {
    kind: "review",
    id: `review/${slug}/${review.number}`,
    title: review.title,
    why: `${review.author.name} asks for a review`,
    actors: isAsked ? [name] : [],
    group: isAsked ? null : "members",
    isYours: isAsked,
    since: review.updatedAt,
    until: null,
    project: slug,
    link: `/projects/${slug}/reviews/${review.number}`,
  };
}

function needOfConflict({ slug, landing }: ConflictedLanding, { name }: Principal): Need {
  return {
    kind: "conflict",
    id: `conflict/${slug}/${landing.review}`,
    title: landing.title,
    why: `it conflicts with ${landing.targetBranch}`,
    actors: [landing.author],
    group: null,
    isYours: landing.author === name,
    since: landing.endedAt,
    until: null,
    project: slug,
    link: `/projects/${slug}/reviews/${landing.review}`,
  };
}

function needOfStruck({ slug, ticket, title, strikes, mayChange }: StruckTicket): Need {
  return {
    kind: "stuck",
    id: `stuck/${slug}/${ticket}`,
    title,
    why: `${amount(strikes, "claim")} ended without a result`,
    actors: [],
    group: "members",
    isYours: mayChange,
    since: null,
    until: null,
    project: slug,
    link: `/projects/${slug}/tickets/${ticket}`,
  };
}

function needOfSilent({ slug, ticket, title, agent, mayRelease, ...held }: HeldTicket): Need {
  return {
    kind: "silent",
    id: `silent/${slug}/${ticket}`,
    title,
    why: `${agent} holds it and is silent`,
    actors: [],
    group: "project admins",
    isYours: mayRelease,
    since: held.lastSeen ?? held.claimedAt,
    until: held.expiresAt,
    project: slug,
    link: `/projects/${slug}/tickets/${ticket}`,
  };
}
