/** What a push says beside its references, and what it is answered. */
import assert from "node:assert/strict";
import { commit, gitTest } from "../../../support/git_pushes.ts";
import type { GitTest } from "../../../support/git_door.ts";
import { pushRaw, rawBlob, rawCommit, rawPack, rawTree } from "../../../support/raw_pushes.ts";
import { commitFiles } from "../../../support/projects.ts";

const MINUTE_MS = 60_000;

async function ticketOf(test: GitTest): Promise<string> {
  const ticket = await test.answer("POST /api/tickets", {
    as: test.caller,
    body: { title: "Broken" },
  });
  return ticket.uuid;
}

gitTest("the options of a push make its review", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const ticket = await ticketOf(test);
  await test.answer(`POST /api/tickets/${ticket}/claim`, { as: test.caller });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "1\n" }, "Add b");
  const options = [
    "topic=faster",
    "title=A faster parser",
    "description=It skips",
    "description=empty lines.",
    `ticket=${ticket.slice(0, 12)}`,
    "reviewer=other",
    "draft=false",
    "odd",
  ].flatMap((option) => ["-o", option]);
  const push = await clone.run("push", ...options, "origin", "HEAD:refs/for/trunk");
  assert.equal(push.code, 0, push.stderr);
  assert.match(push.stderr, /remote: The push option "odd" means nothing here/);
  assert.match(push.stderr, /remote: Review 1: http/);
  const review = await test.answer("GET /api/reviews/1");
  assert.equal(review.title, "A faster parser");
  assert.equal(review.description, "It skips\nempty lines.");
  assert.equal(review.ticket_uuid, ticket);
  assert.equal(review.workspace, "faster");
  assert.match(JSON.stringify(review.reviewers), /other/);
  const workspace = await test.answer("GET /api/workspaces/faster");
  assert.equal(workspace.ticket_uuid ?? workspace.ticket, ticket);
});

gitTest("a draft has no review until a push without it", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "1\n" }, "Add b");
  const draft = await clone.run("push", "-o", "draft", "origin", "HEAD:refs/for/trunk/topic");
  assert.match(draft.stderr, /remote: The commits are in workspace\/topic: push without "draft"/);
  assert.equal((await test.answer("GET /api/reviews")).reviews.length, 0);
  await commit(clone, { "b.txt": "2\n" }, "Change b");
  const ready = await clone.run("push", "origin", "HEAD:refs/for/trunk/topic");
  assert.match(ready.stderr, /remote: Review 1: http/, ready.stderr);
});

gitTest("a draft that is ready as it is gets its review by the same push again", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "1\n" }, "Add b");
  await clone.git("push", "--quiet", "-o", "draft", "origin", "HEAD:refs/for/trunk/topic");
  const ready = await clone.run("push", "origin", "HEAD:refs/for/trunk/topic");
  assert.match(ready.stderr, /remote: Review 1: http/, ready.stderr);
});

gitTest("a review lands by an option once it may", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  const tip = await commit(clone, { "b.txt": "1\n" }, "Add b");
  const push = await clone.run("push", "-o", "land", "origin", "HEAD:refs/for/trunk/topic");
  assert.match(
    push.stderr,
    /remote: Review 1 (?:waits to land|does not land: .+): http/,
    push.stderr,
  );
  assert.match(tip, /^[0-9a-f]{40}$/);
});

gitTest("a push for a review says what is wrong with its options", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "1\n" }, "Add b");
  const absent = await clone.run(
    "push",
    "-o",
    "ticket=abcdef123456",
    "origin",
    "HEAD:refs/for/trunk",
  );
  assert.match(absent.stderr, /remote: .*(?:ticket|Ticket).*/);
  assert.match(absent.stderr, /remote rejected/);
  const nobody = await clone.run(
    "push",
    "-o",
    "reviewer=nobody",
    "origin",
    "HEAD:refs/for/trunk/x",
  );
  assert.match(
    nobody.stderr,
    /remote: The commits are in .*x.* have no review: .*nobody/,
    nobody.stderr,
  );
});

gitTest(
  "a ticket alone never replaces work for it that the push does not build on",
  async (test) => {
    await commitFiles(test, { "a.txt": "a\n" });
    const ticket = await ticketOf(test);
    await test.answer(`POST /api/tickets/${ticket}/claim`, { as: test.caller });
    const [one, other] = [await test.clone(), await test.clone()];
    const asked = ["push", "-o", `ticket=${ticket}`, "origin", "HEAD:refs/for/trunk"];
    await commit(one, { "b.txt": "1\n" }, "Add b");
    await one.git(...asked);
    await commit(other, { "c.txt": "1\n" }, "Add c");
    assert.equal((await other.run(...asked)).code, 1);
    await commit(one, { "b.txt": "2\n" }, "Change b");
    const next = await one.run(...asked);
    assert.equal(next.code, 0, next.stderr);
    const stale = await other.run(...asked);
    assert.equal(stale.code, 1);
    const [, named] = /push to (refs\/for\/BRANCH\/\S+) to replace it/.exec(stale.stderr) ?? [];
    assert.ok(named, stale.stderr);
    const meant = await other.run("push", "origin", `HEAD:${named.replace("BRANCH", "trunk")}`);
    assert.equal(meant.code, 0, meant.stderr);
  },
);

gitTest("a ticket leads into a workspace that was made for it and is empty", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const ticket = await ticketOf(test);
  await test.answer(`POST /api/tickets/${ticket}/claim`, { as: test.caller });
  const made = { name: "made", ticket };
  await test.answer("POST /api/workspaces/create", { as: test.caller, body: made });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "1\n" }, "Add b");
  await clone.git("push", "-o", `ticket=${ticket}`, "origin", "HEAD:refs/for/trunk");
  const { workspaces } = await test.answer("GET /api/workspaces");
  assert.deepEqual(workspaces.map(({ name }: { name: string }) => name), ["made"]);
});

gitTest("a push to a workspace renews the lease of its claim", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const ticket = await ticketOf(test);
  const claim = await test.answer(`POST /api/tickets/${ticket}/claim`, { as: test.caller });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "1\n" }, "Add b");
  const target = "HEAD:refs/heads/workspace/mine";
  const made = await clone.run("push", "-o", `ticket=${ticket}`, "origin", target);
  assert.match(made.stderr, /remote: The new workspace\/mine is yours/);
  const expiry = async () => (await test.answer("GET /api/claims")).claims[0].expires_at;
  const before = await expiry();
  test.api.services.clock.advance(5 * MINUTE_MS);
  await commit(clone, { "b.txt": "2\n" }, "Change b");
  await clone.git("push", "--quiet", "origin", target);
  assert.ok(await expiry() > before, `${await expiry()} is not after ${before}`);
  assert.ok(before >= claim.expires_at);
});

gitTest("after the claim of a workspace is lost, a push names its holder", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const ticket = await ticketOf(test);
  await test.answer(`POST /api/tickets/${ticket}/claim`, { as: test.caller });
  const clone = await test.clone();
  await commit(clone, { "b.txt": "1\n" }, "Add b");
  const target = "HEAD:refs/heads/workspace/mine";
  await clone.git("push", "--quiet", "-o", `ticket=${ticket}`, "origin", target);
  await test.answer(`POST /api/tickets/${ticket}/release`, { as: test.caller });
  await test.answer(`POST /api/tickets/${ticket}/claim`, { as: test.other });
  await commit(clone, { "b.txt": "2\n" }, "Change b");
  for (const ref of [target, "HEAD:refs/for/trunk/mine"]) {
    const push = await clone.run("push", "origin", ref);
    assert.match(push.stderr, /remote: .*"other" holds the claim of this ticket/, push.stderr);
    assert.match(push.stderr, /remote rejected/);
  }
  const stolen = await clone.run(
    "push",
    "-o",
    `ticket=${ticket}`,
    "origin",
    "HEAD:refs/for/trunk/new",
  );
  assert.match(stolen.stderr, /remote: .*"other" holds the claim of this ticket/, stolen.stderr);
});

gitTest("a stale base is an ordinary non-fast-forward", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const [one, other] = [await test.clone(), await test.clone()];
  await commit(one, { "a.txt": "one\n" });
  await one.git("push", "--quiet", "origin", "HEAD:refs/heads/workspace/mine", "HEAD:trunk");
  await commit(other, { "b.txt": "b\n" });
  const plain = await other.run("push", "origin", "HEAD:refs/heads/workspace/mine");
  assert.match(plain.stderr, /\[rejected\] .*(?:fetch first|non-fast-forward)/);
  const trunk = await other.run("push", "origin", "HEAD:trunk");
  assert.match(trunk.stderr, /\[rejected\] .*(?:fetch first|non-fast-forward)/);
  await other.git("pull", "--quiet", "--rebase", "origin", "trunk");
  await other.git("push", "--quiet", "origin", "HEAD:trunk");
  assert.equal(await other.git("show", "HEAD:a.txt"), "one\n");
});

gitTest("people are warned of what is odd, each kind once", async (test) => {
  const [one, two] = [rawBlob("1\n"), rawBlob("2\n")];
  const tree = rawTree([
    ["CON", 0o100644, one],
    ["README", 0o100644, one],
    ["a:b", 0o100644, one],
    ["old", 0o100664, one],
    ["readme", 0o100644, two],
  ]);
  const commits = [
    "author A <a@b> 1700000000 +051800\ncommitter A <a@b> 99999999999 +0000\n\nodd\n",
    "author A <a@b>\ncommitter A <a@b> 1700000000 +0000\n\nundated\n",
  ].map((tail) => rawCommit(tree, { tail }));
  const answer = await pushRaw(
    test,
    commits.map(({ hex }, place) => [`refs/heads/odd${place}`, hex] as const),
    rawPack([one, two, tree, ...commits]),
    { capabilities: "report-status side-band-64k" },
  );
  for (
    const sentence of [
      /Warning: "CON" is the name of a device on Windows; 1 more: names that Windows cannot have/,
      /Warning: "README" and "readme" are one file on systems that ignore case\n/,
      /Warning: "old" has the old mode 100664\n/,
      /Warning: The commit [0-9a-f]{10} has the odd time zone \+051800\n/,
      /Warning: The commit [0-9a-f]{10} has a date in the future\n/,
      /Warning: The commit [0-9a-f]{10} has a malformed line: "A <a@b>"\n/,
    ]
  ) assert.match(answer, sentence);
  assert.match(answer, /ok refs\/heads\/odd0/);
});

gitTest("the rounds of a review are references for those who ask for them", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  const first = await commit(clone, { "b.txt": "1\n" }, "Add b");
  await clone.git("push", "--quiet", "origin", "HEAD:refs/for/trunk/topic");
  await clone.git("commit", "--quiet", "--amend", "--message", "Add b again");
  const second = (await clone.git("rev-parse", "HEAD")).trim();
  await clone.git("push", "--quiet", "origin", "HEAD:refs/for/trunk/topic");
  const fresh = await test.clone();
  assert.doesNotMatch(await fresh.git("ls-remote", "origin"), /refs\/reviews/);
  await fresh.git("fetch", "--quiet", "origin", "refs/reviews/1/1:refs/heads/before");
  assert.equal((await fresh.git("rev-parse", "before")).trim(), first);
  await fresh.git("fetch", "--quiet", "origin", "+refs/reviews/*:refs/remotes/reviews/*");
  assert.equal((await fresh.git("rev-parse", "reviews/1/2")).trim(), second);
  const absent = await fresh.run("fetch", "origin", "refs/reviews/2/1");
  assert.match(absent.stderr, /couldn't find remote ref refs\/reviews\/2\/1/);
});

gitTest("what no reference names any more is fetched by its hash", async (test) => {
  await commitFiles(test, { "a.txt": "a\n" });
  const clone = await test.clone();
  const kept: string[] = [];
  kept.push(await commit(clone, { "b.txt": "1\n" }, "Rewound"));
  await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/workspace/one");
  await clone.git("commit", "--quiet", "--amend", "--message", "Given up");
  kept.push((await clone.git("rev-parse", "HEAD")).trim());
  await clone.git("push", "--quiet", "--force", "origin", "HEAD:refs/heads/workspace/one");
  await clone.git("push", "--quiet", "origin", ":workspace/one");
  kept.push(await commit(clone, { "c.txt": "1\n" }, "On a closed branch"));
  await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/side");
  await clone.git("push", "--quiet", "origin", ":side");
  await clone.git("checkout", "--quiet", "origin/trunk");
  kept.push(await commit(clone, { "d.txt": "1\n" }, "Merged"));
  await clone.git("push", "--quiet", "origin", "HEAD:refs/heads/workspace/two");
  await test.answer("POST /api/workspaces/two/merge", { as: test.caller, body: {} });
  const fresh = await test.clone();
  assert.doesNotMatch(await fresh.git("ls-remote", "origin"), /workspace|side/);
  for (const name of kept) {
    await fresh.git("fetch", "--quiet", "origin", name);
    assert.equal((await fresh.git("rev-parse", "FETCH_HEAD")).trim(), name);
  }
  const stranger = await test.client.run(["fetch", test.urlOf("outsider"), kept[0]!], fresh.folder);
  assert.match(stranger.stderr, /not found/);
});
