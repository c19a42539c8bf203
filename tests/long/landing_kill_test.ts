/** What `kill -9` leaves of merges and landings, and how the next start goes on. */
import assert from "node:assert/strict";
import { z } from "zod";
import { call } from "../support/api.ts";
import { listAt, numberAt, textAt, valueAt } from "../support/json.ts";
import { type Program, startProgram } from "../support/program.ts";
import { asked } from "../support/until.ts";

const BASE = "/projects/demo/fossil/api";

const landingSchema = z.object({
  landing: z.array(
    z.object({ review: z.int(), status: z.string(), candidate: z.string().nullable() }),
  ),
});

type Shown = z.infer<typeof landingSchema>["landing"][number];

async function answer(program: Program, request: string, body?: unknown): Promise<unknown> {
  const [method = "", path = ""] = request.split(" ");
  const response = await call(program, method, path, body);
  const text = await response.text();
  assert.ok(response.ok, `${request}: ${response.status} ${text}`);
  return text === "" ? null : JSON.parse(text);
}

/** Asks for a review's landing until it is as awaited. */
async function untilLanding(
  program: Program,
  review: number,
  ...statuses: readonly string[]
): Promise<Shown> {
  const landing = await asked(
    () => landingOf(program, review),
    (one) => one !== undefined && statuses.includes(one.status),
  );
  return landing ?? assert.fail();
}

/** Opens and approves a review of one file, for a ticket of the same name. */
async function approve(program: Program, name: string): Promise<number> {
  const agent_id = "ann";
  const ticket = textAt(await answer(program, `POST ${BASE}/tickets`, { title: name }), "uuid");
  await answer(program, `POST ${BASE}/tickets/${ticket}/claim`, { agent_id });
  await answer(program, `POST ${BASE}/workspaces/create`, { name, agent_id, ticket });
  await answer(program, `POST ${BASE}/workspaces/${name}/commit`, {
    agent_id,
    message: name,
    changes: [{ path: `${name}.txt`, content: "text\n" }],
  });
  const body = { title: name, workspace: name, agent_id };
  const id = numberAt(await answer(program, `POST ${BASE}/reviews/create`, body), "id");
  await answer(program, `POST ${BASE}/reviews/${id}/approve`, { agent_id: "bob" });
  return id;
}

/** The landing of a review, as it was last. */
async function landingOf(program: Program, review: number): Promise<Shown | undefined> {
  const { landing } = landingSchema.parse(await answer(program, `GET ${BASE}/landing`));
  return landing.find((one) => one.review === review);
}

/** The ticket of a review is closed, and its claim ended, if and only if the review was merged. */
async function checkTicket(program: Program, review: number): Promise<void> {
  const shown = await answer(program, `GET ${BASE}/reviews/${review}`);
  const id = textAt(shown, "ticket_uuid");
  const ticket = await answer(program, `GET ${BASE}/tickets/${id}`);
  const path = `/v1/events?after=0&limit=1000&types=project.claim`;
  const events = listAt(await answer(program, `GET ${path}`), "events");
  const ends = events.filter((event) => textAt(event, "data.ticket") === id)
    .map((event) => textAt(event, "data.status")).filter((status) => status !== "claimed");
  const isMerged = textAt(shown, "status") === "merged";
  assert.equal(textAt(ticket, "status"), isMerged ? "Closed" : "Open");
  assert.equal(valueAt(ticket, "claim") === null, isMerged);
  assert.deepEqual(ends, isMerged ? ["merged"] : []);
}

/** Reports with a project token that the check of a candidate has passed. */
async function pass(program: Program, { candidate }: Shown): Promise<void> {
  const request = { project: "demo", name: "ci", scopes: ["status:write"] };
  const token = textAt(await answer(program, "POST /v1/tokens", request), "token");
  const report = { checkin: candidate, context: "ci", state: "success" };
  const response = await fetch(`${program.api}${BASE}/status`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify(report),
  });
  assert.ok(response.ok, await response.text());
}

/** Reports the candidate's check, if it still waits for one, and waits until it has landed. */
async function finish(program: Program, review: number): Promise<void> {
  // A request that was not answered may have been lost.
  if (await landingOf(program, review) === undefined) {
    await answer(program, `POST ${BASE}/reviews/${review}/land`, {});
  }
  const landing = await untilLanding(program, review, "testing", "landed");
  if (landing.status === "testing") await pass(program, landing);
  await untilLanding(program, review, "landed");
}

/** Requests after which, or in the middle of which, the program is killed. */
const MOMENTS: readonly {
  readonly name: string;
  run(program: Program, review: number): Promise<unknown>;
}[] = [
  {
    name: "queue-sent",
    run(program, review) {
      void call(program, "POST", `${BASE}/reviews/${review}/land`, {}).catch(() => {});
      return Promise.resolve();
    },
  },
  {
    name: "queued",
    run: (program, review) => answer(program, `POST ${BASE}/reviews/${review}/land`, {}),
  },
  {
    name: "testing",
    async run(program, review) {
      await answer(program, `POST ${BASE}/reviews/${review}/land`, {});
      await untilLanding(program, review, "testing");
    },
  },
  {
    name: "passed",
    async run(program, review) {
      await answer(program, `POST ${BASE}/reviews/${review}/land`, {});
      await pass(program, await untilLanding(program, review, "testing"));
    },
  },
];

Deno.test("the landing queue continues after kill -9 at any moment", async () => {
  const folder = await Deno.makeTempDir({ prefix: "muster-" });
  let program = await startProgram({ folder });
  try {
    await answer(program, "POST /v1/projects", { slug: "demo" });
    const rules = [{ pattern: "trunk", contexts: ["ci"] }];
    await answer(program, `PUT ${BASE}/protection`, rules);
    for (const { name, run } of MOMENTS) {
      const review = await approve(program, name);
      await run(program, review);
      await program.stop("SIGKILL");
      program = await startProgram({ folder });
      await finish(program, review);
      const landing = await landingOf(program, review);
      const timeline = await answer(program, `GET ${BASE}/timeline?branch=trunk`);
      assert.equal(textAt(timeline, "checkins.0.uuid"), landing?.candidate, name);
      const merged = await answer(program, `GET ${BASE}/reviews/${review}`);
      assert.equal(textAt(merged, "merged_as"), landing?.candidate, name);
      const workspace = await answer(program, `GET ${BASE}/workspaces/${name}`);
      assert.equal(textAt(workspace, "status"), "merged", name);
      await checkTicket(program, review);
    }
  } finally {
    await program.stop("SIGKILL");
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("a merge that is killed has merged everything or nothing", async () => {
  const folder = await Deno.makeTempDir({ prefix: "muster-" });
  let program = await startProgram({ folder });
  try {
    await answer(program, "POST /v1/projects", { slug: "demo" });
    for (let turn = 0; turn < 5; turn++) {
      const review = await approve(program, `merge-${turn}`);
      const merge = call(program, "POST", `${BASE}/reviews/${review}/merge`, {}).catch(() => {});
      // Each turn kills it a little later: after so many other answers.
      for (let more = 0; more < turn; more++) await answer(program, `GET ${BASE}/project`);
      await program.stop("SIGKILL");
      await merge;
      program = await startProgram({ folder });
      const status = textAt(await answer(program, `GET ${BASE}/reviews/${review}`), "status");
      const workspace = await answer(program, `GET ${BASE}/workspaces/merge-${turn}`);
      assert.equal(textAt(workspace, "status"), status === "merged" ? "merged" : "active");
      const timeline = await answer(program, `GET ${BASE}/timeline?branch=trunk`);
      const isOnTrunk = listAt(timeline, "checkins.0.parents").includes(textAt(workspace, "tip"));
      assert.equal(isOnTrunk, status === "merged");
      await checkTicket(program, review);
      if (status !== "merged") await answer(program, `POST ${BASE}/reviews/${review}/merge`, {});
    }
  } finally {
    await program.stop("SIGKILL");
    await Deno.remove(folder, { recursive: true });
  }
});
