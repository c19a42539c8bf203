/**
 * A request that waits for its project's turn acts with the rights that its caller has then. A long
 * import or push makes that wait as long as it likes.
 */
import assert from "node:assert/strict";
import { Semaphore } from "../../../services/kernel/semaphore.ts";
import { WaitingWrites } from "../../../services/work/projects/joint_writes.ts";
import { asked as untilSo } from "../../support/until.ts";
import { projectToken, type TestProject, withProject } from "../../support/projects.ts";

interface Asked {
  readonly request: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the requests act on. */
interface Scene {
  readonly ticket: string;
  readonly review: number;
}

/** Requests of a writer that change something in their project's turn. */
const WRITES = ({ ticket, review }: Scene): readonly Asked[] => [
  { request: "POST /api/tickets", body: { title: "Late" } },
  { request: `PATCH /api/tickets/${ticket}`, body: { title: "Late" } },
  { request: `POST /api/tickets/${ticket}/comments`, body: { comment: "Late" } },
  { request: `POST /api/tickets/${ticket}/release`, body: {} },
  { request: "PUT /api/wiki/Late", body: { content: "Late" } },
  { request: "POST /api/technotes", body: { comment: "Late", content: "Late" } },
  { request: "POST /api/forum", body: { title: "Late", content: "Late" } },
  { request: "POST /api/tags", body: { name: "late", checkin: "trunk" } },
  { request: "POST /api/releases", body: { tag_name: "late", name: "Late", checkin: "trunk" } },
  { request: "POST /api/workspaces/create", body: { name: "late" } },
  {
    request: "POST /api/workspaces/one/commit",
    body: { message: "Late", changes: [{ path: "late.txt", content: "late\n" }] },
  },
  { request: "DELETE /api/workspaces/one/abandon" },
  { request: "POST /api/reviews/create", body: { title: "Late", workspace: "two" } },
  { request: `POST /api/reviews/${review}/comment`, body: { body: "Late" } },
  { request: `POST /api/reviews/${review}/request-changes`, body: {} },
  { request: `POST /api/reviews/${review}/land`, body: {} },
  { request: `POST /api/reviews/${review}/merge`, body: {} },
  { request: `POST /api/reviews/${review}/close`, body: {} },
];

/** Makes a ticket that the caller holds, a workspace under an approved review, and one more. */
async function prepare({ answer, caller, other }: TestProject): Promise<Scene> {
  const { uuid } = await answer("POST /api/tickets", { as: caller, body: { title: "One" } });
  await answer(`POST /api/tickets/${uuid}/claim`, { as: caller, body: {} });
  for (const name of ["one", "two"]) {
    await answer("POST /api/workspaces/create", { as: caller, body: { name } });
    const changes = [{ path: `${name}.txt`, content: `${name}\n` }];
    const body = { message: name, changes };
    await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body });
  }
  const body = { title: "Add one", workspace: "one" };
  const { id } = await answer("POST /api/reviews/create", { as: caller, body });
  await answer(`POST /api/reviews/${id}/approve`, { as: other });
  return { ticket: uuid, review: id };
}

/** Runs a task while every turn is counted that somebody waits for. */
async function countingTurns(task: (waiting: () => number) => Promise<void>): Promise<void> {
  const { acquire } = Semaphore.prototype;
  const { add } = WaitingWrites.prototype;
  let waiting = 0;
  Semaphore.prototype.acquire = async function (...given) {
    waiting++;
    try {
      return await acquire.apply(this, given);
    } finally {
      waiting--;
    }
  };
  WaitingWrites.prototype.add = function (...given) {
    const group = add.apply(this, given);
    // It waits for the turn of another one.
    if (group === null) waiting++;
    return group;
  };
  try {
    await task(() => waiting);
  } finally {
    Semaphore.prototype.acquire = acquire;
    WaitingWrites.prototype.add = add;
  }
}

/** Everything that events tell of a project. */
async function happened({ api }: TestProject): Promise<string[]> {
  const { events } = await api.services.eventLog.read({ after: 0, limit: 1000 });
  return events.filter(({ type }) => type.startsWith("project.")).map(({ type, data }) =>
    `${type} ${JSON.stringify(data)}`
  ).filter((line) => !line.startsWith("project.member_changed"));
}

/** Sends every request while the project is busy; gives the answers once the right is lost. */
async function answersAfter(
  test: TestProject,
  { as, asked, lose }: {
    readonly as: string;
    readonly asked: readonly Asked[];
    lose(): Promise<unknown>;
  },
): Promise<string[]> {
  const { repositories } = test.api.services.hosting;
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const answers: string[] = [];
  await countingTurns(async (waiting) => {
    const holding = Promise.withResolvers<void>();
    const held = repositories.exclusively(test.project, null, async () => {
      holding.resolve();
      await released;
    });
    await holding.promise;
    const sent = asked.map(async ({ request, body, headers }) => {
      const options = { as, ...body === undefined ? {} : { body }, headers: headers ?? {} };
      const response = await test.send(request, options);
      const text = await response.text();
      answers.push(`${response.status} ${request} ${text}`);
    });
    try {
      await untilSo(
        () => Promise.resolve(waiting() + answers.length),
        (count) => count === asked.length,
      );
      assert.deepEqual(answers, [], "these did not wait");
      await lose();
    } finally {
      release();
    }
    await Promise.all([held, ...sent]);
  });
  return answers.sort();
}

const operate = async ({ api }: TestProject, request: string, body?: unknown) => {
  const response = await api.send(body === undefined ? { request } : { request, body });
  assert.ok(response.ok, `${request}\n${await response.text()}`);
};

Deno.test("what waits for its project's turn is refused once its caller may no longer write", async (step) => {
  const losses: Record<string, (test: TestProject) => Promise<void>> = {
    "the role that writes": (test) =>
      operate(test, "PUT /v1/projects/demo/members/caller", { role: "read" }),
    "the account": (test) => operate(test, "POST /v1/agents/caller/revoke"),
    "the project, which is archived": (test) =>
      operate(test, "PATCH /v1/projects/demo", { archived: true }),
  };
  for (const [what, lose] of Object.entries(losses)) {
    await step.step(`because it lost ${what}`, async () => {
      await withProject(async (test) => {
        const scene = await prepare(test);
        const before = await happened(test);
        const asked = WRITES(scene);
        const answers = await answersAfter(test, {
          as: test.caller,
          asked,
          lose: () => lose(test),
        });
        const taken = answers.filter((answer) => !/^(401|403|409 .*archived)/.test(answer));
        assert.deepEqual(taken, []);
        const after = (await happened(test)).filter((line) =>
          !/^project\.(changed|archived)|"status":"revoked"/.test(line)
        );
        assert.deepEqual(after, before);
      });
    });
  }
});

Deno.test("what an admin asked for in another's name is refused once it only writes", async () => {
  await withProject(async (test) => {
    const { api } = test;
    await operate(test, "PUT /v1/projects/demo/members/other", { role: "admin" });
    const request = { owner: "other", name: "admin", scopes: ["admin"] };
    const { token } = await api.answer("POST /v1/tokens", request) as { token: string };
    const scene = await prepare(test);
    const before = await happened(test);
    const named = { agent_id: "caller" };
    const answers = await answersAfter(test, {
      as: `Bearer ${token}`,
      asked: [
        { request: `POST /api/tickets/${scene.ticket}/release`, body: named },
        { request: `POST /api/reviews/${scene.review}/land`, body: named },
        { request: "POST /api/workspaces/two/merge", body: named },
      ],
      lose: () => operate(test, "PUT /v1/projects/demo/members/other", { role: "write" }),
    });
    for (const answer of answers) assert.match(answer, /^403 .*Your role in the project/);
    assert.deepEqual(await happened(test), before);
  });
});

Deno.test("what a project's token asked for is refused once the token is revoked", async () => {
  await withProject(async (test) => {
    const [as, id] = await projectToken(test.api, "write");
    const asked = [{ request: "PUT /api/wiki/Late", body: { content: "Late" } }];
    const lose = () => operate(test, `DELETE /v1/tokens/${id}`);
    assert.match((await answersAfter(test, { as, asked, lose })).join(), /^401 /);
  });
});
