import assert from "node:assert/strict";
import {
  commitFiles,
  projectToken,
  type TestProject,
  withProject,
} from "../../support/projects.ts";

/** An entry of an inbox, as the API shows it. */
interface Entry {
  readonly id: string;
  readonly kind: string;
  readonly from: string;
  readonly text: string;
  readonly at: string;
  readonly project?: string;
  readonly ticket?: string;
  readonly review?: number;
  readonly checkin?: string;
  readonly workspace?: string;
}

/** What is in an agent's inbox once everything that happened is told. */
async function inbox({ api }: Pick<TestProject, "api">, nick = "caller"): Promise<Entry[]> {
  await api.services.hosting.notifier.idle();
  return await api.answer(`GET /v1/agents/${nick}/messages`) as Entry[];
}

/** The same as kind, sender and text. */
async function told(test: Pick<TestProject, "api">, nick = "caller"): Promise<string[]> {
  return (await inbox(test, nick)).map(({ kind, from, text }) => `${kind} ${from}: ${text}`);
}

async function aTicket({ answer }: TestProject, as: string, title = "Crash"): Promise<string> {
  return (await answer("POST /api/tickets", { as, body: { title } })).uuid;
}

/** Begins a workspace with one file; gives its tip. */
async function aWorkspace(
  { answer }: TestProject,
  as: string,
  { name = "fix", path = "a.txt", content = "a\n" } = {},
): Promise<string> {
  await answer("POST /api/workspaces/create", { as, body: { name } });
  const body = { message: `Write ${path}`, changes: [{ path, content }] };
  return (await answer(`POST /api/workspaces/${name}/commit`, { as, body })).uuid;
}

Deno.test("a holder is notified when a claim expires, is taken or is ended by an admin", async () => {
  await withProject(async (test) => {
    const { answer, api, caller, other } = test;
    const lapsed = await aTicket(test, other, "Slow");
    const broken = await aTicket(test, other, "Stuck");
    for (const ticket of [lapsed, broken]) {
      await answer(`POST /api/tickets/${ticket}/claim`, { as: caller });
    }
    await answer(`POST /api/tickets/${broken}/release`);
    api.services.clock.advance(24 * 60 * 60 * 1000);
    await answer("GET /api/claims", { as: other });
    await answer(`POST /api/tickets/${lapsed}/claim`, { as: other });
    const own = await aTicket(test, caller, "Own");
    await answer(`POST /api/tickets/${own}/claim`, { as: caller });
    await answer(`POST /api/tickets/${own}/release`, { as: caller });

    const entries = await inbox(test);
    assert.deepEqual(entries.map(({ kind, from, text }) => [kind, from, text]), [
      [
        "claim",
        "operator",
        "operator has ended your claim of ticket #2 “Stuck”",
      ],
      ["claim", "muster", "Your claim of ticket #1 “Slow” has run out"],
      [
        "claim",
        "other",
        "other has claimed ticket #1 “Slow”, which you had before",
      ],
    ]);
    assert.deepEqual(entries.map(({ project, ticket }) => [project, ticket]), [
      ["demo", broken],
      ["demo", lapsed],
      ["demo", lapsed],
    ]);
    for (const { at } of entries) assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    assert.deepEqual(await told(test, "other"), []);
  });
});

Deno.test("an author is notified of verdicts and comments, and reviewers of answers and rounds", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    await aWorkspace(test, caller);
    await answer("POST /api/reviews/create", {
      as: caller,
      body: { title: "Fix", workspace: "fix", reviewers: ["other"] },
    });
    const comment = (as: string, body: string) =>
      answer("POST /api/reviews/1/comment", { as, body: { body } });
    await comment(other, "Why\x02 so?\nReally");
    await comment(caller, "Because");
    await answer("POST /api/reviews/1/request-changes", { as: other, body: { comment: "No" } });
    const body = { message: "Again", changes: [{ path: "a.txt", content: "b\n" }] };
    await answer("POST /api/workspaces/fix/commit", { as: caller, body });
    await answer("POST /api/reviews/1/approve", { as: other });
    await answer("POST /api/reviews/1/merge", { as: other });

    assert.deepEqual(await told(test), [
      "review other: other commented on review 1 “Fix”: Why so? Really",
      "review other: other asks for changes in review 1 “Fix”: No",
      "review other: other has approved review 1 “Fix”",
      "review other: other has merged review 1 “Fix”",
    ]);
    assert.deepEqual(await told(test, "other"), [
      "review caller: caller asks for your verdict on review 1 “Fix”",
      "review caller: caller commented on review 1 “Fix”: Because",
      "review caller: caller has changed review 1 “Fix”: round 2 waits for your verdict",
    ]);
    await answer("POST /api/reviews/create", {
      as: other,
      body: { title: "Text", diff: "--- a\n+++ b\n" },
    });
    await answer("POST /api/reviews/2/reviewers", { as: other, body: { reviewers: ["caller"] } });
    assert.equal(
      (await told(test)).at(-1),
      "review other: other asks for your verdict on review 2 “Text”",
    );
    assert.deepEqual(
      (await inbox(test)).slice(0, 4).map(({ review, workspace }) => [review, workspace]),
      [
        [1, "fix"],
        [1, "fix"],
        [1, "fix"],
        [1, "fix"],
      ],
    );
  });
});

Deno.test("the owner of a workspace is notified when a check on its tip ends", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    const tip = await aWorkspace(test, caller);
    const trunk = await commitFiles(test, { "t.txt": "t\n" });
    const report = (checkin: string, state: string) =>
      answer("POST /api/status", {
        body: { checkin, context: "ci/build", state, description: "3 tests" },
      });
    for (const state of ["pending", "failure", "failure", "pending", "success"]) {
      await report(tip, state);
    }
    await report(trunk, "failure");
    const at = `on ${tip.slice(0, 10)}, the tip of your workspace fix: 3 tests`;
    assert.deepEqual(await told(test), [
      `check operator: ci/build: failure ${at}`,
      `check operator: ci/build: success ${at}`,
    ]);
    assert.equal((await inbox(test))[0]?.checkin, tip);
  });
});

Deno.test("both owners are notified when two workspaces begin to conflict", async () => {
  await withProject(async (test) => {
    const { caller, other } = test;
    await commitFiles(test, { "a.txt": "a\n" });
    await aWorkspace(test, caller, { name: "first", content: "b\n" });
    await aWorkspace(test, other, { name: "second", content: "c\n" });
    const advancing = setInterval(() => test.api.services.clock.advance(250));
    try {
      await test.api.services.hosting.overlapWatch.idle();
    } finally {
      clearInterval(advancing);
    }
    assert.deepEqual(await told(test), [
      "overlap muster: Your workspace first conflicts with second of other in a.txt",
    ]);
    assert.deepEqual(await told(test, "other"), [
      "overlap muster: Your workspace second conflicts with first of caller in a.txt",
    ]);
  });
});

Deno.test("a comment answers the holder and earlier commenters, and mentions the named accounts", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    const held = await aTicket(test, other, "Held");
    await answer(`POST /api/tickets/${held}/claim`, { as: caller });
    const comment = (ticket: string, as: string, text: string) =>
      answer(`POST /api/tickets/${ticket}/comments`, { as, body: { comment: text } });
    await comment(held, caller, "Which one?");
    await comment(held, other, "The first, @caller, and @stranger-1 knows");
    await answer(`PATCH /api/tickets/${held}`, { as: other, body: { priority: "High" } });
    const free = await aTicket(test, caller, "Free");
    await comment(free, caller, "See mail@other and x@other, @other");

    const name = "ticket #1 “Held”";
    assert.deepEqual(await told(test), [
      `answer other: other commented on ${name}: The first, @caller, and @stranger-1 knows`,
      `answer other: other has changed ${name}, which you hold: Open`,
    ]);
    assert.deepEqual(await told(test, "other"), [
      `answer caller: caller commented on ${name}: Which one?`,
      "mention caller: caller commented on ticket #2 “Free”: See mail@other " +
      "and x@other, @other",
    ]);
    assert.deepEqual(await told(test, "stranger-1"), []);
  });
});

Deno.test("a holder is notified when somebody else closes the ticket, which ends the claim", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    const [theirs, own] = [await aTicket(test, other, "Held"), await aTicket(test, other, "Own")];
    for (const ticket of [theirs, own]) {
      await answer(`POST /api/tickets/${ticket}/claim`, { as: caller });
    }
    await answer(`PATCH /api/tickets/${own}`, { as: caller, body: { status: "Closed" } });
    await answer(`PATCH /api/tickets/${theirs}`, { as: other, body: { status: "Closed" } });
    assert.deepEqual(await told(test), [
      "claim other: other has closed ticket #1 “Held”, which ended your claim",
    ]);
  });
});

Deno.test("the title and the description of a ticket mention accounts, each once", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    const { uuid } = await answer("POST /api/tickets", {
      as: other,
      body: { title: "Crash", comment: "Who knows why? @caller" },
    });
    const edit = (comment: string) =>
      answer(`PATCH /api/tickets/${uuid}`, { as: other, body: { body: comment } });
    await edit("Who knows? @caller");
    await aTicket(test, other, "For @caller");
    assert.deepEqual(await told(test), [
      "mention other: other mentioned you in ticket #1 “Crash”: Who knows why? @caller",
      "mention other: other mentioned you in ticket #2 “For @caller”",
    ]);
    const plain = await aTicket(test, caller, "Plain");
    await answer(`PATCH /api/tickets/${plain}`, { as: caller, body: { body: "See @other" } });
    assert.deepEqual(await told(test, "other"), [
      "mention caller: caller mentioned you in ticket #3 “Plain”: See @other",
    ]);
  });
});

Deno.test("a comment on a line of a review is notified with its file and line, and its description mentions", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    await aWorkspace(test, caller);
    await answer("POST /api/reviews/create", {
      as: caller,
      body: { title: "Fix", description: "Ask @other", workspace: "fix" },
    });
    await answer("POST /api/reviews/1/comment", {
      as: other,
      body: { body: "Why?", file_path: "a.txt", line_number: 1 },
    });
    assert.deepEqual(await told(test), [
      "review other: other commented on review 1 “Fix”, a.txt:1: Why?",
    ]);
    assert.deepEqual(await told(test, "other"), [
      "mention caller: caller mentioned you in review 1 “Fix”: Ask @other",
    ]);
  });
});

Deno.test("an author is notified when work lands or comes back from the queue, also if somebody else queued it", async () => {
  await withProject(async (test) => {
    const { answer, api, caller, other } = test;
    await answer("PUT /api/protection", {
      body: [{ pattern: "trunk", contexts: ["ci"], landing: "required" }],
    });
    const landing = async (name: string) => {
      const ticket = await aTicket(test, other, name);
      await answer(`POST /api/tickets/${ticket}/claim`, { as: caller });
      await answer("POST /api/workspaces/create", { as: caller, body: { name, ticket } });
      const changes = [{ path: "a.txt", content: `${name}\n` }];
      const commit = { message: name, changes };
      await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body: commit });
      const body = { title: name, workspace: name };
      const { id } = await answer("POST /api/reviews/create", { as: caller, body });
      await answer(`POST /api/reviews/${id}/approve`, { as: other });
      await answer(`POST /api/reviews/${id}/land`, { as: caller });
      return ticket;
    };
    const tickets = [await landing("one"), await landing("two")];
    const candidate = await new Promise<string>((resolve, reject) => {
      const look = async () => {
        const { landing: [first] } = await answer("GET /api/landing");
        if (first.candidate !== null) resolve(first.candidate);
      };
      const stop = api.services.database.onAppended(() => void look().catch(reject));
      look().catch(reject);
      void stop;
    });
    const ended = new Promise<void>((resolve, reject) => {
      api.services.database.onAppended(() =>
        void (async () => {
          const { landing } = await answer("GET /api/landing");
          if (landing.every(({ position }: { position: number | null }) => position === null)) {
            resolve();
          }
        })().catch(reject)
      );
    });
    const [as] = await projectToken(api, "status:write");
    await answer("POST /api/status", {
      as,
      body: { checkin: candidate, context: "ci", state: "success" },
    });
    await ended;
    await api.services.hosting.ticketNotes.idle();
    const entries = (await inbox(test)).filter(({ kind }) => kind !== "review");
    assert.deepEqual(entries.map(({ kind, from, text, review }) => [kind, from, text, review]), [
      ["landing", "muster", `Review 1 “one” has landed on trunk as ${candidate.slice(0, 10)}`, 1],
      [
        "landing",
        "muster",
        "Review 2 “two” came back from the landing queue of trunk: It conflicts with the target " +
        "branch (a.txt)",
        2,
      ],
    ]);
    const comments = await Promise.all(tickets.map(async (ticket) => {
      const shown = await answer(`GET /api/tickets/${ticket}`);
      return shown.comments.map((
        { user, comment }: { user: string; comment: string },
      ) => `${user}: ${comment}`);
    }));
    assert.deepEqual(
      comments.map((lines) => lines.filter((line: string) => /^muster/.test(line))),
      [
        [`muster: Review 1 “one” of caller landed on trunk as ${candidate.slice(0, 10)}`],
        [
          "muster: Review 2 “two” of caller came back from the landing queue: It conflicts with " +
          "the target branch (a.txt)",
        ],
      ],
    );
  });
});

Deno.test("one wait wakes an agent for events that concern it, and for nothing else", async () => {
  await withProject(async (test) => {
    const { api, answer, caller, other } = test;
    await aWorkspace(test, caller);
    await answer("POST /api/reviews/create", {
      as: caller,
      body: { title: "Fix", workspace: "fix" },
    });
    let isAwake = false;
    const waiting = api.send({
      who: "writer",
      request: "GET /v1/agents/caller/messages?wait_seconds=60",
    }).then((response) => {
      isAwake = true;
      return response.json() as Promise<Entry[]>;
    });
    // Its own acts, and those of others that are none of its business.
    await answer("POST /api/reviews/1/comment", { as: caller, body: { body: "Please" } });
    const ticket = await aTicket(test, other);
    await answer(`POST /api/tickets/${ticket}/claim`, { as: other });
    await commitFiles(test, { "t.txt": "t" });
    await api.services.hosting.notifier.idle();
    assert.equal(isAwake, false);

    await answer("POST /api/reviews/1/approve", { as: other });
    assert.deepEqual((await waiting).map(({ kind, text }) => [kind, text]), [
      ["review", "other has approved review 1 “Fix”"],
    ]);
  });
});

Deno.test("an account that may no longer read a project is not notified of it", async () => {
  await withProject(async (test) => {
    const { api, answer, caller, other } = test;
    await aWorkspace(test, caller);
    await answer("POST /api/reviews/create", {
      as: caller,
      body: { title: "Fix", workspace: "fix" },
    });
    await api.expect([{ request: "DELETE /v1/projects/demo/members/caller", status: 204 }]);
    await answer("POST /api/reviews/1/approve", { as: other });
    assert.deepEqual(await told(test), []);
  });
});

Deno.test("an owner is notified when somebody else takes over, closes or merges the workspace", async () => {
  await withProject(async (test) => {
    const { answer, caller } = test;
    for (const name of ["taken", "closed", "merged"]) {
      await aWorkspace(test, caller, { name, path: `${name}.txt` });
    }
    await answer("POST /api/workspaces/taken/takeover", { body: { agent_id: "other" } });
    await answer("DELETE /api/workspaces/closed/abandon");
    await answer("POST /api/workspaces/merged/merge");
    assert.deepEqual(await told(test), [
      "claim other: other has taken over your workspace taken",
      "claim operator: operator has closed your workspace closed without a merge",
      "landing operator: operator has merged your workspace merged into trunk",
    ]);
  });
});
