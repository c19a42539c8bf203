import assert from "node:assert/strict";
import { BY_OPERATOR } from "../../support/services.ts";
import { type TestProject, withProject } from "../../support/projects.ts";

/** Sends a search with a value of `Authorization`; null for none. */
function search({ api }: TestProject, query: string, as: string | null): Promise<Response> {
  const headers = as === null ? {} : { authorization: as };
  return api.send({ who: "guest", request: `GET /search?${query}`, headers });
}

/** What a search for a word finds: slugs with their matches. */
async function found(test: TestProject, as: string | null, query = "q=needle") {
  const response = await search(test, query, as);
  assert.equal(response.status, 200, await response.clone().text());
  const { projects, ...rest } = await response.json();
  assert.deepEqual([rest.next, rest.unsearched], [null, []]);
  return projects.map((project: { slug: string; total: number; matches: { kind: string }[] }) =>
    `${project.slug} ${project.total} ${project.matches.map(({ kind }) => kind).join(" ")}`
  ).sort();
}

/** A public, an internal and two private projects, all with the word in a ticket. */
async function makeProjects({ api }: TestProject): Promise<void> {
  const { projects } = api.services.hosting;
  for (
    const [slug, visibility] of [
      ["open", "public"],
      ["house", "internal"],
      ["closed", "private"],
    ] as const
  ) {
    await projects.create({ slug, name: slug, description: "", visibility }, BY_OPERATOR);
  }
  for (const slug of ["demo", "open", "house", "closed"]) {
    const request = `POST /projects/${slug}/fossil/api/tickets`;
    const body = { title: `A needle in ${slug}` };
    const { status } = await api.send({ request, body });
    assert.equal(status, 201);
  }
}

Deno.test("a search finds what the caller may read, and tells nothing of other projects", async () => {
  await withProject(async (test) => {
    await makeProjects(test);
    const { api, caller, outsider } = test;
    const request = { project: "closed", name: "ci", scopes: ["read"] };
    const { token } = await api.answer("POST /v1/tokens", request) as { token: string };
    const [open, house, demo, closed] = ["open", "house", "demo", "closed"]
      .map((slug) => `${slug} 1 ticket`);
    assert.deepEqual(await found(test, null), [open]);
    assert.deepEqual(await found(test, outsider), [house, open]);
    assert.deepEqual(await found(test, caller), [demo, house, open]);
    assert.deepEqual(await found(test, `Bearer ${token}`), [closed, open]);
    const operator = api.authorizationOf("operator") ?? "";
    assert.deepEqual(await found(test, operator), [closed, demo, house, open]);
    assert.equal((await search(test, "q=needle", "Bearer wrong")).status, 401);
    // To go on after a project is no way to learn whether there is one.
    assert.deepEqual(await found(test, null, "q=needle&after=closed"), [open]);
    assert.deepEqual(await found(test, null, "q=needle&after=nothing"), [open]);
    const text = await (await search(test, "q=needle", null)).text();
    for (const slug of ["demo", "house", "closed"]) assert.ok(!text.includes(slug), slug);
  });
});

Deno.test("a search takes kinds, and refuses one without words or with too many", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    const page = { content: "A needle", mimetype: "text/x-markdown" };
    await answer("PUT /api/wiki/Home", { as: caller, body: page });
    await answer("POST /api/tickets", { as: caller, body: { title: "A needle" } });
    const [all] = await found(test, caller);
    assert.match(all, /^demo 2 (wiki ticket|ticket wiki)$/);
    assert.deepEqual(await found(test, caller, "q=needle&kind=wiki"), ["demo 1 wiki"]);
    assert.deepEqual(await found(test, caller, "q=nothing"), []);
    const many = Array.from({ length: 33 }, (_, index) => `w${index}`).join("+");
    for (const query of ["", "q=", `q=${many}`, "q=a&kind=other", "q=a&page=2"]) {
      const response = await search(test, query, caller);
      assert.equal(response.status, 400, query);
      await response.body?.cancel();
    }
  });
});

Deno.test("a project with more than five matches shows the best, and how many there are", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    for (let number = 0; number < 7; number++) {
      await answer("POST /api/tickets", { as: caller, body: { title: `Needle ${number}` } });
    }
    assert.deepEqual(await found(test, caller), ["demo 7 ticket ticket ticket ticket ticket"]);
  });
});
