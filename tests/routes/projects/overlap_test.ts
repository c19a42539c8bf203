import assert from "node:assert/strict";
import { join } from "node:path";
import { peer } from "../../support/peers.ts";
import { commitFiles, type TestProject, withProject } from "../../support/projects.ts";
import { withFolder } from "../../support/temporary.ts";

const BASE = "one\ntwo\nthree\nfour\nfive\n";

/** Begins a workspace. */
async function begin({ answer }: TestProject, as: string, name: string): Promise<void> {
  await answer("POST /api/workspaces/create", { as, body: { name } });
}

/** Commits a file to a workspace, and waits until the overlaps are known. */
async function commit(
  { answer, api }: TestProject,
  as: string,
  [name, path, content]: readonly [string, string, string],
): Promise<void> {
  const body = { message: `Change ${path}`, changes: [{ path, content }] };
  await answer(`POST /api/workspaces/${name}/commit`, { as, body });
  await lookedAt(api);
}

async function lookedAt({ services }: TestProject["api"]): Promise<void> {
  await services.clock.passUntil(services.hosting.overlapWatch.idle(), 250);
}

/** The events that tell of a conflict. */
async function overlapEvents({ api }: TestProject) {
  const { events } = await api.services.eventLog.read({ after: 0, types: ["project.overlap"] });
  return events.map(({ data }) => data);
}

Deno.test("a workspace knows who else changes its files, and what would conflict", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    await commitFiles(test, { "a.txt": BASE, "b.txt": BASE });
    for (const name of ["first", "apart"]) await begin(test, caller, name);
    for (const name of ["second", "third"]) await begin(test, other, name);
    await commit(test, caller, ["first", "a.txt", BASE.replace("one", "ONE")]);
    await commit(test, caller, ["apart", "b.txt", BASE.replace("one", "ONE")]);
    await commit(test, other, ["second", "a.txt", BASE.replace("one", "uno")]);
    await commit(test, other, ["third", "a.txt", BASE.replace("five", "FIVE")]);

    const { overlaps } = await answer("GET /api/workspaces/first/overlap", { as: caller });
    assert.deepEqual(overlaps, [
      {
        workspace: "second",
        agent_id: "other",
        paths: ["a.txt"],
        conflicts: [{ path: "a.txt", kind: overlaps[0].conflicts[0].kind }],
      },
      { workspace: "third", agent_id: "other", paths: ["a.txt"], conflicts: [] },
    ]);
    assert.deepEqual(await answer("GET /api/workspaces/apart/overlap", { as: caller }), {
      overlaps: [],
    });
    const { workspaces } = await answer("GET /api/workspaces?per_page=2", { as: caller });
    const listed = workspaces.map((
      { name, overlaps }: { name: string; overlaps: { workspace: string }[] },
    ) => [name, overlaps.map(({ workspace }) => workspace)]);
    assert.deepEqual(listed, [["third", ["first", "second"]], ["second", ["first", "third"]]]);
  });
});

Deno.test("two workspaces that begin to conflict cause one event", async () => {
  await withProject(async (test) => {
    const { answer, caller, other } = test;
    await commitFiles(test, { "a.txt": BASE });
    await begin(test, caller, "first");
    await begin(test, other, "second");
    await commit(test, caller, ["first", "a.txt", BASE.replace("one", "ONE")]);
    await commit(test, other, ["second", "a.txt", BASE.replace("five", "FIVE")]);
    assert.deepEqual(await overlapEvents(test), []);

    await commit(test, other, ["second", "a.txt", BASE.replace("one", "uno")]);
    const [event, ...more] = await overlapEvents(test);
    assert.deepEqual(more, []);
    assert.deepEqual(event?.["workspaces"], [
      { name: "first", agent_id: "caller" },
      { name: "second", agent_id: "other" },
    ]);
    assert.deepEqual(event?.["paths"], ["a.txt"]);

    await commit(test, other, ["second", "a.txt", BASE.replace("five", "FIVE")]);
    const { overlaps } = await answer("GET /api/workspaces/second/overlap", { as: other });
    assert.deepEqual(overlaps[0].conflicts, []);
    await commit(test, other, ["second", "a.txt", BASE.replace("one", "eins")]);
    assert.equal((await overlapEvents(test)).length, 1);
  });
});

Deno.test("a request for an overlap makes a missing trial merge", async () => {
  await withProject(async (test) => {
    const { api, answer, caller, other } = test;
    await commitFiles(test, { "a.txt": BASE });
    await api.services.hosting.overlapWatch.close();
    await begin(test, caller, "first");
    await begin(test, other, "second");
    for (const [name, as, text] of [["first", caller, "ONE"], ["second", other, "uno"]] as const) {
      const changes = [{ path: "a.txt", content: BASE.replace("one", text) }];
      await answer(`POST /api/workspaces/${name}/commit`, { as, body: { message: "It", changes } });
    }
    const ask = () => answer("GET /api/workspaces/first/overlap", { as: caller });
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    for (const { overlaps } of answers) assert.equal(overlaps[0].conflicts.length, 1);
    assert.equal((await overlapEvents(test)).length, 1);

    await answer("DELETE /api/workspaces/second/abandon", { as: other });
    assert.deepEqual((await ask()).overlaps, []);
  });
});

Deno.test("check-ins that the fossil program makes in a workspace are checked too", {
  ...peer("fossil"),
}, async () => {
  await withProject(async (test) => {
    const { api, project, caller, other } = test;
    await commitFiles(test, { "a.txt": BASE });
    await begin(test, caller, "first");
    await begin(test, other, "second");
    await commit(test, caller, ["first", "a.txt", BASE.replace("one", "ONE")]);
    await withFolder(async (folder) => {
      const repository = api.services.hosting.repositories.files.pathOf(project);
      const fossil = async (...args: string[]) => {
        const { success, stderr } = await new Deno.Command("fossil", {
          args,
          cwd: folder,
          env: { USER: "other", FOSSIL_USER: "other", HOME: folder },
        }).output();
        assert.ok(success, `${args.join(" ")}: ${new TextDecoder().decode(stderr)}`);
      };
      await fossil("user", "new", "other", "", "secret", "-R", repository);
      await fossil("open", repository, "workspace/second");
      // Of another length: the program may not notice a change within the same second.
      await Deno.writeTextFile(join(folder, "a.txt"), BASE.replace("one", "uno o due"));
      await fossil("commit", "-m", "From the desk", "--no-warnings");
    });
    await test.catchUp();
    await lookedAt(api);
    assert.equal((await overlapEvents(test)).length, 1);
  });
});
