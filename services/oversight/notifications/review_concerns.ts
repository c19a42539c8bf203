import type { Project } from "../../work/projects/mod.ts";
import type { Comment, ReviewStore } from "../../work/reviews/mod.ts";
import type { Concern } from "./concern.ts";
import type { ProjectEvent } from "./events.ts";
import { mentioned } from "./mentions.ts";
import { excerpt, oneLine, quoted } from "./texts.ts";

type ReviewEvent = Extract<ProjectEvent, { readonly type: "project.review" }>;

/** Most characters of a path in a text. */
const MAX_PATH = 120;

/** Finds the accounts that a change of a review concerns: its author or its reviewers. */
export class ReviewConcerns {
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
    const author = { key: review.author.key };
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
