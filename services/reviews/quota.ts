import { slotFull, type Slots } from "../agents/mod.ts";
import { Conflict, TooMany } from "../errors.ts";
import type { Actor, Project } from "../projects/mod.ts";
import { MAX_BODY, type Review } from "./records.ts";
import type { ReviewStore } from "./store.ts";

/** Most open reviews of one author in a project, beside those of submitted work. */
const MAX_OPEN_PER_AUTHOR = 100;
/** Most comments of one review. */
const MAX_COMMENTS = 1000;
/** Most comments of one author on a review: the others can always answer. */
const MAX_COMMENTS_PER_AUTHOR = 500;
/** Most characters of a review's comments before its last one: they are shown together. */
const MAX_CHARACTERS = 4_194_304;
/** Most of them of one author. */
const MAX_CHARACTERS_PER_AUTHOR = 2_097_152;

/** @throws TooMany if the author has too many open reviews, in all projects or in this one */
export async function requireQuotaForReview(
  store: Pick<ReviewStore, "countOpenBy" | "openBy">,
  slots: Pick<Slots, "limitOf">,
  project: Project,
  { key }: Actor,
): Promise<void> {
  const limit = slots.limitOf("reviews", key);
  const open = await store.openBy(key, limit + 1);
  if (open.length >= limit) {
    const filling = open.map(({ number, title }) => `${number} "${title.slice(0, 40)}"`);
    throw slotFull({ slot: "reviews", limit, filling, advice: "merge or close some" });
  }
  if (await store.countOpenBy(project.id, key) >= MAX_OPEN_PER_AUTHOR) {
    throw new TooMany(
      `You have ${MAX_OPEN_PER_AUTHOR} open reviews in this project: merge or close some`,
    );
  }
}

/** @throws Conflict if the review, or the author's part in it, has too many or too long comments */
export async function requireQuotaForComment(
  store: Pick<ReviewStore, "roomTaken">,
  review: Review,
  { key }: Actor,
): Promise<void> {
  if (review.commentCount >= MAX_COMMENTS) {
    throw new Conflict(`A review has at most ${MAX_COMMENTS} comments`);
  }
  // A review of fewer comments has room, however long they are.
  if (review.commentCount * MAX_BODY < MAX_CHARACTERS_PER_AUTHOR) return;
  const { comments, characters, ofAll } = await store.roomTaken(review, key);
  if (ofAll >= MAX_CHARACTERS) {
    throw new Conflict(`The comments of a review have at most ${MAX_CHARACTERS} characters`);
  }
  if (comments >= MAX_COMMENTS_PER_AUTHOR) {
    throw new Conflict(`A review has at most ${MAX_COMMENTS_PER_AUTHOR} comments of one author`);
  }
  if (characters >= MAX_CHARACTERS_PER_AUTHOR) {
    throw new Conflict(
      `The comments of one author on a review have at most ${MAX_CHARACTERS_PER_AUTHOR} characters`,
    );
  }
}
