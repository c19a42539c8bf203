import assert from "node:assert/strict";
import { join } from "node:path";
import { adoptionSchema } from "../../../../services/people/agents/schemas.ts";
import { statement } from "../../../../services/engines/database/mod.ts";
import { Conflict } from "../../../../services/kernel/errors.ts";
import { FakeErgo } from "../../../support/fake_ergo.ts";
import { anAgent, BY_OPERATOR } from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";
import { type Networked, openNetworked } from "./support.ts";

const ADOPTION = adoptionSchema.parse({});
const ELSEWHERE = /belongs to another muster/;

/** Two musters with data folders of their own on one network. */
async function withTwo(
  run: (ours: Networked, theirs: Networked, folder: string) => Promise<void>,
): Promise<void> {
  await using ergo = new FakeErgo();
  await withFolder(async (folder) => {
    const both: Networked[] = [];
    for (const name of ["ours", "theirs"]) {
      await Deno.mkdir(join(folder, name));
      const key = name === "ours" ? "5".repeat(64) : "6".repeat(64);
      both.push(await openNetworked(join(folder, name), ergo, undefined, { key }));
    }
    const [ours, theirs] = both;
    assert.ok(ours !== undefined && theirs !== undefined);
    try {
      for (const { sync } of both) sync.start();
      for (const services of both) await services.pass(0);
      await run(ours, theirs, folder);
    } finally {
      for (const services of both) await services.close();
    }
  });
}

Deno.test("an agent of one muster is neither registered nor adopted by another", async () => {
  await withTwo(async (ours, theirs) => {
    const passphrase = await anAgent(ours, "coder");
    await assert.rejects(anAgent(theirs, "coder"), ELSEWHERE);
    await assert.rejects(theirs.agents.adopt("coder", ADOPTION, BY_OPERATOR), ELSEWHERE);
    assert.ok(ours.ergo.takes("coder", passphrase));

    ours.ergo.add("Ann", "her own");
    await ours.agents.adopt("ann", ADOPTION, BY_OPERATOR);
    await ours.pass(0);
    await assert.rejects(theirs.agents.adopt("ann", ADOPTION, BY_OPERATOR), Conflict);
    const { credentials } = await ours.agents.rotate("ann", BY_OPERATOR);
    await assert.rejects(theirs.agents.adopt("ann", ADOPTION, BY_OPERATOR), ELSEWHERE);
    assert.ok(ours.ergo.takes("ann", credentials.passphrase));
  });
});

Deno.test("of two musters with one agent from before, the first to check keeps it", async () => {
  await withTwo(async (ours, theirs) => {
    const { ergo } = ours;
    await anAgent(ours, "coder");
    const account = ergo.get("coder");
    assert.ok(account !== undefined);
    account.email = "";
    await theirs.agents.adopt("coder", ADOPTION, BY_OPERATOR);
    const { database, sync } = ours;
    const unmarked = database.tables.updateTable("network_accounts").set({ marked: 0 });
    await database.commit({ statements: [statement(unmarked)] });
    sync.compare();
    await ours.pass(0);

    const { credentials } = await ours.agents.rotate("coder", BY_OPERATOR);
    await assert.rejects(theirs.agents.rotate("coder", BY_OPERATOR), ELSEWHERE);
    theirs.sync.compare();
    await theirs.pass(0);
    assert.ok(theirs.log.lines.some((line) => ELSEWHERE.test(line)));
    // What the other one still can do is to let go of it.
    await theirs.agents.revoke("coder", BY_OPERATOR);
    await theirs.agents.delete("coder", BY_OPERATOR);
    await theirs.pass(0);
    assert.ok(ergo.takes("coder", credentials.passphrase));
    assert.equal(theirs.sync.stats().unsettled, 0);
  });
});

Deno.test("of two musters that adopt one account in the same instant, one keeps it", async () => {
  await withTwo(async (ours, theirs) => {
    const both = [ours, theirs];
    ours.ergo.add("Ann", "her own");
    await Promise.all(both.map(({ agents }) => agents.adopt("ann", ADOPTION, BY_OPERATOR)));
    await Promise.all(both.map((services) => services.pass(0)));
    const rotations = await Promise.allSettled(
      both.map(({ agents }) => agents.rotate("ann", BY_OPERATOR)),
    );
    const [kept] = rotations.flatMap((it) => it.status === "fulfilled" ? [it.value] : []);
    const [lost] = rotations.flatMap((it) => it.status === "rejected" ? [it.reason] : []);
    assert.match(String(lost), ELSEWHERE);
    assert.ok(ours.ergo.takes("ann", kept?.credentials.passphrase ?? ""));
  });
});

Deno.test("a mark outlives new passphrases, restarts and a data folder that moves", async () => {
  await withTwo(async (ours, theirs, folder) => {
    const { ergo } = ours;
    await anAgent(ours, "coder");
    const mark = ergo.get("coder")?.email;
    assert.match(mark ?? "", /@[0-9a-f]{20}\.agents\.muster\.invalid$/);
    await ours.agents.rotate("coder", BY_OPERATOR);
    await ours.close();
    await Deno.rename(join(folder, "ours"), join(folder, "moved"));

    const moved = await openNetworked(join(folder, "moved"), ergo, ours.clock);
    moved.sync.start();
    await moved.pass(0);
    const { credentials } = await moved.agents.rotate("coder", BY_OPERATOR);
    assert.equal(ergo.get("coder")?.email, mark);
    await assert.rejects(theirs.agents.adopt("coder", ADOPTION, BY_OPERATOR), ELSEWHERE);
    assert.ok(ergo.takes("coder", credentials.passphrase));
    await moved.agents.delete("coder", BY_OPERATOR);
    await anAgent(theirs, "coder");
    await moved.close();
  });
});
