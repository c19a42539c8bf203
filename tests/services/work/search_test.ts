import assert from "node:assert/strict";
import { Invalid, Unavailable } from "../../../services/kernel/errors.ts";
import { OPERATOR, type Principal } from "../../../services/people/identity/mod.ts";
import type { HeldProject } from "../../../services/work/projects/mod.ts";
import { type Finding, ProjectSearch } from "../../../services/work/search/mod.ts";
import { TestScheduler } from "../../support/scheduler.ts";

type Options = ConstructorParameters<typeof ProjectSearch>[0];

const MATCH = {
  kind: "wiki",
  name: "Home",
  last_modified: "2026-11-20T12:00:00Z",
  snippet: "word",
  highlights: [[0, 4]],
} as const;

const ONE_MATCH = { matches: [MATCH], total: 1, is_complete: true };

/** Public projects with these slugs; the last one has the newest event. */
function projectsOf(slugs: readonly string[]): readonly HeldProject[] {
  return slugs.map((slug) => ({
    project: { id: slug, slug, visibility: "public" },
    members: new Map(),
  } as unknown as HeldProject));
}

function searchOf(
  slugs: readonly string[],
  answer: Options["reads"]["search"],
  scheduler = new TestScheduler(),
): (after?: string, principal?: Principal) => Promise<Finding> {
  const projects = projectsOf(slugs);
  const last = new Map(slugs.map((slug, seq) => [slug, { seq: seq + 1, time: 0 }]));
  const search = new ProjectSearch({
    projects: { all: () => projects },
    reads: { search: answer },
    eventLog: { lastOfProjects: () => Promise.resolve(last) },
    scheduler,
  });
  return (after, principal = OPERATOR) => search.search(principal, { query: "word", after });
}

const slugsOf = ({ found }: Finding) => found.map(({ held: { project } }) => project.slug);

Deno.test("a search begins with the project that changed last, and leaves out those without matches", async () => {
  const search = searchOf(
    ["a", "b", "c"],
    ({ slug }) =>
      Promise.resolve(slug === "b" ? { matches: [], total: 0, is_complete: true } : ONE_MATCH),
  );
  const finding = await search();
  assert.deepEqual(slugsOf(finding), ["c", "a"]);
  const { searched, left, next, unsearched } = finding;
  assert.deepEqual({ searched, left, next, unsearched }, {
    searched: 3,
    left: 0,
    next: null,
    unsearched: [],
  });
});

Deno.test("an answer ends after two seconds or 20 projects, and the next one goes on", async () => {
  const scheduler = new TestScheduler();
  const slow = searchOf(["a", "b", "c", "d"], () => {
    scheduler.advance(900);
    return Promise.resolve(ONE_MATCH);
  }, scheduler);
  const first = await slow();
  assert.deepEqual([slugsOf(first), first.left, first.next], [["d", "c", "b"], 1, "b"]);
  assert.deepEqual(slugsOf(await slow(first.next ?? "")), ["a"]);
  const many = Array.from({ length: 30 }, (_, index) => `p${index}`);
  const fast = searchOf(many, () => Promise.resolve(ONE_MATCH));
  const page = await fast();
  assert.deepEqual([page.found.length, page.left, page.next], [20, 10, "p10"]);
  const rest = await fast(page.next ?? "");
  assert.deepEqual([rest.found.length, rest.left, rest.next], [10, 0, null]);
  // A slug that is gone begins anew, and tells nothing.
  assert.deepEqual(await fast("gone"), page);
});

Deno.test("a project that is away or takes too long is named, and hinders no other one", async () => {
  const scheduler = new TestScheduler();
  const search = searchOf(["a", "slow", "away"], async ({ slug }, _, signal) => {
    if (slug === "away") throw new Unavailable("Its node does not run");
    if (slug === "a") return ONE_MATCH;
    const ended = Promise.withResolvers<never>();
    signal?.addEventListener("abort", () => ended.reject(signal.reason));
    scheduler.advance(1000);
    return await ended.promise;
  }, scheduler);
  const finding = await search();
  assert.deepEqual([slugsOf(finding), finding.unsearched], [["a"], ["away", "slow"]]);
  assert.equal(scheduler.pending, 0);
});

Deno.test("a malformed query is refused", async () => {
  const search = searchOf(["a"], () => Promise.reject(new Invalid("A query has at most 32 words")));
  await assert.rejects(search(), Invalid);
});
