import * as reviews from "../../../services/work/reviews/operations.ts";
import type { Leads } from "../../page.ts";
import { wordsOf } from "../../parts/form.tsx";
import type { Visit } from "../../visit.ts";

/** Where the review of a page is: in which project, and its number. */
function placeOf(visit: Visit) {
  return { slug: visit.param("slug"), id: visit.param("id") };
}

/** Shows the page again. */
function back(visit: Visit, notice?: string): Leads {
  const to = visit.url.pathname;
  return notice === undefined ? { to } : { to, notice };
}

function text(visit: Visit, name: string): string {
  return visit.entered(name).replaceAll("\r\n", "\n");
}

/** Comments on the review, or on a line of it. */
export async function comment(visit: Visit): Promise<Leads> {
  const { slug, id: review } = placeOf(visit);
  const [file, line] = [visit.entered("file"), visit.entered("line")];
  const place = file === "" ? {} : {
    file_path: file,
    line_number: line === "" ? null : Number(line),
    side: visit.entered("side", "new"),
  };
  const said = { id: review, body: text(visit, "comment"), ...place };
  const { id } = await visit.invoke(slug, reviews.commentOnReview, said);
  const query = new URLSearchParams(visit.url.searchParams);
  query.delete("at");
  const page = file === "" ? visit.url.pathname : `${visit.url.pathname}?${query}`;
  return { to: `${page}#comment-${id}`, notice: "Your comment is there." };
}

/** The verdict of a form: the comment, if any, and the round that the reviewer saw. */
function verdict(visit: Visit) {
  const comment = text(visit, "comment");
  const round = Number(visit.entered("round"));
  return { ...(comment.trim() === "" ? {} : { comment }), round };
}

export async function approve(visit: Visit): Promise<Leads> {
  const { slug, id } = placeOf(visit);
  const { reason } = await visit.invoke(slug, reviews.approveReview, { id, ...verdict(visit) });
  return back(visit, reason === undefined ? "The review is approved." : `You approved. ${reason}.`);
}

export async function requestChanges(visit: Visit): Promise<Leads> {
  const { slug, id } = placeOf(visit);
  await visit.invoke(slug, reviews.requestChanges, { id, ...verdict(visit) });
  return back(visit, "You requested changes.");
}

export async function close(visit: Visit): Promise<Leads> {
  const { slug, id } = placeOf(visit);
  await visit.invoke(slug, reviews.closeReview, { id });
  return back(visit, "The review is closed.");
}

export async function merge(visit: Visit): Promise<Leads> {
  const { slug, id } = placeOf(visit);
  await visit.invoke(slug, reviews.mergeReview, { id });
  return back(visit, "The change is merged.");
}

export async function land(visit: Visit): Promise<Leads> {
  const { slug, id } = placeOf(visit);
  await visit.invoke(slug, reviews.landReview, { id });
  // The page says where it is in the queue, until it has landed.
  return back(visit);
}

export async function withdraw(visit: Visit): Promise<Leads> {
  const { slug, id } = placeOf(visit);
  await visit.invoke(slug, reviews.withdrawLanding, { id });
  return back(visit, "The review is out of the landing queue.");
}

/** Asks accounts for a verdict. */
export async function ask(visit: Visit): Promise<Leads> {
  const { slug, id } = placeOf(visit);
  const reviewers = wordsOf(visit.entered("reviewers"));
  await visit.invoke(slug, reviews.askReviewers, { id, reviewers });
  return back(visit);
}

/** Asks an account no longer. */
export async function drop(visit: Visit): Promise<Leads> {
  const { slug, id } = placeOf(visit);
  await visit.invoke(slug, reviews.dropReviewer, { id, name: visit.entered("name") });
  return back(visit);
}
