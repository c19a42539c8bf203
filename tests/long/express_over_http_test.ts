/** Reads of a real repository over HTTP, judged by the `fossil` program. */
import assert from "node:assert/strict";
import type { CheckinDetail, Tree } from "../../services/engines/fossil/mod.ts";
import { type ExpressProject, withExpress } from "../support/express.ts";

withExpress("reads over HTTP are those of fossil", async (test, step) => {
  await step("trees and files of old check-ins", () => compareTrees(test));
  await step("files that check-ins change", () => compareCheckins(test));
  await step("the timeline, branches and tags", () => compareNames(test));
  await step("histories, diffs and blame", () => compareChanges(test));
  await step("archives", () => compareArchives(test));
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

async function compareNames({ answer, lines }: ExpressProject): Promise<void> {
  const theirs = lines("timeline", "-n", "0", "-t", "ci", "-F", "%H").slice(0, -1);
  for (const page of [1, 17, Math.ceil(theirs.length / 100), 1000]) {
    const { checkins, total } = await answer(`GET /api/timeline?per_page=100&page=${page}`);
    assert.equal(total, theirs.length);
    assert.deepEqual(
      checkins.map(({ uuid }: CheckinDetail) => uuid),
      theirs.slice((page - 1) * 100, page * 100),
    );
  }
  const named = (list: { name: string }[]) => list.map(({ name }) => name).sort();
  const { branches } = await answer("GET /api/branches");
  const open = branches.filter(({ status }: { status: string }) => status === "open");
  const names = (...args: string[]) =>
    lines("branch", "list", ...args)
      .map((line) => line.replace(/^[ *#]+/, "").trim()).sort();
  // Check-ins that no tag puts on a branch are on "trunk" here, and on none in fossil.
  const listed = (list: { name: string }[]) => named(list).filter((name) => name !== "trunk");
  assert.deepEqual(listed(open), names());
  assert.deepEqual(listed(branches), names("--all"));
  const { tags } = await answer("GET /api/tags");
  const isTag = (name: string) => !named(branches).includes(name) && name !== "trunk";
  assert.deepEqual(named(tags), lines("tag", "list").filter(isTag).sort());
  const resolve = async (name: string): Promise<string> =>
    (await answer(`GET /api/checkin/${encodeURIComponent(name)}`)).uuid;
  for (const name of ["4.17.1", "root:master", "prev", "rid:78"]) {
    const uuid = await resolve(name);
    assert.ok(lines("whatis", name).some((line) => line.endsWith(uuid)), name);
  }
  // For a date, "whatis" also finds changes of tags; where a check-in is meant, fossil does not.
  const rid = "symbolic_name_to_rid('2015-01-01', 'ci')";
  const dated = lines("sql", `SELECT uuid FROM blob WHERE rid = ${rid}`);
  assert.deepEqual([`'${await resolve("2015-01-01")}'`], dated);
}

async function compareChanges({ answer, fossil, lines }: ExpressProject): Promise<void> {
  for (const path of ["lib/response.js", "package.json"]) {
    const theirs = lines("finfo", "-b", "-W", "0", path)
      .map((line) => line.split(" ")[0]);
    const query = `path=${path}&everywhere=true&per_page=100`;
    const { checkins, total } = await answer(`GET /api/history?${query}`);
    assert.equal(total, theirs.length);
    assert.deepEqual(
      checkins.map(({ uuid }: CheckinDetail) => uuid.slice(0, 10)),
      theirs.slice(0, 100),
    );
    const { lines: blamed } = await answer(`GET /api/blame?path=${path}`);
    const text = blamed.map(({ text }: { text: string }) => `${text}\n`).join("");
    assert.equal(text, fossil("cat", "-r", "trunk", path));
  }
  const [to = "", from = ""] = lines("timeline", "-n", "0", "-t", "ci", "-F", "%H");
  const { files } = await answer(`GET /api/diff?from=${from}&to=${to}`);
  const theirs = fossil("diff", "-i", "--from", from, "--to", to);
  const count = (sign: string) =>
    theirs.split("\n").filter((line) => line.startsWith(sign) && !/^([+-])\1\1 /.test(line)).length;
  const sum = (key: "added" | "deleted") =>
    files.reduce((total: number, file: Record<string, number>) => total + (file[key] ?? 0), 0);
  assert.deepEqual([sum("added"), sum("deleted")], [count("+"), count("-")]);
}

async function compareArchives({ send, lines }: ExpressProject): Promise<void> {
  const archive = await send("GET /api/archive/4.17.1.tar.gz");
  const path = await Deno.makeTempFile();
  try {
    await Deno.writeFile(path, new Uint8Array(await archive.arrayBuffer()));
    const { stdout } = await new Deno.Command("tar", { args: ["-tzf", path] }).output();
    const ours = new TextDecoder().decode(stdout).split("\n")
      .filter((name) => name !== "" && !name.endsWith("/"))
      .map((name) => name.slice(name.indexOf("/") + 1));
    assert.deepEqual(ours.sort(), lines("ls", "-r", "4.17.1").sort());
  } finally {
    await Deno.remove(path);
  }
}
