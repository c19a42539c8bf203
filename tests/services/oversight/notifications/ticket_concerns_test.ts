import assert from "node:assert/strict";
import type { LoggedEvent } from "../../../../services/engines/events/mod.ts";
import { projectEventOf } from "../../../../services/oversight/notifications/mod.ts";
import { TicketConcerns } from "../../../../services/oversight/notifications/ticket_concerns.ts";
import { withProject } from "../../../support/projects.ts";

interface EventPage {
  readonly events: readonly LoggedEvent[];
}

Deno.test("a change concerns the holder of a ticket only if it came after the claim, however late it is read", async () => {
  await withProject(async ({ api, project, answer, caller, other }) => {
    const { hosting, clock } = api.services;
    const { repositories, claims, tickets: { numbers } } = hosting;
    const concerns = new TicketConcerns({ repositories, claims, numbers });
    const { uuid } = await answer("POST /api/tickets", { as: other, body: { title: "Crash" } });
    const change = async (priority: string) => {
      await answer(`PATCH /api/tickets/${uuid}`, { as: other, body: { priority } });
      clock.advance(1000);
    };
    await change("High");
    await answer(`POST /api/tickets/${uuid}/claim`, { as: caller });
    await change("Low");
    const { events } = await api.answer("GET /v1/events?types=project.ticket") as EventPage;
    const found = await Promise.all(events.map(async (logged) => {
      const event = projectEventOf(logged);
      assert.equal(event?.type, "project.ticket");
      return (await concerns.of(project, event)).length;
    }));
    assert.deepEqual(found, [0, 0, 1]);
  });
});
