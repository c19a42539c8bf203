import assert from "node:assert/strict";
import { projectToken, type TestProject, withProject } from "../../support/projects.ts";
import { THOROUGH } from "../../support/level.ts";

interface Shown {
  readonly review: number;
  readonly status: string;
  readonly position: number | null;
  readonly candidate: string | null;
  readonly reason: string | null;
  readonly conflicts: readonly { path: string; kind: string }[];
  readonly contexts: readonly string[];
}

/** The queue, each review once: as it stands, or as it ended last. */
async function queueOf({ answer }: Pick<TestProject, "answer">): Promise<Map<number, Shown>> {
  const { landing }: { landing: Shown[] } = await answer("GET /api/landing");
  return new Map(landing.toReversed().map((one) => [one.review, one]));
}

/** Waits until a review's landing is as it should be. */
async function landingOf(
  test: Pick<TestProject, "answer" | "api">,
  review: number,
  isReady: (landing: Shown) => boolean,
): Promise<Shown> {
  const { promise, resolve, reject } = Promise.withResolvers<Shown>();
  const look = async () => {
    const landing = (await queueOf(test)).get(review);
    if (landing !== undefined && isReady(landing)) resolve(landing);
  };
  const stop = test.api.services.database.onAppended(() => void look().catch(reject));
  try {
    await look();
    return await promise;
  } finally {
    stop();
  }
}

const isTesting = ({ status }: Shown) => status === "testing";
const isLanded = ({ status }: Shown) => status === "landed";
const isReturned = ({ status }: Shown) => status === "returned";

/** Opens and approves a review with one file; gives its number. */
async function approved(
  { answer, caller, other }: TestProject,
  { name, path = "a.txt", ticket }: { name: string; path?: string; ticket?: string },
): Promise<number> {
  await answer("POST /api/workspaces/create", { as: caller, body: { name, ticket } });
  await answer(`POST /api/workspaces/${name}/commit`, {
    as: caller,
    body: { message: name, changes: [{ path, content: `${name}\n` }] },
  });
  const body = { title: `Add ${name}`, workspace: name };
  const { id } = await answer("POST /api/reviews/create", { as: caller, body });
  await answer(`POST /api/reviews/${id}/approve`, { as: other });
  return id;
}

/** Puts a review in the queue. */
function land({ answer, caller }: TestProject, review: number) {
  return answer(`POST /api/reviews/${review}/land`, { as: caller });
}

/** Reports a check of a candidate. */
async function report({ api, answer }: TestProject, checkin: string | null, state: string) {
  const [as] = await projectToken(api, "status:write");
  await answer("POST /api/status", { as, body: { checkin, context: "ci", state } });
}

/** The newest check-in of trunk. */
async function trunkOf({ answer }: TestProject) {
  return (await answer("GET /api/timeline?branch=trunk")).checkins[0];
}

/** Makes trunk ask for the check `ci`. */
async function protect({ answer }: TestProject): Promise<void> {
  await answer("PUT /api/protection", {
    body: [{ pattern: "trunk", contexts: ["ci"], landing: "required" }],
  });
}

Deno.test("of three reviews, the first lands as tested while trunk moves, the second conflicts, and the third fails its check", async () => {
  await withProject(async (test) => {
    const { answer, api, project } = test;
    await protect(test);
    const one = await approved(test, { name: "one" });
    const two = await approved(test, { name: "two" });
    const three = await approved(test, { name: "three", path: "c.txt" });
    for (const [index, review] of [one, two, three].entries()) {
      const queued = await land(test, review);
      assert.equal(queued.id, review);
      assert.equal(queued.position, index + 1);
    }
    const first = await landingOf(test, one, isTesting);
    assert.equal((await queueOf(test)).get(two)?.status, "queued");

    // Trunk moves while the candidate is tested: its success does not count any more.
    const { repositories } = api.services.hosting;
    await repositories.files.use(project, async (repository) => {
      const tip = await repository.branchTip("trunk");
      await repository.commit({
        user: "ann",
        date: Date.parse("2026-11-20T13:00:00Z"),
        parent: tip,
        comment: "Work of another program",
        changes: [{ kind: "write", path: "b.txt", content: new TextEncoder().encode("b\n") }],
      });
    });
    await report(test, first.candidate, "success");
    await test.catchUp();
    const second = await landingOf(
      test,
      one,
      (landing) => isTesting(landing) && landing.candidate !== first.candidate,
    );
    await report(test, second.candidate, "success");
    const landed = await landingOf(test, one, isLanded);
    assert.equal(landed.candidate, second.candidate);
    assert.equal((await trunkOf(test)).uuid, second.candidate);

    const conflicting = await landingOf(test, two, isReturned);
    assert.deepEqual(conflicting.conflicts, [{ path: "a.txt", kind: "both-added" }]);

    const third = await landingOf(test, three, isTesting);
    await report(test, third.candidate, "failure");
    const failed = await landingOf(test, three, isReturned);
    assert.deepEqual(failed.contexts, ["ci"]);
    assert.match(failed.reason ?? "", /ci/);

    assert.equal((await trunkOf(test)).uuid, second.candidate);
    const review = await answer(`GET /api/reviews/${one}`);
    assert.deepEqual([review.status, review.merged_as], ["merged", second.candidate]);
    assert.equal((await answer("GET /api/workspaces/one")).status, "merged");
    const { branches } = await answer("GET /api/branches");
    const open = branches.filter(({ status }: { status: string }) => status === "open")
      .map(({ name }: { name: string }) => name).sort();
    assert.deepEqual(open, ["trunk", "workspace/three", "workspace/two"]);
    const { events } = await api.services.eventLog.read({ after: 0, types: ["project.landing"] });
    const told = events.filter(({ data }) => data["review"] === one)
      .map(({ data }) => data["status"]);
    assert.deepEqual(told, ["queued", "testing", "testing", "landed"]);
  });
});

Deno.test("without required checks, a review lands at once; with a rule, a merge past the queue is refused", async () => {
  await withProject(async (test) => {
    const { send, answer, caller } = test;
    const one = await approved(test, { name: "one" });
    await land(test, one);
    const landed = await landingOf(test, one, isLanded);
    assert.equal((await trunkOf(test)).uuid, landed.candidate);

    await protect(test);
    const two = await approved(test, { name: "two", path: "b.txt" });
    for (const request of [`POST /api/reviews/${two}/merge`, "POST /api/workspaces/two/merge"]) {
      assert.equal((await send(request, { as: caller })).status, 403, request);
    }
    assert.equal((await answer(`GET /api/reviews/${two}`)).status, "approved");
  });
});

Deno.test("a review that is not approved, or no longer approved, does not land", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    await protect(test);
    const one = await approved(test, { name: "one" });
    await answer(`POST /api/reviews/${one}/request-changes`, { as: other });
    assert.equal((await send(`POST /api/reviews/${one}/land`, { as: caller })).status, 409);

    await answer(`POST /api/reviews/${one}/approve`, { as: other });
    await land(test, one);
    assert.equal((await land(test, one)).position, 1);
    const { candidate } = await landingOf(test, one, isTesting);
    await answer("POST /api/workspaces/one/commit", {
      as: caller,
      body: { message: "More", changes: [{ path: "evil.txt", content: "evil\n" }] },
    });
    await report(test, candidate, "success");
    const returned = await landingOf(test, one, isReturned);
    assert.equal(returned.reason, "The workspace has a newer check-in");
    assert.notEqual((await trunkOf(test)).uuid, candidate);

    const text = { as: caller, body: { title: "Text", diff: "x" } };
    const { id } = await answer("POST /api/reviews/create", text);
    assert.equal((await send(`POST /api/reviews/${id}/land`, { as: caller })).status, 409);
  });
});

Deno.test("only its author can take a review out of the queue, under the claim of today", async () => {
  await withProject(async (test) => {
    const { send, answer, caller, other } = test;
    await protect(test);
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "One" } });
    for (const step of ["claim", "release", "claim"]) {
      await answer(`POST /api/tickets/${uuid}/${step}`, { as: caller, body: {} });
    }
    const one = await approved(test, { name: "one", ticket: uuid });
    await land(test, one);
    const path = `/api/reviews/${one}/land`;
    assert.equal((await send(`DELETE ${path}`, { as: other })).status, 403);
    const outdated = await send(`DELETE ${path}`, { as: caller, body: { generation: 1 } });
    assert.equal(outdated.status, 409, await outdated.text());
    assert.equal((await send(`POST /api/reviews/${one}/merge`, {})).status, 409);
    assert.equal((await answer(`DELETE ${path}`, { as: caller })).status, "returned");
    assert.equal((await send(`DELETE ${path}`, { as: caller })).status, 404);
    assert.equal((await queueOf(test)).get(one)?.status, "returned");
  });
});

Deno.test("a check that does not end in time returns the review", async () => {
  await withProject(async (test) => {
    await protect(test);
    const one = await approved(test, { name: "one" });
    await land(test, one);
    const { candidate } = await landingOf(test, one, isTesting);
    await report(test, candidate, "pending");
    const returned = landingOf(test, one, isReturned);
    test.api.services.clock.advance(3600_000);
    assert.deepEqual((await returned).contexts, ["ci"]);
  });
});

Deno.test("a project's own depth and time limit hold in its queue, from the next step on", async () => {
  await withProject(async (test) => {
    await protect(test);
    const one = await approved(test, { name: "one" });
    const two = await approved(test, { name: "two", path: "b.txt" });
    for (const review of [one, two]) await land(test, review);
    await landingOf(test, one, isTesting);
    assert.equal((await queueOf(test)).get(two)?.status, "queued");
    const landing = { depth: 2, timeout_seconds: 60 };
    await test.api.answer("PATCH /v1/projects/demo", { landing });
    await landingOf(test, two, isTesting);
    const returned = landingOf(test, one, isReturned);
    test.api.services.clock.advance(60_000);
    assert.deepEqual((await returned).contexts, ["ci"]);
  });
});

Deno.test("with look-ahead, a candidate contains the one before it, and is rebuilt if that one fails", async () => {
  await withProject(async (test) => {
    await protect(test);
    const one = await approved(test, { name: "one" });
    const two = await approved(test, { name: "two", path: "b.txt" });
    const three = await approved(test, { name: "three", path: "c.txt" });
    for (const review of [one, two, three]) await land(test, review);
    const first = await landingOf(test, one, isTesting);
    const ahead = await landingOf(test, two, isTesting);
    assert.equal((await queueOf(test)).get(three)?.status, "queued");

    await report(test, ahead.candidate, "success");
    await report(test, first.candidate, "failure");
    await landingOf(test, one, isReturned);
    const again = await landingOf(
      test,
      two,
      (landing) => isTesting(landing) && landing.candidate !== ahead.candidate,
    );
    const last = await landingOf(test, three, isTesting);
    await report(test, last.candidate, "success");
    await report(test, again.candidate, "success");
    await landingOf(test, three, isLanded);
    const trunk = await trunkOf(test);
    assert.equal(trunk.uuid, last.candidate);
    assert.equal(trunk.parents[0], again.candidate);
  }, { config: { projects: { landing: { depth: 2 } } } });
});

Deno.test("work whose ticket has gone to another agent does not land", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    await protect(test);
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "Crash" } });
    await answer(`POST /api/tickets/${uuid}/claim`, { as: caller, body: {} });
    const one = await approved(test, { name: "one", ticket: uuid });
    await land(test, one);
    const { candidate } = await landingOf(test, one, isTesting);
    await answer(`POST /api/tickets/${uuid}/release`, { as: caller, body: {} });
    await answer(`POST /api/tickets/${uuid}/claim`, { as: other, body: {} });
    await report(test, candidate, "success");
    const { reason } = await landingOf(test, one, isReturned);
    assert.match(reason ?? "", /"other" holds the claim/);
    assert.notEqual((await trunkOf(test)).uuid, candidate);
    assert.equal((await send(`POST /api/reviews/${one}/land`, { as: caller })).status, 409);
  });
});

Deno.test("a review with a conflict is not queued again until its workspace or its target changes", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    const [one, two] = [
      await approved(test, { name: "one" }),
      await approved(test, { name: "two" }),
    ];
    await land(test, one);
    await landingOf(test, one, isLanded);
    await land(test, two);
    const { conflicts } = await landingOf(test, two, isReturned);
    const again = await send(`POST /api/reviews/${two}/land`, { as: caller });
    assert.equal(again.status, 409);
    const refusal = await again.json();
    assert.deepEqual(refusal.conflicts, conflicts);
    assert.match(refusal.error, /came back with conflicts, and neither its workspace nor "trunk"/);
    const { landing } = await answer("GET /api/landing");
    assert.equal(landing.length, 2);

    const three = await approved(test, { name: "three", path: "b.txt" });
    await answer(`POST /api/reviews/${three}/land`, { as: other });
    await landingOf(test, three, isLanded);
    assert.equal((await send(`POST /api/reviews/${two}/land`, { as: caller })).status, 202);
  });
});

Deno.test("a landing that is tested shows the checks for which it waits, with their states", async () => {
  await withProject(async (test) => {
    const { answer } = test;
    const contexts = ["ci", "lint"];
    await answer("PUT /api/protection", {
      body: [{ pattern: "trunk", contexts, landing: "required" }],
    });
    const one = await approved(test, { name: "one" });
    await land(test, one);
    const { candidate } = await landingOf(test, one, isTesting);
    const shown = async () => {
      const { landing: [first] } = await answer("GET /api/landing");
      return { contexts: first.contexts, checks: first.checks };
    };
    const pending = { state: "pending", reporter: null, uncounted: [], reporters: [] };
    assert.deepEqual(await shown(), {
      contexts,
      checks: contexts.map((context) => Object.assign({ context }, pending)),
    });
    await report(test, candidate, "success");
    assert.deepEqual(await shown(), {
      contexts: ["lint"],
      checks: [
        { context: "ci", state: "success", reporter: "token:ci", uncounted: [], reporters: [] },
        Object.assign({ context: "lint" }, pending),
      ],
    });
  });
});

Deno.test("the landing queue waits while agents are halted, and its time limit begins anew", async () => {
  await withProject(async (test) => {
    const { api } = test;
    await protect(test);
    const one = await approved(test, { name: "one" });
    await land(test, one);
    const { candidate } = await landingOf(test, one, isTesting);
    await api.answer("POST /v1/halt", {});
    await report(test, candidate, "success");
    api.services.clock.advance(2 * 3_600_000);
    await test.catchUp();
    assert.equal((await queueOf(test)).get(one)?.status, "testing");
    await api.answer("DELETE /v1/halt");
    const landed = await landingOf(test, one, isLanded);
    assert.equal((await trunkOf(test)).uuid, landed.candidate);
  });
});

/** Somebody asks for a landing and then loses the right, seen in the reason of its return. */
interface LostRight {
  readonly what: string;
  /** Who asks: the value of `Authorization`, and what `agent_id` it names. */
  ask(test: TestProject): Promise<{ readonly as: string | undefined; readonly named?: string }>;
  lose(test: TestProject): Promise<unknown>;
  readonly reason: RegExp;
}

/** Sends a request of the operator, which must succeed; gives its JSON, or null. */
async function operate({ api }: Pick<TestProject, "api">, request: string, body?: unknown) {
  const response = await api.send(body === undefined ? { request } : { request, body });
  const text = await response.text();
  assert.ok(response.ok, `${request}\n${text}`);
  return text === "" ? null : JSON.parse(text);
}

/** A new token of an agent; gives its value for `Authorization`. */
async function tokenOf(test: TestProject, owner: string, scopes = ["read", "write"]) {
  const request = { owner, name: `${owner}-2`, scopes };
  const { token } = await operate(test, "POST /v1/tokens", request);
  return `Bearer ${token}`;
}

/** The id of the newest token with a name. */
async function idOfToken(test: TestProject, name: string): Promise<string> {
  const tokens: { id: string; name: string }[] = await operate(test, "GET /v1/tokens");
  return tokens.find((one) => one.name === name)?.id ?? "";
}

const member = (name: string, role: string) => (test: TestProject) =>
  operate(test, `PUT /v1/projects/demo/members/${name}`, { role });

const LOST_RIGHTS: readonly LostRight[] = [
  {
    what: "its membership",
    ask: ({ caller }) => Promise.resolve({ as: caller }),
    lose: (test) => operate(test, "DELETE /v1/projects/demo/members/caller"),
    reason: /"caller" asked for it, and may no longer merge: Only members with the role write/,
  },
  {
    what: "the role that may write",
    ask: ({ caller }) => Promise.resolve({ as: caller }),
    lose: member("caller", "read"),
    reason: /"caller" asked for it, and may no longer merge: Only members with the role write/,
  },
  {
    what: "its account, which is revoked",
    ask: ({ caller }) => Promise.resolve({ as: caller }),
    lose: (test) => operate(test, "POST /v1/agents/caller/revoke"),
    reason: /"caller" asked for it, and its account has ended/,
  },
  {
    what: "its account, which is removed",
    ask: ({ caller }) => Promise.resolve({ as: caller }),
    lose: (test) => operate(test, "DELETE /v1/agents/caller"),
    reason: /"caller" asked for it, and its account has ended/,
  },
  {
    what: "the token of a project",
    ask: async ({ api }) => ({ as: (await projectToken(api, "write"))[0] }),
    lose: async (test) => operate(test, `DELETE /v1/tokens/${await idOfToken(test, "ci")}`),
    reason: /"token:ci" asked for it, and its token has ended/,
  },
  {
    what: "the token of an agent",
    ask: async (test) => ({ as: await tokenOf(test, "other") }),
    lose: async (test) => operate(test, `DELETE /v1/tokens/${await idOfToken(test, "other-2")}`),
    reason: /"other" asked for it, and its token has ended/,
  },
  {
    what: "the role admin, with which it named somebody without an account",
    ask: async (test) => {
      await member("other", "admin")(test);
      return { as: await tokenOf(test, "other", ["admin"]), named: "build-9" };
    },
    lose: (test) => operate(test, "DELETE /v1/projects/demo/members/other"),
    reason: /"other" asked for it, and may no longer merge: Only members with the role write/,
  },
  {
    what: "nothing, but who was named by the operator is revoked",
    ask: () => Promise.resolve({ as: undefined, named: "caller" }),
    lose: (test) => operate(test, "POST /v1/agents/caller/revoke"),
    reason: /It was asked for in the name of "caller", whose account has ended/,
  },
];

Deno.test(
  "a landing asked for by somebody who may no longer merge comes back at once, and the next goes on",
  THOROUGH,
  async (step) => {
    for (const { what, ask, lose, reason } of LOST_RIGHTS) {
      await step.step(`who lost ${what}`, async () => {
        await withProject(async (test) => {
          const { answer, api } = test;
          const before = await trunkOf(test);
          await protect(test);
          const one = await approved(test, { name: "one" });
          const two = await approved(test, { name: "two", path: "b.txt" });
          const { as, named } = await ask(test);
          const body = named === undefined ? {} : { agent_id: named };
          const asked = as === undefined ? { body } : { as, body };
          await answer(`POST /api/reviews/${one}/land`, asked);
          await answer(`POST /api/reviews/${two}/land`, {});
          const { candidate } = await landingOf(test, one, isTesting);
          await lose(test);
          const returned = await landingOf(test, one, isReturned);
          assert.match(returned.reason ?? "", reason);
          await report(test, candidate, "success");
          const next = await landingOf(test, two, isTesting);
          await report(test, next.candidate, "success");
          await landingOf(test, two, isLanded);
          const trunk = await trunkOf(test);
          assert.deepEqual([trunk.uuid, trunk.parents[0]], [next.candidate, before.uuid]);
          const { events } = await api.services.eventLog.read({
            after: 0,
            types: ["project.landing"],
          });
          const told = events.filter(({ data }) => data["review"] === one).at(-1)?.data;
          assert.deepEqual([told?.["status"], told?.["reason"]], ["returned", returned.reason]);
        });
      });
    }
  },
);

Deno.test("what others lose, and whom the operator names, keep no landing from its branch", async () => {
  await withProject(async (test) => {
    const { answer } = test;
    await protect(test);
    const one = await approved(test, { name: "one" });
    const two = await approved(test, { name: "two", path: "b.txt" });
    await answer(`POST /api/reviews/${one}/land`, { body: { agent_id: "stranger-1" } });
    await answer(`POST /api/reviews/${two}/land`, { body: { agent_id: "no-account" } });
    await operate(test, "DELETE /v1/projects/demo/members/other");
    await member("caller", "read")(test);
    for (const review of [one, two]) {
      const { candidate } = await landingOf(test, review, isTesting);
      await report(test, candidate, "success");
      await landingOf(test, review, isLanded);
    }
  });
});

Deno.test("a landing that an admin asked for past a rule comes back once that admin only writes", async () => {
  await withProject(async (test) => {
    const { answer } = test;
    await member("other", "admin")(test);
    const admin = await tokenOf(test, "other", ["admin"]);
    await answer("PUT /api/protection", {
      body: [{ pattern: "trunk", contexts: ["ci"], merge: "admin" }],
    });
    const one = await approved(test, { name: "one" });
    await answer(`POST /api/reviews/${one}/land`, { as: admin });
    await landingOf(test, one, isTesting);
    await member("other", "write")(test);
    const { reason } = await landingOf(test, one, isReturned);
    assert.match(reason ?? "", /^Branch 'trunk' is protected: /);
  });
});

Deno.test("a landing for which its project has no more room comes back and says so, and the next one too", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    await protect(test);
    const one = await approved(test, { name: "one" });
    const two = await approved(test, { name: "two", path: "b.txt" });
    for (const review of [one, two]) await land(test, review);
    const { candidate } = await landingOf(test, one, isTesting);
    await answer("POST /api/workspaces/create", { as: caller, body: { name: "full" } });
    const changes = Array.from({ length: 6 }, (_, index) => {
      const bytes = crypto.getRandomValues(new Uint8Array(60_000));
      return { path: `${index}.bin`, content_base64: btoa(String.fromCharCode(...bytes)) };
    });
    await answer("POST /api/workspaces/full/commit", {
      as: caller,
      body: { message: "Fill", changes },
    });
    await report(test, candidate, "success");
    for (const review of [one, two]) {
      const { reason } = await landingOf(test, review, isReturned);
      assert.match(
        reason ?? "",
        /^The project "demo" has \d+ bytes of \d+ \(limits\.project_bytes\)/,
      );
    }
  }, { config: { limits: { project_bytes: 450_000 } } });
});
