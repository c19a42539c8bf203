import assert from "node:assert/strict";
import { withProject } from "../../support/projects.ts";
import { THOROUGH } from "../../support/level.ts";

Deno.test(
  "a burst of 50 events is one line in the project's channel, and one for the others",
  THOROUGH,
  async () => {
    await withProject(async ({ api, answer, caller }) => {
      const { clock, hosting: { notifier, announcer }, bridge } = api.services;
      await bridge?.whenReady();
      const said = async (): Promise<string[]> => {
        await notifier.idle();
        await announcer.idle();
        const messages = await api.answer("GET /v1/channels/project-demo/messages");
        return (messages as { text: string }[]).map(({ text }) => text);
      };
      for (let page = 1; page <= 50; page++) {
        await answer(`PUT /api/wiki/Page-${page}`, { as: caller, body: { content: "It" } });
      }
      assert.deepEqual(await said(), ["caller wrote the wiki page Page-1"]);
      clock.advance(1000);
      assert.deepEqual(await said(), [
        "caller wrote the wiki page Page-1",
        "… and 49 more changes of wiki pages",
      ]);
    }, { ircServer: true, config: { bridge: { enabled: true } } });
  },
);
