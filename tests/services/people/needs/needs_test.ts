import assert from "node:assert/strict";
import { OPERATOR } from "../../../../services/people/identity/mod.ts";
import { MAX_NEEDS_OF_SOURCE, type Need, Needs } from "../../../../services/people/needs/mod.ts";

function aNeed(id: string, changes: Partial<Need> = {}): Need {
  return {
    kind: "budget",
    id,
    title: "The week's budget",
    why: "caller spent it",
    actors: [],
    group: "admins",
    isYours: false,
    since: 1000,
    until: null,
    project: null,
    link: "/",
    ...changes,
  };
}

Deno.test("what waits for the reader comes first, then the oldest, page by page", async () => {
  const needs = new Needs();
  needs.add({ needs: () => [aNeed("late", { since: 9000 }), aNeed("early")] });
  needs.add({ needs: () => Promise.resolve([aNeed("mine", { since: 9999, isYours: true })]) });
  const page = await needs.list(OPERATOR, { limit: 2, offset: 0 });
  assert.deepEqual(page.needs.map(({ id }) => id), ["mine", "early"]);
  assert.deepEqual([page.total, page.yours], [3, 1]);
  const rest = await needs.list(OPERATOR, { limit: 2, offset: 2 });
  assert.deepEqual(rest.needs.map(({ id }) => id), ["late"]);
});

Deno.test("a list of some kinds asks only the sources of these", async () => {
  const needs = new Needs();
  const silent = { kinds: ["silent"] as const, needs: () => assert.fail("It was asked") };
  needs.add(silent);
  needs.add({
    kinds: ["budget", "question"],
    needs: () => [aNeed("a"), aNeed("b", { kind: "question" })],
  });
  const page = await needs.list(OPERATOR, { limit: 9, offset: 0, kinds: ["budget"] });
  assert.deepEqual(page.needs.map(({ id }) => id), ["a"]);
});

Deno.test("a source cannot fill the list without end", async () => {
  const needs = new Needs();
  needs.add({ needs: () => Array.from({ length: 2000 }, (_, at) => aNeed(`budget/${at}`)) });
  const { total } = await needs.list(OPERATOR, { limit: 1, offset: 0 });
  assert.equal(total, MAX_NEEDS_OF_SOURCE);
});
