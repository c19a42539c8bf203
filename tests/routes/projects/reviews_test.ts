import assert from "node:assert/strict";
import { type TestProject, withProject } from "../../support/projects.ts";
import { RequestCost } from "../../support/request_cost.ts";

/** Commits a file to a workspace; gives the check-in. */
async function commit(
  { answer, caller }: TestProject,
  name: string,
  content: string,
  path = "a.txt",
): Promise<string> {
  const body = { message: `Write ${path}`, changes: [{ path, content }] };
  const { uuid } = await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body });
  return uuid;
}

/** Opens a review of a workspace of `caller` with one file; gives its tip. */
async function aReview(test: TestProject, name = "fix", content = "a\n"): Promise<string> {
  const { answer, caller } = test;
  await answer("POST /api/workspaces/create", { as: caller, body: { name } });
  const tip = await commit(test, name, content);
  const body = { title: "Fix", workspace: name };
  await answer("POST /api/reviews/create", { as: caller, body });
  return tip;
}

/** The status and the error of a request that must fail. */
async function refusal(response: Response): Promise<[number, string]> {
  return [response.status, (await response.json()).error];
}

Deno.test("a review with its own diff is listed, shown, commented on, judged and merged", async () => {
  await withProject(async ({ answer, send, caller, other }) => {
    const body = { title: "Fix", description: "Why", diff: "--- a\n+++ b\n", files_changed: ["a"] };
    const created = await answer("POST /api/reviews/create", { as: caller, body });
    assert.equal(created.id, 1);
    assert.equal(created.status, "pending");
    assert.equal(created.agent_id, "caller");
    assert.deepEqual(created.files_changed, ["a"]);

    const comment = await answer("POST /api/reviews/1/comment", {
      as: other,
      body: { body: "Hm", file_path: "a", line_number: 4 },
    });
    assert.deepEqual(
      [comment.id, comment.author, comment.side, comment.round, comment.line_number],
      [1, "other", "new", 1, 4],
    );
    await answer("POST /api/reviews/1/request-changes", { as: other, body: { comment: "No" } });
    assert.equal((await answer("GET /api/reviews?status=changes_requested")).total, 1);
    assert.equal((await answer("GET /api/reviews?status=merged")).total, 0);
    const totals = ["state=open", "state=closed", "author=caller", "author=other", "author=me"]
      .map(async (query) => (await answer(`GET /api/reviews?${query}`, { as: caller })).total);
    assert.deepEqual(await Promise.all(totals), [1, 0, 1, 0, 1]);
    const ticket = "0".repeat(40);
    assert.equal((await answer(`GET /api/reviews?ticket=${ticket}`)).total, 0);
    assert.equal((await answer("GET /api/reviews?workspace=fix")).total, 0);
    assert.equal((await send("GET /api/reviews?ticket=1234")).status, 400);
    assert.deepEqual(
      await refusal(await send("POST /api/reviews/1/merge", { as: caller })),
      [409, "Review must be approved before merging: it has 0 of 1 approval"],
    );
    const approved = await answer("POST /api/reviews/1/approve", { as: other });
    assert.deepEqual(approved, { id: 1, status: "approved", title: "Fix", round: 1 });
    const one = await answer("GET /api/reviews/1", { as: caller });
    assert.equal(one.diff, body.diff);
    assert.deepEqual(one.comments.map(({ body }: { body: string }) => body), ["Hm", "No"]);
    assert.deepEqual(one.approvals, { any: 1, people: 0, required: { any: 1, people: 0 } });

    const merged = await answer("POST /api/reviews/1/merge", { as: caller });
    assert.equal(merged.status, "merged");
    assert.equal(merged.title, "Fix");
    for (const action of ["approve", "request-changes", "merge", "close"]) {
      assert.deepEqual(
        await refusal(await send(`POST /api/reviews/1/${action}`, { as: other })),
        [409, "Review is already merged"],
      );
    }
    await answer("POST /api/reviews/1/comment", { as: other, body: { body: "Thanks" } });
  });
});

Deno.test("refusals of reviews use the contract's words", async () => {
  await withProject(async ({ answer, send, caller, other }) => {
    const create = (body: unknown) => send("POST /api/reviews/create", { as: caller, body });
    assert.deepEqual(await refusal(await create({ title: " ", diff: "x" })), [
      400,
      "Review title is required",
    ]);
    assert.deepEqual(await refusal(await create({ title: "Fix", diff: " " })), [
      400,
      'Diff is required: send "workspace" for the changes of a workspace, or "diff"',
    ]);
    assert.equal((await create({ title: "x".repeat(301), diff: "x" })).status, 400);
    assert.equal((await create([])).status, 400);
    assert.equal((await create({ title: "Fix", workspace: "nothing" })).status, 404);
    assert.equal((await create({ title: "Fix", diff: "x", ticket_uuid: "abcd" })).status, 404);
    for (const id of ["7", "x", "0", "99999999999999"]) {
      assert.deepEqual(await refusal(await send(`GET /api/reviews/${id}`)), [
        404,
        "Review not found",
      ]);
    }
    await answer("POST /api/reviews/create", { as: caller, body: { title: "Fix", diff: "x" } });
    const comment = { as: other, body: { body: " " } };
    assert.deepEqual(await refusal(await send("POST /api/reviews/1/comment", comment)), [
      400,
      "Comment body is required",
    ]);
    assert.equal((await send("GET /api/reviews?status=odd")).status, 400);
  });
});

Deno.test("nobody approves their own review, under whatever name", async () => {
  await withProject(async (test) => {
    const { send, answer, caller, other } = test;
    await aReview(test);
    const approve = (as: string | undefined, body: unknown = {}) =>
      send("POST /api/reviews/1/approve", { ...as === undefined ? {} : { as }, body });
    const own = [403, "Cannot approve your own review"];
    assert.deepEqual(await refusal(await approve(caller)), own);
    assert.equal((await approve(caller, { agent_id: "other" })).status, 403);
    assert.equal((await approve(other, { agent_id: "caller" })).status, 403);
    assert.deepEqual(await refusal(await approve(undefined, { agent_id: "Caller" })), own);
    // A review that the operator opens of another's workspace is the owner's work all the same.
    await answer("POST /api/reviews/1/close", { as: caller });
    await answer("POST /api/reviews/create", { body: { title: "Fix", workspace: "fix" } });
    assert.deepEqual(
      await refusal(await send("POST /api/reviews/2/approve", { as: caller, body: {} })),
      own,
    );
    assert.deepEqual(
      await refusal(await send("POST /api/reviews/2/approve", { body: {} })),
      own,
    );
    const { status } = await answer("POST /api/reviews/2/approve", { as: other });
    assert.equal(status, "approved");
  });
});

Deno.test("a review of a workspace has the diff that the server computed, and merges its tip", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other, api } = test;
    const tip = await aReview(test);
    const review = await answer("GET /api/reviews/1", { as: other });
    assert.deepEqual(review.files_changed, ["a.txt"]);
    assert.match(review.diff, /^\+a$/m);
    assert.equal(review.tip, tip);
    assert.equal(review.workspace, "fix");
    await answer("POST /api/reviews/1/approve", { as: other });
    const merged = await answer("POST /api/reviews/1/merge", { as: caller });
    assert.deepEqual([merged.id, merged.status, merged.title], [1, "merged", "Fix"]);
    const { checkins } = await answer("GET /api/timeline?branch=trunk", { as: caller });
    assert.equal(checkins[0].uuid, merged.checkin);
    assert.deepEqual(checkins[0].parents.slice(1), [tip]);
    assert.equal((await answer("GET /api/workspaces/fix")).status, "merged");
    assert.equal((await answer("GET /api/reviews/1")).merged_as, merged.checkin);
    assert.equal((await send("POST /api/reviews/1/merge", { as: caller })).status, 409);
    const { events } = await api.services.eventLog.read({ after: 0, types: ["project.review"] });
    const told = events.map(({ data: { action, agent_id, agent, by } }) => [
      action,
      agent_id,
      agent,
      by,
    ]);
    assert.deepEqual(told, [
      ["created", "caller", "caller", "caller"],
      ["approved", "caller", "caller", "other"],
      ["merged", "caller", "caller", "caller"],
    ]);
  });
});

Deno.test("the workspace's own merge marks its approved review, and refuses an unapproved one", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    await aReview(test);
    assert.deepEqual(
      await refusal(await send("POST /api/workspaces/fix/merge", { as: caller })),
      [403, "Linked code review is 'pending', must be approved before merging"],
    );
    await answer("POST /api/reviews/1/approve", { as: other });
    await answer("POST /api/workspaces/fix/merge", { as: caller });
    assert.equal((await answer("GET /api/reviews/1")).status, "merged");
  });
});

Deno.test("a new commit begins the next round, withdraws the approval, and is never merged unreviewed", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    const first = await aReview(test);
    await answer("POST /api/reviews/1/approve", { as: other });
    const second = await commit(test, "fix", "a\nb\n");
    const review = await answer("GET /api/reviews/1", { as: other });
    assert.equal(review.status, "pending");
    assert.equal(review.round, 2);
    assert.deepEqual(review.verdicts, []);
    assert.deepEqual(review.rounds.map(({ tip }: { tip: string }) => tip), [first, second]);
    for (const request of ["POST /api/reviews/1/merge", "POST /api/workspaces/fix/merge"]) {
      assert.notEqual((await send(request, { as: caller })).status, 200, request);
    }
    assert.equal(
      (await send("POST /api/reviews/1/approve", { as: other, body: { round: 1 } })).status,
      409,
    );
    const since = await answer("GET /api/reviews/1/diff", { as: other });
    assert.deepEqual([since.from.round, since.to.round], [1, 2]);
    assert.match(since.diff, /^\+b$/m);
    assert.doesNotMatch(since.diff, /^\+a$/m);
    const whole = await answer("GET /api/reviews/1/diff?from=0&to=1", { as: other });
    assert.match(whole.diff, /^\+a$/m);
    assert.equal((await send("GET /api/reviews/1/diff?to=3", { as: other })).status, 404);
    await answer("POST /api/reviews/1/approve", { as: other, body: { round: 2 } });
    assert.equal((await answer("POST /api/reviews/1/merge", { as: caller })).status, "merged");
  });
});

Deno.test("of a concurrent commit and merge, only the approved check-in is merged", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    for (let turn = 1; turn <= 8; turn++) {
      const name = `race-${turn}`;
      const tip = await aReview(test, name, `${turn}\n`);
      await answer(`POST /api/reviews/${turn}/approve`, { as: other });
      const [merge] = await Promise.all([
        send(`POST /api/reviews/${turn}/merge`, { as: caller }),
        send(`POST /api/workspaces/${name}/commit`, {
          as: caller,
          body: { message: "Sneak in", changes: [{ path: "evil.txt", content: "evil\n" }] },
        }),
      ]);
      const { checkin } = await merge.json();
      if (merge.status !== 200) continue;
      const { checkins } = await answer("GET /api/timeline?branch=trunk");
      assert.equal(checkins[0].uuid, checkin);
      assert.ok(checkins[0].parents.includes(tip));
    }
    const { checkins } = await answer("GET /api/timeline?branch=trunk");
    const { services } = test.api;
    const { entries } = await services.hosting.repositories.read(
      test.project,
      (repository) => repository.tree({ checkin: checkins[0].uuid }),
    );
    assert.ok(!entries.some(({ name }) => name === "evil.txt"));
  });
});

Deno.test("a comment stays with its round, and is shown where its line survives", async () => {
  await withProject(async (test) => {
    const { answer, other, send } = test;
    await aReview(test, "fix", "one\ntwo\nthree\n");
    const beyond = { body: "Where?", file_path: "a.txt", line_number: 4 };
    assert.deepEqual(
      await refusal(await send("POST /api/reviews/1/comment", { as: other, body: beyond })),
      [400, '"line_number": "a.txt" ends at line 3 on the side "new"'],
    );
    for (const line_number of [2, 3]) {
      const body = { body: `On ${line_number}`, file_path: "a.txt", line_number };
      await answer("POST /api/reviews/1/comment", { as: other, body });
    }
    await commit(test, "fix", "zero\none\ntwo\nTHREE\n");
    const { comments } = await answer("GET /api/reviews/1", { as: other });
    const shown = comments.map((
      { round, line_number, current }: {
        round: number;
        line_number: number;
        current: { line_number: number } | null;
      },
    ) => [round, line_number, current?.line_number ?? null]);
    assert.deepEqual(shown, [[1, 2, 3], [1, 3, null]]);
  });
});

Deno.test("a rule can ask for the approval of a person", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    await answer("PUT /api/protection", {
      body: [{ pattern: "trunk", approvals: { people: 1 } }],
    });
    await aReview(test);
    const byAgent = await answer("POST /api/reviews/1/approve", { as: other });
    assert.deepEqual(
      [byAgent.status, byAgent.reason],
      ["pending", "It has 1 of 1 approval, 0 of 1 by people"],
    );
    assert.equal((await send("POST /api/reviews/1/merge", { as: caller })).status, 409);
    const byPerson = await answer("POST /api/reviews/1/approve", { body: { agent_id: "admin" } });
    assert.deepEqual([byPerson.status, byPerson.reason], ["approved", undefined]);
    assert.equal((await answer("POST /api/reviews/1/merge", { as: caller })).status, "merged");
  });
});

Deno.test("an abandoned workspace closes its review; only one review of a workspace is open", async () => {
  await withProject(async (test) => {
    const { answer, send, caller } = test;
    await aReview(test);
    const again = { as: caller, body: { title: "Again", workspace: "fix" } };
    assert.equal((await send("POST /api/reviews/create", again)).status, 409);
    await answer("DELETE /api/workspaces/fix/abandon", { as: caller });
    assert.equal((await answer("GET /api/reviews/1")).status, "closed");
    assert.equal((await send("POST /api/reviews/create", again)).status, 409);
  });
});

Deno.test("a conflict with the target branch is 409 with paths and kinds, and merges nothing", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    await aReview(test, "one", "1\n");
    await aReview(test, "two", "2\n");
    for (const id of [1, 2]) await answer(`POST /api/reviews/${id}/approve`, { as: other });
    await answer("POST /api/reviews/1/merge", { as: caller });
    const response = await send("POST /api/reviews/2/merge", { as: caller });
    assert.equal(response.status, 409);
    const [{ path, kind, hunks }, ...others] = (await response.json()).conflicts;
    assert.deepEqual([path, kind, others], ["a.txt", "both-added", []]);
    const [{ ours, theirs }] = hunks;
    assert.deepEqual([ours, theirs], ["1\n", "2\n"]);
    assert.equal((await answer("GET /api/reviews/2")).status, "approved");
    assert.equal((await answer("GET /api/workspaces/two")).status, "active");
  });
});

Deno.test("a list of reviews of any length costs the same few queries", async () => {
  await withProject(async ({ answer, caller, api }) => {
    const cost = new RequestCost(api.services);
    const counted = () => cost.of(() => answer("GET /api/reviews?per_page=100", { as: caller }));
    const create = () =>
      answer("POST /api/reviews/create", { as: caller, body: { title: "Fix", diff: "x" } });
    await create();
    const one = await counted();
    assert.ok(one > 0);
    for (let more = 0; more < 20; more++) await create();
    assert.equal(await counted(), one);
  });
});

Deno.test("a submitted claim opens a review of its workspace, and the merge ends the claim as merged", async () => {
  await withProject(async (test) => {
    const { answer, caller, other, api, project } = test;
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "Crash" } });
    await answer(`POST /api/tickets/${uuid}/claim`, { as: caller, body: {} });
    await answer("POST /api/workspaces/create", {
      as: caller,
      body: { name: "fix" },
    });
    await commit(test, "fix", "a\n");
    const submitted = await answer(`POST /api/tickets/${uuid}/submit`, {
      as: caller,
      body: { summary: "Fixed", workspace: "fix" },
    });
    assert.equal(submitted.review, 1);
    const review = await answer("GET /api/reviews/1", { as: other });
    assert.deepEqual(
      [review.title, review.description, review.ticket_uuid, review.agent_id],
      ["Crash", "Fixed", uuid, "caller"],
    );
    await answer("POST /api/reviews/1/request-changes", { as: other });
    await commit(test, "fix", "b\n");
    await answer("POST /api/reviews/1/approve", { as: other });
    await answer("POST /api/reviews/1/merge", { as: other });
    const claim = await api.services.hosting.claims.newest(project, uuid);
    assert.equal(claim?.outcome, "merged");
  });
});

Deno.test("the old holder of a ticket cannot open a review of its workspace", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "Crash" } });
    await answer(`POST /api/tickets/${uuid}/claim`, { as: caller, body: {} });
    await answer("POST /api/workspaces/create", {
      as: caller,
      body: { name: "fix", ticket: uuid },
    });
    await commit(test, "fix", "a\n");
    await answer(`POST /api/tickets/${uuid}/release`, { as: caller, body: {} });
    await answer(`POST /api/tickets/${uuid}/claim`, { as: other, body: {} });
    const response = await send("POST /api/reviews/create", {
      as: caller,
      body: { title: "Fix", workspace: "fix" },
    });
    assert.equal(response.status, 409);
    assert.equal((await response.json()).claimed_by, "other");
    assert.deepEqual(
      await refusal(
        await send("POST /api/reviews/create", {
          as: caller,
          body: { title: "Fix", diff: "x", ticket_uuid: uuid },
        }),
      ),
      [403, "Cannot create a review for a ticket claimed by another agent"],
    );
  });
});

Deno.test("the comments of a review have a bound together, and leave the others room", async () => {
  await withProject(async (test) => {
    const { send, caller, other } = test;
    await aReview(test);
    const say = (as: string, length: number) =>
      send("POST /api/reviews/1/comment", { as, body: { body: "x".repeat(length) } });
    for (let i = 0; i < 35; i++) {
      const { status, body } = await say(other, 60_000);
      await body?.cancel();
      assert.equal(status, 201);
    }
    const [status, error] = await refusal(await say(other, 1));
    assert.equal(status, 409);
    assert.match(error, /^The comments of one author on a review have at most 2097152 characters$/);
    const answered = await say(caller, 60_000);
    await answered.body?.cancel();
    assert.equal(answered.status, 201);
  });
});
