/** Programs that want JSON are led from every page to the endpoint that has the same. */
import assert from "node:assert/strict";
import { PROJECT_ROUTES } from "../../routes/projects/table.ts";
import { ROUTES } from "../../routes/table.ts";
import { PAGES } from "../../web/table.ts";
import { BY_OPERATOR } from "../support/services.ts";
import { fillProject, withWeb } from "../support/web.ts";

/** Why a page has no JSON. */
const NONE: Readonly<Record<string, string>> = {
  "/settings": "leads to its first part",
  "/settings/configuration": "no endpoint tells the configuration",
  "/account": "is a form",
  "/oauth/authorize": "is a form",
  "/login": "is a form",
  "/enter": "takes the forms of the login",
  "/people/:name": "no endpoint tells what a person did in all projects",
  "/messages/:nick": "conversations of people are only on IRC and on the pages",
  "/projects": "answers programs itself",
  "/search": "answers programs itself",
  "/projects/new": "is a form",
  "/projects/:slug/settings": "is a form",
  "/projects/:slug/settings/:part": "is a form",
  "/projects/:slug/tickets/new": "is a form",
  "/projects/:slug/edit/:checkin": "is a form",
  "/projects/:slug/edit/:checkin/:path{[\\s\\S]+}": "is a form",
  "/projects/:slug/compare": "is a form",
  "/projects/:slug/timeline.atom": "is a feed",
  "/robots.txt": "is for robots",
};

/** The paths of all endpoints that answer GET. */
const ENDPOINTS: readonly RegExp[] = [
  ...Object.keys(ROUTES),
  ...Object.keys(PROJECT_ROUTES).map((route) => route.replace(" ", " /projects/demo/fossil")),
].filter((route) => route.startsWith("GET ")).map((route) =>
  new RegExp(`^${route.slice(4).replaceAll(/\{\w+\}/g, "[^/?]+")}(?:\\?.*)?$`)
);

Deno.test("every page leads programs to an endpoint, or has a reason not to", async () => {
  await withWeb(async ({ guest }) => {
    const accept = "application/json";
    for (const [address, load] of Object.entries(PAGES)) {
      const { page } = await load();
      const hasJson = page.json !== undefined && !Object.hasOwn(NONE, address);
      assert.ok(hasJson || Object.hasOwn(NONE, address), `${address} leads to no endpoint`);
      if (!hasJson) continue;
      const path = address.replace(":slug", "demo").replace(":range{[\\s\\S]+}", "a...b")
        .replaceAll(/:\w+(?:\{[^}]+\})?/g, "some");
      const { status, to } = await guest.get(path, { headers: { accept }, follow: false });
      assert.equal(status, 303, address);
      assert.ok(ENDPOINTS.some((endpoint) => endpoint.test(to)), `${address} leads to ${to}`);
    }
  });
});

Deno.test("the endpoint has what the page shows, and forms go to the page", async () => {
  await withWeb(async (web) => {
    const { ticket } = await fillProject(web);
    const { api, person } = web;
    await api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    const accept = "application/json";
    const cases = [
      ["/projects/demo/tickets?state=all&search=first", "The first ticket"],
      [`/projects/demo/tickets/${ticket}`, "It does **not** work"],
      ["/projects/demo/wiki/Home", "Welcome to the *demo*"],
      ["/projects/demo/workspaces", "fix-typo"],
      ["/people", '"ann"'],
      ["/halt", "[]"],
    ] as const;
    for (const [page, wanted] of cases) {
      const { to } = await web.admin.get(page, { headers: { accept }, follow: false });
      const answer = await api.send({ who: "operator", request: `GET ${to}` });
      const text = await answer.text();
      assert.equal(answer.status, 200, `${to}: ${text}`);
      assert.ok(text.includes(wanted), `${to}: ${text}`);
    }
    const form = { action: "star" };
    const posted = await person.post("/projects/demo", form, {
      headers: { accept },
      follow: false,
    });
    assert.deepEqual([posted.status, posted.to], [303, "/projects/demo"], posted.text);
  });
});
