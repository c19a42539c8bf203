/** The events of what the `fossil` program writes to the file of a project. */
import assert from "node:assert/strict";
import { Scratch } from "../../engines/fossil/support/fossil.ts";
import { judged } from "../../engines/fossil/support/judges.ts";
import { BY_OPERATOR, openServices, type TestServices } from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";

/** A project's services after a start. */
async function open(folder: string) {
  const services = await openServices(folder);
  const { projects, repositories } = services.hosting;
  if (projects.find("demo") === null) {
    const request = { slug: "demo", description: "", visibility: "private" } as const;
    await projects.create(request, BY_OPERATOR);
  }
  const { project } = projects.require("demo");
  return { services, project, repositories, file: repositories.files.pathOf(project) };
}

/** The events of what came into the repository, in their order. */
async function told({ database }: TestServices): Promise<[string, string, string][]> {
  const rows = await database.tables.selectFrom("events").select(["type", "actor", "data"])
    .where("type", "like", "project.%").orderBy("seq").execute();
  return rows.filter(({ actor }) => actor.startsWith("fossil:")).map(({ type, actor, data }) => {
    const { comment, title, name, tags } = JSON.parse(data);
    const what = comment ?? title ?? tags?.map((tag: { name: string }) => tag.name).join() ?? name;
    return [type.slice("project.".length), actor, type.endsWith("technote") ? "" : what];
  });
}

const FIRST = [
  ["checkin", "fossil:ann", "One"],
  ["ticket", "fossil:ann", "Crash"],
  ["wiki", "fossil:ann", "Home"],
  ["tag", "fossil:ann", "sym-green"],
  ["technote", "fossil:ann", ""],
];

const SECOND = [
  ["checkin", "fossil:ann", "Two"],
  ["ticket", "fossil:ann", "Crash"],
  ["wiki", "fossil:ann", "Home"],
];

judged(
  "what the fossil program writes is told once each, in order, also after a restart",
  async (program) => {
    using scratch = new Scratch(program);
    await withFolder(async (folder) => {
      const first = await open(folder);
      const { file } = first;
      const as = (...args: string[]) => scratch.fossil([...args, "-R", file, "--user", "ann"]);
      scratch.fossil(["user", "new", "ann", "Ann", "secret", "-R", file]);
      const checkout = scratch.path("checkout");
      Deno.mkdirSync(checkout);
      const inside = (...args: string[]) => scratch.fossil(args, checkout);
      inside("open", file, "trunk", "--user", "ann");
      scratch.write("page", "Hello\n");
      const commit = (name: string) => {
        scratch.write(`checkout/${name}.txt`, `${name}\n`);
        inside("add", `${name}.txt`, "--user", "ann");
        inside("commit", "-m", name, "--no-warnings", "--user-override", "ann", "--user", "ann");
      };
      const page = scratch.path("page");
      commit("One");
      as("ticket", "add", "title", "Crash", "status", "Open");
      as("wiki", "create", "Home", page);
      as("tag", "add", "green", "trunk");
      as("wiki", "create", "A note", page, "--technote", "now");
      await first.repositories.catchUp(first.project);
      await first.repositories.catchUp(first.project);
      assert.deepEqual(await told(first.services), FIRST);

      // What it writes while muster is down is told at the next start.
      const rows = JSON.parse(
        JSON.stringify(
          await first.repositories.read(first.project, (repository) => repository.tickets({})),
        ),
      );
      await first.services.close();
      commit("Two");
      as("ticket", "change", rows.tickets[0].uuid, "status", "Fixed");
      scratch.write("page", "Hello again\n");
      as("wiki", "commit", "Home", page);
      const second = await open(folder);
      await second.repositories.catchUp(second.project);
      assert.deepEqual(await told(second.services), [...FIRST, ...SECOND]);
      await second.services.close();

      const third = await open(folder);
      await third.repositories.catchUp(third.project);
      assert.equal((await told(third.services)).length, FIRST.length + SECOND.length);
      await third.services.close();
    });
  },
);
