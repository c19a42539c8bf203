/** Reads of a real repository over HTTP, judged by the `fossil` program. */
import assert from "node:assert/strict";
import type { CheckinDetail, Tree } from "../../../services/fossil/mod.ts";
import { type ExpressProject, withExpress } from "../../support/express.ts";

withExpress("reads over HTTP are those of fossil", async (test, step) => {
  await step("trees and files of old check-ins", () => compareTrees(test));
  await step("files that check-ins change", () => compareCheckins(test));
});

/** Check-ins spread over a history, newest first. */
function samples(all: readonly string[], count: number): string[] {
  const step = Math.floor(all.length / count);
  return all.filter((_, index) => index % step === 0);
}

async function compareTrees(test: ExpressProject): Promise<void> {
  const { answer, send, fossil, lines } = test;
  const all = lines("timeline", "-n", "0", "-t", "ci", "-F", "%H").slice(0, -1);
  for (const checkin of samples(all, 8)) {
    const theirs = lines("ls", "-r", checkin).sort();
    const tree: Tree = await answer(`GET /api/tree?checkin=${checkin}&recursive=true`);
    assert.equal(tree.checkin, checkin);
    assert.deepEqual(tree.entries.map(({ name }) => name).sort(), theirs);
    const path = theirs[Math.floor(theirs.length / 2)] ?? "";
    const file = await send(`GET /api/file?checkin=${checkin}&path=${encodeURIComponent(path)}`);
    assert.equal(await file.text(), fossil("cat", "-r", checkin, path), path);
  }
  const root: Tree = await answer("GET /api/tree");
  const lib = root.entries.find(({ name }) => name === "lib");
  assert.equal(lib?.type, "dir");
  assert.match(lib?.last_checkin?.uuid ?? "", /^[0-9a-f]{40,64}$/);
}

async function compareCheckins(test: ExpressProject): Promise<void> {
  const { answer, lines } = test;
  const all = lines("timeline", "-n", "0", "-t", "ci", "-F", "%H|%a|%b|%c").slice(0, -1);
  for (const line of samples(all, 10)) {
    const [uuid = "", user, branch] = line.split("|");
    const ours: CheckinDetail = await answer(`GET /api/checkin/${uuid.slice(0, 12)}`);
    assert.deepEqual([ours.uuid, ours.user, ours.branch], [uuid, user, branch || "trunk"]);
    const theirs = lines("diff", "--checkin", uuid, "--brief")
      .map((changed) => changed.replace(/^\w+ +/, "")).sort();
    assert.deepEqual(ours.files_changed.map(({ name }) => name).sort(), theirs, uuid);
  }
}
