/** What `fossil` is told by a node that cannot answer at the moment. */
import assert from "node:assert/strict";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { withSync } from "../../../support/sync.ts";
import { judged } from "../../engines/fossil/support/judges.ts";

const SENTENCE = "This node has lost touch with the database; try again";

judged("fossil shows why a server cannot answer at the moment", async (program) => {
  await withSync(program, async (test) => {
    const { client, url, refuse } = test;
    const folder = await client.checkout(url);
    await client.fossil(["settings", "autosync", "off"], folder);
    Deno.writeTextFileSync(`${folder}/late.txt`, "late\n");
    await client.fossil(["addremove"], folder);
    await client.fossil(["commit", "--no-warnings", "-m", "Late"], folder);
    refuse(new Unavailable(SENTENCE));
    const refused = await client.run(["push"], folder);
    assert.match(refused.stdout + refused.stderr, new RegExp(SENTENCE));
    const clone = await client.run(["clone", url, "other.fossil"]);
    assert.match(clone.stdout + clone.stderr, new RegExp(SENTENCE));
    refuse(null);
    await client.fossil(["push"], folder);
  });
});
