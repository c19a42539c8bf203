import { wordsOf } from "../../parts/known_names.ts";
import type { Leads } from "../../page.ts";
import { openProject } from "../../project.ts";
import type { Visit } from "../../visit.ts";

/** The path of a review in the repository API. */
export function reviewPath(visit: Visit): string {
  return `/api/reviews/${encodeURIComponent(visit.param("id"))}`;
}

/** Sends a change to a path below the review; then the browser shows the page again. */
async function send(
  visit: Visit,
  change: {
    readonly method?: "POST" | "DELETE";
    readonly path: string;
    readonly body?: unknown;
    readonly notice?: string;
  },
): Promise<Leads> {
  const { method = "POST", path, body = {}, notice } = change;
  await visit.change(openProject(visit).slug, method, reviewPath(visit) + path, body);
  const to = visit.url.pathname;
  return notice === undefined ? { to } : { to, notice };
}

function text(visit: Visit, name: string): string {
  return visit.entered(name).replaceAll("\r\n", "\n");
}

/** Comments on the review, or on a line of it. */
export async function comment(visit: Visit): Promise<Leads> {
  const [file, line] = [visit.entered("file"), visit.entered("line")];
  const place = file === "" ? {} : {
    file_path: file,
    line_number: line === "" ? null : Number(line),
    side: visit.entered("side", "new"),
  };
  const body = { body: text(visit, "comment"), ...place };
  const { id } = await visit.change<{ id: number }>(
    openProject(visit).slug,
    "POST",
    `${reviewPath(visit)}/comment`,
    body,
  );
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
  const { reason } = await visit.change<{ reason?: string }>(
    openProject(visit).slug,
    "POST",
    `${reviewPath(visit)}/approve`,
    verdict(visit),
  );
  const missing = reason === undefined ? "The review is approved." : `You approved. ${reason}.`;
  return { to: visit.url.pathname, notice: missing };
}

export function requestChanges(visit: Visit): Promise<Leads> {
  const notice = "You requested changes.";
  return send(visit, { path: "/request-changes", body: verdict(visit), notice });
}

export function close(visit: Visit): Promise<Leads> {
  return send(visit, { path: "/close", notice: "The review is closed." });
}

export function merge(visit: Visit): Promise<Leads> {
  return send(visit, { path: "/merge", notice: "The change is merged." });
}

export function land(visit: Visit): Promise<Leads> {
  // The page says where it is in the queue, until it has landed.
  return send(visit, { path: "/land" });
}

export function withdraw(visit: Visit): Promise<Leads> {
  const notice = "The review is out of the landing queue.";
  return send(visit, { method: "DELETE", path: "/land", notice });
}

/** Asks accounts for a verdict. */
export function ask(visit: Visit): Promise<Leads> {
  const reviewers = wordsOf(visit.entered("reviewers"));
  return send(visit, { path: "/reviewers", body: { reviewers } });
}

/** Asks an account no longer. */
export function drop(visit: Visit): Promise<Leads> {
  const path = `/reviewers/${encodeURIComponent(visit.entered("name"))}`;
  return send(visit, { method: "DELETE", path });
}
