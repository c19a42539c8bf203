import assert from "node:assert/strict";
import { Conflict } from "../../../../services/kernel/errors.ts";
import { newUlid } from "../../../../services/kernel/ulid.ts";
import { stampOf } from "../../../../services/work/projects/intentions.ts";
import type { Actor, Project } from "../../../../services/work/projects/mod.ts";
import { withProject } from "../../../support/projects.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import {
  anAgent,
  BY_OPERATOR,
  openServices,
  type TestServices,
} from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

interface Place {
  readonly services: TestServices;
  readonly project: Project;
}

/** A ticket, and actors for the two agents. */
async function aTicket({ services, project }: Place) {
  const { tickets } = services.hosting;
  const operator: Actor = { key: "operator", name: "operator", kind: "operator" };
  const request = { title: "Crash", comment: "What happens" };
  const { uuid } = await tickets.create(project, request, {
    caller: BY_OPERATOR,
    actor: operator,
  });
  const ref = await tickets.resolve(project, uuid);
  return { ref, caller: actorOf(services, "caller"), other: actorOf(services, "other") };
}

function actorOf({ accounts }: TestServices, name: string): Actor {
  const account = accounts.find(name);
  assert.ok(account);
  return { key: account.id, name, kind: "agent" };
}

/** Opens the services in a folder, with a project and two agents if there are none. */
async function openPlace(folder: string, clock: TestScheduler): Promise<Place> {
  const services = await openServices(folder, {}, clock);
  const { projects } = services.hosting;
  if (projects.find("demo") === null) {
    for (const nick of ["caller", "other"]) await anAgent(services, nick);
    const request = { slug: "demo", description: "", visibility: "private" } as const;
    await projects.create(request, BY_OPERATOR);
  }
  return { services, project: projects.require("demo").project };
}

async function claimStatuses({ eventLog }: TestServices): Promise<string[]> {
  const { events } = await eventLog.read({ after: 0, types: ["project.claim"] });
  return events.map(({ data }) => `${data["agent"]} ${data["status"]}`);
}

Deno.test("the fence lets the holder pass and renews the lease, and refuses everybody else", async () => {
  await withProject(async (test) => {
    const { project, api: { services } } = test;
    const { hosting: { claims }, clock } = services;
    const { ref, caller, other } = await aTicket({ services, project });
    const fence = (actor: Actor, generation?: number) =>
      claims.fence(project, { ticket: ref.uuid, actor, generation });
    await assert.rejects(fence(caller), /Nobody holds this ticket/);

    const { claim } = await claims.claim(project, ref, { caller: BY_OPERATOR, actor: caller });
    clock.advance(DAY_MS / 2);
    const renewed = await fence(caller, 1);
    assert.equal(renewed.expiresAt, claim.claimedAt + DAY_MS * 1.5);
    await assert.rejects(fence(caller, 2), /generation is 1, not 2/);
    await assert.rejects(fence(other), (error) => {
      assert.ok(error instanceof Conflict);
      assert.deepEqual(error.details, {
        claimed_by: "caller",
        claimed_at: new Date(claim.claimedAt).toISOString(),
        generation: 1,
        expires_at: new Date(renewed.expiresAt).toISOString(),
      });
      return true;
    });

    clock.advance(DAY_MS);
    await assert.rejects(fence(caller), /has expired/);
    const second = await claims.claim(project, ref, { caller: BY_OPERATOR, actor: other });
    assert.equal(second.claim.generation, 2);
    await assert.rejects(fence(caller, 1), /"other" holds/);
    await fence(other, 2);
  });
});

Deno.test("a lease outlasts a restart, and one that expired meanwhile ends at the next start", async () => {
  await withFolder(async (folder) => {
    const clock = new TestScheduler();
    const first = await openPlace(folder, clock);
    const { ref, caller, other } = await aTicket(first);
    const request = { caller: BY_OPERATOR, actor: caller };
    await first.services.hosting.claims.claim(first.project, ref, request);
    await first.services.close();

    clock.advance(DAY_MS / 2);
    const second = await openPlace(folder, clock);
    const claim = second.services.hosting.claims.active(second.project, ref.uuid);
    assert.deepEqual([claim?.holder.name, claim?.generation], ["caller", 1]);
    await second.services.close();

    clock.advance(DAY_MS / 2);
    const third = await openPlace(folder, clock);
    const { claims } = third.services.hosting;
    assert.equal(claims.active(third.project, ref.uuid), null);
    assert.equal(claims.strikes(third.project, ref.uuid), 1);
    const taken = await claims.claim(third.project, ref, { caller: BY_OPERATOR, actor: other });
    assert.equal(taken.claim.generation, 2);
    assert.deepEqual(await claimStatuses(third.services), [
      "caller claimed",
      "caller lapsed",
      "other claimed",
    ]);
    await third.services.close();
  });
});

Deno.test("a submission that was killed before its settling is settled at the next start", async () => {
  await withFolder(async (folder) => {
    const clock = new TestScheduler();
    const { services, project } = await openPlace(folder, clock);
    const { repositories, claims } = services.hosting;
    const place = { services, project };
    const [written, lost] = [await aTicket(place), await aTicket(place)];
    for (const [index, { ref, caller }] of [written, lost].entries()) {
      await claims.claim(project, ref, { caller: BY_OPERATOR, actor: caller });
      const id = newUlid(clock.now());
      const stamp = stampOf(id, { user: "caller", date: clock.now() + 1000 * (index + 1) });
      await repositories.intentions.record([{
        id,
        projectId: project.id,
        kind: "ticket.submit",
        stamp,
        origin: { actor: "agent:caller", actorId: caller.key, address: null, cause: null },
        body: {
          ticket: ref.uuid,
          generation: 1,
          summary: "Done",
          filesChanged: [],
          workspace: null,
          plans: [],
        },
      }], clock.now());
      if (ref === lost.ref) continue;
      const fields = [{ name: "status", value: "Review", append: false }];
      await repositories.read(
        project,
        (repository) => repository.changeTicket({ ...stamp, ticket: ref.uuid, fields }),
      );
    }
    await services.close();

    clock.advance(2 * DAY_MS);
    const next = await openPlace(folder, clock);
    const { claims: after, repositories: again } = next.services.hosting;
    assert.equal((await after.newest(next.project, written.ref.uuid))?.outcome, "submitted");
    assert.equal(after.strikes(next.project, written.ref.uuid), 0);
    assert.equal(after.strikes(next.project, lost.ref.uuid), 1);
    assert.equal(again.intentions.of(next.project.id).length, 0);
    await next.services.close();
  });
});

Deno.test("a claim does not end while its holder's write is under way", async () => {
  await withProject(async ({ project, api: { services } }) => {
    const { repositories, claims } = services.hosting;
    const { ref, caller } = await aTicket({ services, project });
    await claims.claim(project, ref, { caller: BY_OPERATOR, actor: caller });
    const order: string[] = [];
    const [fenced, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const writing = repositories.write(project, {
      caller: BY_OPERATOR,
      user: "caller",
      write: async (repository, stamp) => {
        await claims.fence(project, { ticket: ref.uuid, actor: caller });
        fenced.resolve();
        await gate.promise;
        return await repository.changeWiki({ ...stamp, title: "Home", text: "Hello" });
      },
    }).then(() => order.push("written"));
    await fenced.promise;
    const operator: Actor = { key: "operator", name: "operator", kind: "operator" };
    const ending = claims.release(project, ref.uuid, {
      caller: BY_OPERATOR,
      actor: operator,
      isAdmin: true,
    }).then(() => order.push("broken"));
    gate.resolve();
    await Promise.all([writing, ending]);
    assert.deepEqual(order, ["written", "broken"]);
    await assert.rejects(
      claims.fence(project, { ticket: ref.uuid, actor: caller }),
      /An admin ended the claim/,
    );
  });
});

Deno.test("submitted work stays with its author until somebody else claims the ticket, and a merge ends the claim", async () => {
  await withProject(async ({ project, api: { services } }) => {
    const { claims, submissions, tickets } = services.hosting;
    const { ref, caller, other } = await aTicket({ services, project });
    const writer = { caller: BY_OPERATOR, actor: caller };
    await claims.claim(project, ref, writer);
    const parts: unknown[] = [];
    submissions.extend({
      prepare: ({ workspace }) => Promise.resolve({ plan: { workspace }, answer: { review: 5 } }),
      settle: (plan) => {
        parts.push(plan);
        return {};
      },
    });
    const work = { summary: "Done", files_changed: [], reviewers: [], workspace: "fix" };
    const { claim, answer } = await submissions.submit(project, ref.uuid, work, writer);
    assert.deepEqual([claim.outcome, claim.workspace, answer], ["submitted", "fix", { review: 5 }]);
    assert.deepEqual(parts, [{ workspace: "fix" }]);
    const ticket = ref.uuid;
    await claims.fence(project, { ticket, actor: caller, generation: 1 });
    await assert.rejects(claims.fence(project, { ticket, actor: other }), /was submitted/);

    const origin = { actor: "agent:other", actorId: null, address: null, cause: null };
    const now = services.clock.now();
    const none = await claims.merged(project, { ticket, owner: other, origin, now });
    assert.deepEqual(none, {});
    const change = await claims.merged(project, { ticket, owner: caller, origin, now });
    await services.database.commit(change);
    assert.equal((await claims.newest(project, ticket))?.outcome, "merged");
    assert.deepEqual(await claims.merged(project, { ticket, origin, now }), {});

    await tickets.change(project, ticket, { status: "Open" }, { ...writer, actor: other });
    await claims.claim(project, { ...ref, status: "Open" }, { ...writer, actor: other });
    await assert.rejects(claims.fence(project, { ticket, actor: caller }), /"other" holds/);
    await services.database.commit(await claims.merged(project, { ticket, origin, now }));
    assert.equal(claims.active(project, ticket), null);
  });
});
