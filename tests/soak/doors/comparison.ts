import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { hexOf, nameOfObject } from "../../../services/engines/git/mod.ts";
import { unwrapped } from "../../../services/engines/fossil/git/wrapped.ts";
import type { Clone, GitClient } from "../../support/git_client.ts";
import type { Program } from "../../support/program.ts";
import type { FossilClient } from "../../support/sync.ts";
import type { SeenHistory } from "./history.ts";

const SUBMODULE = "160000";

export interface ComparedParts {
  readonly program: Program;
  readonly git: GitClient;
  readonly fossil: FossilClient;
  readonly seen: SeenHistory;
  urlOf(door: ".git" | "/fossil"): string;
}

/**
 * Compares fresh clones of both kinds: both are sound, have the same files at each commit, and all that
 * was ever shown. Returns how many commits they have.
 */
export async function compareClones(
  { program, git, fossil, seen, urlOf }: ComparedParts,
): Promise<number> {
  const mirror = await git.clone(urlOf(".git"), "--mirror");
  assert.deepEqual(
    (await mirror.refs()).trim().split("\n").sort(),
    [...seen.refs].map(([ref, object]) => `${object} ${ref}`).sort(),
  );
  await fetchAll(mirror, seen);
  await mirror.check();
  await fossil.fossil(["clone", urlOf("/fossil"), "fresh.fossil"]);
  const copy = fossil.path("server.fossil");
  const stored = join(program.folder, "data", "projects", "soak.fossil");
  await fossil.fossil(["sql", "-R", stored, `VACUUM INTO '${copy}'`]);
  const file = fossil.path("fresh.fossil");
  for (const path of [file, copy]) {
    assert.match(await fossil.fossil(["test-integrity", path]), / 0 errors/);
    await fossil.fossil(["rebuild", path]);
    assert.equal(
      (await fossil.fossil(["sql", "-R", path, "SELECT count(*) FROM phantom"])).trim(),
      "0",
    );
  }
  const checkins = await filesOfFossil(fossil, file);
  const commits = (await mirror.git("rev-list", "--all")).trim().split("\n");
  const checkinOf = checkinsOf(stored);
  for (const commit of commits) {
    const checkin = checkinOf.get(commit) ?? "";
    assert.deepEqual(
      await filesOfGit(mirror, commit),
      checkins.get(checkin) ?? [],
      `${commit} is ${checkin}`,
    );
  }
  return commits.length;
}

/** Fetches everything that was ever shown, by its hash. */
async function fetchAll(clone: Clone, { objects }: SeenHistory): Promise<void> {
  const all = [...objects];
  for (let at = 0; at < all.length; at += 100) {
    await clone.git(
      "fetch",
      "--quiet",
      "origin",
      ...all.slice(at, at + 100).map((object) => `${object}:refs/seen/${object}`),
    );
  }
}

/** The check-ins of commits, as the server knows them. */
function checkinsOf(stored: string): Map<string, string> {
  using companion = new DatabaseSync(stored.replace(/fossil$/, "objects"), { readOnly: true });
  using repository = new DatabaseSync(stored, { readOnly: true });
  const hash = repository.prepare("SELECT uuid FROM blob WHERE rid=?");
  return new Map(
    companion.prepare("SELECT lower(hex(name)) AS name, rid FROM revision").all().map((
      { name, rid },
    ) => [
      String(name),
      String(hash.get(Number(rid))?.["uuid"]),
    ]),
  );
}

/** The files of a commit: a mode, a hash and a path each. */
async function filesOfGit(clone: Clone, commit: string): Promise<string[]> {
  const lines = (await clone.git("ls-tree", "-r", "-z", commit)).split("\0").filter((line) =>
    line !== ""
  );
  return lines.filter((line) => !line.startsWith(SUBMODULE))
    .map((line) => line.replace(/^(\d+) \w+ (\w+)\t/, "$1 $2 ")).sort();
}

const MODES: Readonly<Record<string, string>> = { x: "100755", l: "120000" };

/** The files of every check-in in the form of {@linkcode filesOfGit}. */
async function filesOfFossil(fossil: FossilClient, file: string): Promise<Map<string, string[]>> {
  const ask = async (sql: string) =>
    (await fossil.fossil(["sql", "-R", file, sql])).split("\n").filter((line) => line !== "")
      .map((line) => line.replace(/^'|'$/g, "").split("|"));
  const blobs = new Map<string, string>();
  for (
    const [hash = "", hex = ""] of await ask(
      "SELECT uuid || '|' || hex(content(uuid)) FROM blob WHERE rid IN (SELECT fid FROM mlink)",
    )
  ) blobs.set(hash, hexOf(nameOfObject("blob", unwrapped(Buffer.from(hex, "hex")))));
  const checkins = new Map<string, string[]>();
  for (
    const [checkin = "", mode = "", hash = "", path = ""] of await ask(
      `SELECT c.uuid || '|' || ifnull(f.perm,'') || '|' || f.uuid || '|' || f.filename
        FROM event JOIN blob AS c ON c.rid=objid JOIN files_of_checkin(c.uuid) AS f WHERE type='ci'`,
    )
  ) {
    const files = checkins.get(checkin) ?? [];
    files.push(`${MODES[mode] ?? "100644"} ${blobs.get(hash)} ${path}`);
    checkins.set(checkin, files);
  }
  for (const files of checkins.values()) files.sort();
  return checkins;
}
