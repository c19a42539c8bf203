/** How often a token may push within an hour. */
import assert from "node:assert/strict";
import { withSync } from "../../../support/sync.ts";
import { judged } from "../../engines/fossil/support/judges.ts";

judged("a token pushes so often within an hour, pulls go on, and others push", async (program) => {
  await withSync(program, async ({ client, url, otherUrl, api, answer, caller }) => {
    const folder = await client.checkout(url);
    await client.fossil(["settings", "autosync", "off"], folder);
    const commit = async (at: number, work = folder) => {
      Deno.writeTextFileSync(`${work}/${at}.txt`, `${at}\n`);
      await client.fossil(["addremove"], work);
      await client.fossil(["commit", "--no-warnings", "-m", `Change ${at}`], work);
    };
    for (const at of [1, 2]) {
      await commit(at);
      await client.fossil(["push"], folder);
    }
    await client.fossil(["push"], folder);
    await commit(3);
    const { stdout, stderr } = await client.run(["push"], folder);
    assert.match(
      stdout + stderr,
      /"caller" has made 2 pushes within an hour, which is the limit \(limits\.pushes_per_hour\)/,
    );
    await client.fossil(["pull"], folder);
    const second = await client.checkout(otherUrl, "second");
    await commit(4, second);
    const names = async () =>
      (await answer("GET /api/timeline", { as: caller })).checkins
        .map(({ comment }: { comment: string }) => comment);
    assert.deepEqual((await names()).slice(0, 3), ["Change 4", "Change 2", "Change 1"]);
    api.services.clock.advance(3_600_000);
    await client.fossil(["push"], folder);
    assert.ok((await names()).includes("Change 3"));
  }, { config: { limits: { pushes_per_hour: 2 } } });
});
