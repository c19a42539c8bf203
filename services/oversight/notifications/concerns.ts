import { TextSet } from "../../engines/fossil/front/mod.ts";
import type { Account, AccountDirectory } from "../../people/identity/mod.ts";
import type { HeldProject, Project, ProjectRepositories } from "../../work/projects/mod.ts";
import type { Comment, ReviewStore } from "../../work/reviews/mod.ts";
import type { Claims, TicketNumbers } from "../../work/tickets/mod.ts";
import type { Workspaces } from "../../work/workspaces/mod.ts";
import { actorName, type ProjectEvent } from "./events.ts";
import type { Concern } from "./concern.ts";
import { excerpt, listed, mentioned, oneLine, quoted, short } from "./lines.ts";
import { TicketConcerns } from "./ticket_concerns.ts";

export interface ConcernsOptions {
  readonly accounts: Pick<AccountDirectory, "find" | "get" | "session">;
  readonly repositories: Pick<ProjectRepositories, "read">;
  readonly claims: Pick<Claims, "active">;
  readonly numbers: Pick<TicketNumbers, "with">;
  readonly workspaces: Pick<Workspaces, "overlaps" | "find">;
  readonly reviews: ReviewStore;
  /** The last lines of the log of a check that ran on a runner; empty for any other. */
  readonly lastLines: (project: Project, checkin: string, context: string) => Promise<string>;
}

/** A concern of an account that exists and may read the project. */
export type AddressedConcern = Omit<Concern, "to"> & {
  readonly account: Account;
  /** The name of the account that it concerns, or of the agent's session. */
  readonly nick: string;
};

type EventOf<Type> = Extract<ProjectEvent, { readonly type: Type }>;

/** Most characters of the lines of a log. */
const MAX_LINES = 600;

/** Outcomes of a claim after which the holder is notified if somebody else claims the ticket. */
const MINDED: ReadonlySet<string | null> = new Set(["lapsed", "broken", "submitted"]);

/** The name under which muster itself acts. */
export const MUSTER = "muster";

/**
 * Finds the accounts that an event concerns, with a text for each. Nobody is notified of their own
 * actions, or twice of one event: the first concern of an account counts.
 */
export class Concerns {
  readonly #options: ConcernsOptions;
  readonly #tickets: TicketConcerns;
  readonly #reviews: ReviewConcerns;

  constructor(options: ConcernsOptions) {
    this.#options = options;
    this.#tickets = new TicketConcerns(options);
    this.#reviews = new ReviewConcerns(options.reviews);
  }

  /** The accounts that an event concerns, each once. */
  async of(
    held: HeldProject,
    event: ProjectEvent,
    mayRead: (held: HeldProject, account: Account) => boolean,
  ): Promise<readonly AddressedConcern[]> {
    const found = new Map<string, AddressedConcern>();
    for (const { to, ...concern } of await this.#concerns(held.project, event)) {
      const account = this.#accountOf(to, Date.parse(event.time));
      const nick = this.#options.accounts.session(to.name ?? "")?.name ?? account?.name ?? "";
      if (account === null || found.has(nick) || !mayRead(held, account)) continue;
      if (concern.isNews !== true && isOwn(event, { id: account.id, name: nick })) continue;
      found.set(nick, { ...concern, account, nick });
    }
    return [...found.values()];
  }

  /** The account, if it is not revoked and existed at the time of the event. */
  #accountOf(to: Concern["to"], time: number): Account | null {
    const { accounts } = this.#options;
    const account = "key" in to ? accounts.get(to.key) : accounts.find(to.name);
    if (account === null || account.revokedAt !== null || account.createdAt > time) return null;
    return account;
  }

  async #concerns(project: Project, event: ProjectEvent): Promise<readonly Concern[]> {
    switch (event.type) {
      case "project.claim":
        return await this.#ofClaim(project, event);
      case "project.ticket":
        return await this.#tickets.of(project, event);
      case "project.workspace":
        return await this.#ofWorkspace(project, event);
      case "project.review":
        return await this.#reviews.of(project, event);
      case "project.status":
        return await this.#ofStatus(project, event);
      case "project.landing":
        return this.#ofLanding(event);
      case "project.overlap":
        return this.#ofOverlap(event);
      default:
        return [];
    }
  }

  async #ofClaim(project: Project, { data }: EventOf<"project.claim">) {
    const { ticket, agent, status, by, previous_agent: before, previous_outcome: outcome } = data;
    const about = { ticket };
    const title = () => this.#tickets.nameOf(project, data);
    const kind = "claim";
    if (status === "lapsed") {
      const text = `Your claim of ${await title()} has run out`;
      return [{ to: { name: agent }, kind, from: MUSTER, text, about } as const];
    }
    if (status === "broken" && by !== agent) {
      const from = by ?? MUSTER;
      const text = `${from} has ended your claim of ${await title()}`;
      return [{ to: { name: agent }, kind, from, text, about } as const];
    }
    if (status === "closed" && by !== null) {
      const text = `${by} has closed ${await title()}, which ended your claim`;
      return [{ to: { name: agent }, kind, from: by, text, about } as const];
    }
    if (status !== "claimed" || before === null || !MINDED.has(outcome)) return [];
    const text = `${agent} has claimed ${await title()}, which you had before`;
    return [{ to: { name: before }, kind, from: agent, text, about } as const];
  }

  async #ofWorkspace(
    project: Project,
    event: EventOf<"project.workspace">,
  ): Promise<readonly Concern[]> {
    const { name, action, agent_id: owner, previous_agent_id: before, target_branch } = event.data;
    const from = actorName(event);
    const about = { workspace: name };
    if (action === "taken_over" && before !== null) {
      const text = `${owner} has taken over your workspace ${name}`;
      return [{ to: { name: before }, kind: "claim", from: owner, text, about }];
    }
    const to = { name: owner };
    if (action === "abandoned") {
      const text = `${from} has closed your workspace ${name} without a merge`;
      return [{ to, kind: "claim", from, text, about }];
    }
    // A merge with a review is reported by the review; one without a request, by the landing queue.
    if (action !== "merged" || event.cause === null || await this.#isReviewed(project, name)) {
      return [];
    }
    const text = `${from} has merged your workspace ${name} into ${target_branch}`;
    return [{ to, kind: "landing", from, text, about }];
  }

  async #isReviewed(project: Project, name: string): Promise<boolean> {
    const workspace = await this.#options.workspaces.find(project, name);
    return (await this.#options.reviews.newestOf(workspace.id))?.status === "merged";
  }

  async #ofStatus(project: Project, { data }: EventOf<"project.status">) {
    const { checkin, context, state, previous_state, description, reporter } = data;
    if (state === "pending" || state === previous_state || data.unread !== undefined) return [];
    const workspaces = await this.#options.workspaces.overlaps.atTip(project, checkin);
    const isFailure = state !== "success";
    const lines = isFailure && workspaces.length > 0
      ? await this.#options.lastLines(project, checkin, context)
      : "";
    const more = lines === "" ? "" : `. The last lines: ${oneLine(lines, MAX_LINES)}`;
    return workspaces.map(({ name, owner }): Concern => ({
      to: { key: owner.key, name: owner.name },
      kind: "check",
      isFailure,
      from: reporter,
      text: `${oneLine(context, 100)}: ${state} on ${short(checkin)}, the tip of your workspace ` +
        `${name}${excerpt(description)}${more}`,
      about: { checkin, workspace: name },
    }));
  }

  #ofLanding({ data }: EventOf<"project.landing">): readonly Concern[] {
    const { review, title, agent, target_branch: target, status, candidate, reason } = data;
    const to = { name: agent };
    const about = { review, ...(candidate === null ? {} : { checkin: candidate }) };
    const change = `Review ${review}${quoted(title)}`;
    const entry = { to, kind: "landing", from: MUSTER, about } as const;
    if (status === "landed") {
      return [{ ...entry, text: `${change} has landed on ${target} as ${short(candidate ?? "")}` }];
    }
    if (status !== "returned") return [];
    const details = [...data.conflicts.map(({ path }) => path), ...data.contexts];
    const why = details.length === 0 ? "" : ` (${listed(details)})`;
    const text = `${change} came back from the landing queue of ${target}${excerpt(reason ?? "")}`;
    return [{ ...entry, isFailure: true, text: `${text}${why}` }];
  }

  #ofOverlap({ data: { workspaces, conflicts } }: EventOf<"project.overlap">) {
    const where = listed([...new TextSet(conflicts.map(({ path }) => path))]);
    return workspaces.flatMap(({ name, agent_id }, index): Concern[] => {
      const other = workspaces[1 - index];
      if (other === undefined) return [];
      const text = `Your workspace ${name} conflicts with ${other.name} of ${other.agent_id} in ` +
        where;
      const to = { name: agent_id };
      return [{ to, kind: "overlap", from: MUSTER, text, about: { workspace: name } }];
    });
  }
}

/**
 * Whether an account caused an event by a request. Actions of muster in somebody's name, such as a
 * landing, have no request as their cause, and nobody causes overlaps.
 */
function isOwn(event: ProjectEvent, { id, name }: Pick<Account, "id" | "name">): boolean {
  if (event.cause !== null && event.actor_id === id && event.actor.endsWith(`:${name}`)) {
    return true;
  }
  const { data } = event;
  if (event.type === "project.ticket" || event.type === "project.review") {
    return ("by" in data ? data.by : "user" in data ? data.user : null) === name;
  }
  return false;
}

type ReviewEvent = Extract<ProjectEvent, { readonly type: "project.review" }>;

/** Most characters of a path in a text. */
const MAX_PATH = 120;

/** Finds the accounts that a change of a review concerns: its author or its reviewers. */
class ReviewConcerns {
  readonly #store: ReviewStore;

  constructor(store: ReviewStore) {
    this.#store = store;
  }

  async of(project: Project, { data, cause }: ReviewEvent): Promise<readonly Concern[]> {
    const { id: number, title, status, round, action, by: from, comment } = data;
    const review = await this.#store.find(project.id, number);
    if (review === null) return [];
    const name = `review ${number}${quoted(title)}`;
    const said = comment === null ? null : await this.#store.comment(review, comment);
    const about = {
      review: number,
      ...(review.workspace === null ? {} : { workspace: review.workspace.name }),
    };
    const entry = { kind: "review", from, about } as const;
    const author = { key: review.author.key, name: review.author.name };
    const toAuthor = (text: string): Concern => ({ ...entry, to: author, text });
    const toReviewers = (text: string) =>
      data.reviewers.map((reviewer): Concern => ({ ...entry, to: { name: reviewer }, text }));
    const spoken = action === "created" ? `${title}\n${review.description}` : said?.body ?? "";
    const place = said === null ? "" : placeOf(said);
    const mentions = mentioned(spoken).map((mention): Concern => ({
      ...entry,
      kind: "mention",
      to: { name: mention },
      text: `${from} mentioned you in ${name}${place}${
        excerpt(action === "created" ? review.description : spoken)
      }`,
    }));
    switch (action) {
      case "commented": {
        const text = `${from} commented on ${name}${place}${excerpt(said?.body ?? "")}`;
        const speakers = await this.#store.commenters(review);
        const others = [...await this.#store.reviewers(review), ...speakers]
          .map((key): Concern => ({ ...entry, to: { key }, text }));
        const isAuthors = said?.author.key === review.author.key;
        return [toAuthor(text), ...mentions, ...(isAuthors ? others : [])];
      }
      case "approved": {
        const rest = status === "approved" ? "" : "; it needs more approvals";
        return [toAuthor(`${from} has approved ${name}${rest}`), ...mentions];
      }
      case "changes_requested": {
        const text = `${from} asks for changes in ${name}${excerpt(said?.body ?? "")}`;
        return [toAuthor(text), ...mentions];
      }
      case "created":
      case "requested":
        return [...toReviewers(`${from} asks for your verdict on ${name}`), ...mentions];
      case "request_withdrawn":
        return toReviewers(`${from} no longer asks for your verdict on ${name}`);
      case "round": {
        const text = `${from} has changed ${name}: round ${round} waits for your verdict`;
        const judges = await this.#store.reviewers(review);
        return [...toReviewers(text), ...judges.map((key) => ({ ...entry, to: { key }, text }))];
      }
      case "merged":
        // Without a request as its cause, the landing queue made and reports the merge.
        if (cause === null) return [];
        return [toAuthor(`${from} has merged ${name}`)];
      case "closed":
        return [toAuthor(`${from} has closed ${name} without a merge`)];
      default:
        return [];
    }
  }
}

/** The file and line of a comment, after a comma; empty if it is about the whole review. */
function placeOf({ path, line }: Comment): string {
  if (path === null || path === "") return "";
  return `, ${oneLine(path, MAX_PATH)}${line === null ? "" : `:${line}`}`;
}
