import assert from "node:assert/strict";
import { join } from "node:path";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { ArrivingCopies } from "../../../../services/cluster/moves/mod.ts";
import { withProject } from "../../../support/projects.ts";

Deno.test("a copy that the system does not write is refused, as a full disk refuses it", () =>
  withProject(async ({ api, project }) => {
    const { repositories } = api.services.hosting;
    const copies = await ArrivingCopies.open({
      repositories,
      homes: { isHere: () => false },
      uploads: { place: () => Promise.resolve() },
    });
    await copies.begin(project);
    await Deno.mkdir(join(repositories.files.folder, ".moves", project.id, "repository"));
    await assert.rejects(
      copies.write(project, { name: "repository", offset: 0 }, new Blob(["x"]).stream()),
      (error) =>
        error instanceof Unavailable &&
        error.message === "The repository cannot be read or written",
    );
    await copies.drop(project);
  }));
