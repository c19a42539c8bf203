import assert from "node:assert/strict";
import { commitFiles } from "../../support/projects.ts";
import { withTools } from "./support.ts";

const MAIN = "int main(void) {\n  return 0;\n}\n";

Deno.test("an agent's day: find, claim, commit, submit, be reviewed, land", async () => {
  await withTools(async (test) => {
    await commitFiles(test, { "src/main.c": MAIN, "old.txt": "old\n" });
    const { data: made } = await test.use("create_ticket", {
      title: "Return 1",
      body: "The program must fail.",
    }, test.other);
    assert.deepEqual([made.success, made.status, made.type], [true, "Open", "Code_Defect"]);

    const { data: free } = await test.use("list_tickets", { unclaimed: true });
    assert.deepEqual(free.tickets.map(({ uuid }: { uuid: string }) => uuid), [made.uuid]);
    assert.equal((await test.use("get_my_work")).data.unclaimed[0].tickets, 1);
    const { data: claim } = await test.use("claim_ticket", { uuid: made.uuid });
    assert.deepEqual([claim.agent, claim.generation], ["caller", 1]);
    assert.match((await test.use("claim_ticket", { uuid: made.uuid })).data.message, /Already/);

    const { data: workspace } = await test.use("create_workspace", {
      name: "fail",
      description: "Return 1",
      ticket: made.uuid,
    });
    assert.equal(workspace.branch, "workspace/fail");
    const { data: commit } = await test.use("commit_files", {
      workspace: "fail",
      message: "Return 1",
      changes: [{ path: "new.txt", content: "new\n" }, { path: "old.txt", delete: true }],
      edits: [{ path: "src/main.c", old_text: "return 0;", new_text: "return 1;" }],
      generation: claim.generation,
    });
    assert.deepEqual(commit.files.toSorted(), ["new.txt", "old.txt", "src/main.c"]);
    const { data: diff } = await test.use("get_diff", { workspace: "fail" });
    assert.deepEqual([diff.total, diff.added, diff.deleted], [3, 2, 2]);
    const { data: shown } = await test.use("get_workspace", { name: "fail" });
    assert.deepEqual([shown.files_changed, shown.tip, shown.overlaps], [3, commit.uuid, []]);
    const status = { checkin: commit.uuid, context: "ci/test", state: "success" };
    assert.equal((await test.use("report_ci_status", status)).data.created, true);
    const { data: checks } = await test.use("get_ci_status", { checkin: "workspace/fail" });
    assert.deepEqual([checks.state, checks.checks.length], ["passing", 1]);

    const { data: submitted } = await test.use("submit_work", {
      uuid: made.uuid,
      summary: "It fails now",
      workspace: "fail",
    });
    assert.equal(submitted.status, "submitted");
    const { data: mine } = await test.use("get_my_work");
    assert.equal(mine.you, "caller");
    assert.deepEqual(mine.claims, []);
    assert.equal(mine.workspaces[0].name, "fail");
    assert.equal(mine.reviews[0].id, submitted.review);

    const id = submitted.review;
    const { data: awaited } = await test.use("wait_checks", { review: id });
    assert.deepEqual([awaited.state, awaited.waiting_for], ["passing", []]);
    await test.use("report_ci_status", { ...status, context: "ci/lint", state: "failure" });
    const { data: red } = await test.use("wait_checks", { checkin: "workspace/fail" });
    assert.deepEqual([red.state, red.failed, red.waiting_for], ["failing", ["ci/lint"], []]);
    assert.match(
      await test.fail("wait_checks", { review: id, checkin: "trunk" }),
      /either "review" or "checkin"/,
    );
    const { data: review } = await test.use("get_review", { id }, test.other);
    assert.match(review.diff, /- {2}return 0;\n\+ {2}return 1;/);
    const remark = { id, body: "Why?", file_path: "src/main.c", line_number: 2 };
    assert.equal((await test.use("comment_review", remark, test.other)).data.round, 1);
    assert.match(await test.fail("approve_review", { id }), /own|author/i);
    const refused = { id, comment: "Add a comment", round: 1 };
    const { data: changes } = await test.use("request_changes", refused, test.other);
    assert.equal(changes.status, "changes_requested");
    const patch = "--- a/src/main.c\n+++ b/src/main.c\n@@ -1,3 +1,4 @@\n int main(void) {\n" +
      "+  // must fail\n   return 1;\n }\n";
    await test.use("commit_files", { workspace: "fail", message: "Say why", patch });
    const since = { id, diff: "since_my_verdict" };
    const { data: second } = await test.use("get_review", since, test.other);
    assert.equal(second.round, 2);
    assert.match(second.diff, /\+ {2}\/\/ must fail/);
    assert.doesNotMatch(second.diff, /return 0/);
    assert.match(
      await test.fail("approve_review", { id, round: 1 }, test.other),
      /^Round 1 is not .* round is 2/,
    );
    const { data: approved } = await test.use("approve_review", { id, round: 2 }, test.other);
    assert.equal(approved.status, "approved");
    assert.equal((await test.use("land_review", { id })).data.id, id);
    const { data: queue } = await test.use("get_landing_queue");
    assert.equal(queue.landing[0].review, id);
  });
});
