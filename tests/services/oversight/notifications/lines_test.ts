import assert from "node:assert/strict";
import type { EventTypes, LoggedEvent } from "../../../../services/engines/events/mod.ts";
import {
  lineOf,
  projectEventOf,
  summaryOf,
} from "../../../../services/oversight/notifications/mod.ts";

type Origin = Partial<Pick<LoggedEvent, "actor" | "cause">>;

/** The line of an event, by default of the agent `ada` at a request; null for none. */
function line<Type extends Extract<keyof EventTypes, `project.${string}`>>(
  type: Type,
  data: Partial<EventTypes[Type]>,
  origin: Origin = {},
): string | null {
  const event = projectEventOf({
    seq: 1,
    hash: "",
    time: "2026-01-01T00:00:00.000Z",
    type,
    actor: "agent:ada",
    actor_id: null,
    address: null,
    cause: "request-1",
    data: { project: "demo", project_id: "1", ...data },
    ...origin,
  });
  const found = event === null ? null : lineOf(event);
  return found?.text ?? null;
}

const HASH = "0123456789abcdef";
const QUEUE: Origin = { cause: null };

Deno.test("each event of tickets and claims has a line that names who did it", () => {
  const ticket = { ticket: HASH, title: "Crash", status: "Open", user: "ada" };
  const changed = (fields: string[], more = {}, origin: Origin = {}) =>
    line("project.ticket", { ...ticket, fields, ...more }, origin);
  const closed = { status: "Closed" };
  assert.deepEqual([
    changed(["title", "status"], { is_new: true }),
    changed(["icomment"]),
    changed(["status"], closed),
    changed(["status", "icomment"], { status: "Review" }),
    changed(["priority", "severity"]),
    changed(["status"], closed, QUEUE),
    changed(["status"], closed, { actor: "fossil:ada", cause: null }),
  ], [
    "ada filed ticket 0123456789 “Crash”",
    "ada commented on ticket 0123456789 “Crash”",
    "ada set ticket 0123456789 “Crash” to Closed",
    "ada commented on and set ticket 0123456789 “Crash” to Review",
    "ada changed ticket 0123456789 “Crash”: priority, severity",
    null,
    "ada set ticket 0123456789 “Crash” to Closed",
  ]);
  const claim = (status: string, by: string | null = null) =>
    line("project.claim", { agent: "ben", ticket: HASH, status, by });
  assert.deepEqual([
    claim("claimed"),
    claim("released"),
    claim("submitted"),
    claim("merged"),
    claim("closed"),
    claim("closed", "ada"),
    claim("lapsed"),
    claim("broken", "ada"),
    claim("revoked"),
  ], [
    "ben claimed ticket 0123456789",
    "ben released ticket 0123456789",
    "ben submitted the work on ticket 0123456789",
    null,
    null,
    "ada closed ticket 0123456789, which ben held",
    "The claim of ben on ticket 0123456789 expired",
    "ada ended the claim of ben on ticket 0123456789",
    "ada ended the claim of ben on ticket 0123456789",
  ]);
});

Deno.test("each event of workspaces, reviews and landings has one line", () => {
  const work = (action: string, more = {}, origin: Origin = {}) =>
    line("project.workspace", {
      name: "fix",
      action,
      agent_id: "ben",
      previous_agent_id: null,
      target_branch: "trunk",
      ...more,
    }, origin);
  assert.deepEqual([
    work("created", { agent_id: "ada" }),
    work("merged"),
    work("merged", {}, QUEUE),
    work("abandoned"),
    work("restored"),
    work("taken_over", { agent_id: "ada", previous_agent_id: "ben" }),
    work("taken_over", { previous_agent_id: "cy" }),
  ], [
    "ada began workspace fix",
    "ada merged workspace fix of ben into trunk",
    null,
    "ada closed workspace fix of ben",
    "ada reopened workspace fix of ben",
    "ada took over workspace fix from ben",
    "ada moved workspace fix from cy to ben",
  ]);
  const review = (action: string, more = {}, origin: Origin = {}) =>
    line("project.review", {
      id: 2,
      title: "Two",
      status: "approved",
      round: 3,
      action,
      by: "ada",
      reviewers: [],
      ...more,
    }, origin);
  assert.deepEqual([
    review("created"),
    review("requested", { reviewers: ["ben", "cy"] }),
    review("request_withdrawn", { reviewers: ["ben"] }),
    review("commented"),
    review("approved"),
    review("approved", { status: "pending" }),
    review("changes_requested"),
    review("round"),
    review("merged"),
    review("merged", {}, QUEUE),
    review("closed"),
  ], [
    "ada opened review 2 “Two”",
    "ada asked ben, cy for a verdict on review 2 “Two”",
    null,
    "ada commented on review 2 “Two”",
    "ada approved review 2 “Two”",
    "ada approved review 2 “Two”, which needs more approvals",
    "ada asked for changes in review 2 “Two”",
    "ada started round 3 of review 2 “Two”",
    "ada merged review 2 “Two”",
    null,
    "ada closed review 2 “Two” without a merge",
  ]);
  const landing = (status: string, more = {}) =>
    line("project.landing", {
      review: 2,
      title: "Two",
      agent: "ben",
      target_branch: "trunk",
      status,
      candidate: HASH,
      reason: null,
      conflicts: [],
      contexts: [],
      ...more,
    });
  assert.deepEqual([
    landing("queued"),
    landing("testing"),
    landing("landed"),
    landing("returned", {
      reason: "It conflicts with the target branch",
      conflicts: [{ path: "a.txt", kind: "text" }],
    }),
  ], [
    "Review 2 “Two” of ben waits in the landing queue of trunk",
    null,
    "Review 2 “Two” of ben landed on trunk as 0123456789",
    "Review 2 “Two” of ben came back from the landing queue: It conflicts with the target branch " +
    "(a.txt)",
  ]);
  assert.equal(
    line("project.overlap", {
      workspaces: [{ name: "a", agent_id: "ada" }, { name: "b", agent_id: "ben" }],
      conflicts: [{ path: "a.txt", kind: "text" }],
    }),
    "Workspaces a of ada and b of ben conflict in a.txt",
  );
});

Deno.test("each event of check-ins, checks, pages, releases and the project has one line", () => {
  const status = (
    state: string,
    previous: string | null = "pending",
    description = "",
    more = {},
  ) =>
    line("project.status", {
      checkin: HASH,
      context: "ci",
      state,
      previous_state: previous,
      description,
      target_url: "",
      ...more,
    });
  const byJob = { review: 7, job: "01J" };
  const release = (verb: string, name = "One") =>
    line("project.release", { tag_name: "v1.0.0", name, status: verb });
  const checkin = { uuid: HASH, user: "ada", comment: "Fix the crash" };
  const page = { name: "Home", user: "ada" };
  assert.deepEqual([
    line("project.checkin", { ...checkin, branch: "trunk" }),
    line("project.checkin", { ...checkin, branch: "landing/1" }),
    status("success", "pending", "3 tests"),
    status("failure"),
    status("error"),
    status("pending", null),
    status("failure", "failure"),
    status("failure", "pending", "Failed with exit code 1", byJob),
    status("success", "pending", "Passed", byJob),
    status("failure", "pending", "", { target_url: "https://ci.example/9" }),
    release("published"),
    release("updated"),
    release("deleted", "v1.0.0"),
    release("asset"),
    line("project.wiki", { ...page, is_deleted: false }),
    line("project.wiki", { ...page, is_deleted: true }),
    line("project.forum", { user: "ada" }),
    line("project.imported", { checkins: 1, format: "git" }),
    line("project.imported", { checkins: 2, format: "git" }),
    line("project.archived", {}),
    line("project.unarchived", {}),
    line("project.protection_changed", {}),
    line("project.technote", {}),
  ], [
    "ada committed 0123456789 to trunk: Fix the crash",
    null,
    "The check ci passed on 0123456789: 3 tests",
    "The check ci failed on 0123456789",
    "The check ci ended with an error on 0123456789",
    null,
    null,
    "The check ci failed on review 7 (/projects/demo/jobs/01J): Failed with exit code 1",
    "The check ci passed on review 7: Passed",
    "The check ci failed on 0123456789 (https://ci.example/9)",
    "ada published release v1.0.0 “One”",
    "ada updated release v1.0.0 “One”",
    "ada deleted release v1.0.0",
    "ada changed the files of release v1.0.0 “One”",
    "ada wrote the wiki page Home",
    "ada deleted the wiki page Home",
    "ada posted in the forum",
    "ada imported 1 check-in from git",
    "ada imported 2 check-ins from git",
    "ada archived the project",
    "ada made the project active again",
    "ada changed the rules of protected branches",
    null,
  ]);
});

Deno.test("a summary stands for the failures of a second, and never hides one among successes", () => {
  assert.deepEqual(["landing", "return", "status", "failure"].map((kind) => summaryOf(kind, 3)), [
    "… and 3 more steps of the landing queue",
    "… and 3 more reviews that came back from the landing queue",
    "… and 3 more passed checks",
    "… and 3 more failed checks",
  ]);
});
