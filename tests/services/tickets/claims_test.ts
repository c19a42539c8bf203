import assert from "node:assert/strict";
import { Conflict } from "../../../services/errors.ts";
import type { Actor } from "../../../services/projects/mod.ts";
import { type TestProject, withProject } from "../../support/projects.ts";
import { BY_OPERATOR } from "../../support/services.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A ticket, and actors for the two agents. */
async function aTicket({ api: { services }, project }: TestProject) {
  const { repositories } = services.hosting;
  const { ticket } = await repositories.write(project, {
    caller: BY_OPERATOR,
    write: (repository, stamp) =>
      repository.changeTicket({
        ...stamp,
        fields: [
          { name: "title", value: "Crash", append: false },
          { name: "status", value: "Open", append: false },
        ],
      }),
  });
  const ref = await repositories.read(project, (repository) => repository.resolveTicket(ticket));
  const actor = (name: string): Actor => {
    const account = services.accounts.find(name);
    assert.ok(account);
    return { key: account.id, name, kind: "agent" };
  };
  return { ref, caller: actor("caller"), other: actor("other") };
}

Deno.test("the fence lets the holder pass and renews the lease, and refuses everybody else", async () => {
  await withProject(async (test) => {
    const { project, api: { services } } = test;
    const { hosting: { claims }, clock } = services;
    const { ref, caller, other } = await aTicket(test);
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
    await assert.rejects(fence(caller), /has run out/);
    const second = await claims.claim(project, ref, { caller: BY_OPERATOR, actor: other });
    assert.equal(second.claim.generation, 2);
    await assert.rejects(fence(caller, 1), /"other" holds/);
    await fence(other, 2);
  });
});
