import assert from "node:assert/strict";
import {
  encodeUtf8,
  Reader,
  Repository,
  resolveCheckin,
  writeCheckin,
  writeTicketChange,
} from "../../../../services/engines/fossil/mod.ts";
import type { Dependence } from "../../../../services/work/projects/answers.ts";
import { type TestProject, withProject } from "../../../support/projects.ts";
import { until } from "../../../support/until.ts";

/** Reads the newest check-ins and tickets again and again; counts the reads that nothing kept. */
class Reads {
  count = 0;
  readonly #test: TestProject;

  constructor(test: TestProject) {
    this.#test = test;
  }

  get path(): string {
    const { api, project } = this.#test;
    return api.services.hosting.repositories.files.pathOf(project);
  }

  async get(dependence: Dependence): Promise<{ checkins: number; tickets: number }> {
    const { api: { services: { hosting: { repositories } } }, project } = this.#test;
    const { content } = await repositories.answers.get(project, dependence, async (repository) => {
      this.count++;
      const { total: checkins } = await repository.timeline({});
      const { total: tickets } = await repository.tickets({});
      return { bytes: new TextEncoder().encode(JSON.stringify({ checkins, tickets })) };
    }, dependence);
    return JSON.parse(new TextDecoder().decode(content.bytes));
  }
}

function commit(repository: Repository, text: string): void {
  const parent = repository.read(() => resolveCheckin(new Reader(repository)).uuid);
  writeCheckin(repository, {
    user: "ann",
    date: Date.now(),
    parent,
    comment: text,
    changes: [{ kind: "write", path: "a.txt", content: encodeUtf8(text) }],
    followParents: true,
  });
}

Deno.test("an answer is kept until what it depends on changes, in this process or another", async () => {
  await withProject(async (test) => {
    const { caller, answer } = test;
    const reads = new Reads(test);
    const { checkins } = await reads.get("history");
    await reads.get("all");
    assert.equal(reads.count, 2);
    await answer("POST /api/tickets", { as: caller, body: { title: "A fault" } });
    // The file's time is too coarse at first to tell whether it has changed since.
    for (let again = 0; again < 3; again++) {
      assert.equal((await reads.get("history")).checkins, checkins);
      assert.equal((await reads.get("all")).tickets, 1);
    }
    assert.ok(reads.count <= 4, `${reads.count} reads`);
    const before = reads.count;
    await answer("POST /api/tickets", { as: caller, body: { title: "Another one" } });
    assert.equal((await reads.get("history")).tickets, 1, "a check-in's answer knows no tickets");
    assert.equal(reads.count, before);
    {
      using program = Repository.open(reads.path);
      commit(program, "by another program");
    }
    assert.equal((await reads.get("history")).checkins, checkins + 1);
    {
      using program = Repository.open(reads.path);
      const fields = [{ name: "title", value: "By another program", append: false }];
      writeTicketChange(program, { user: "ann", date: Date.now(), fields });
    }
    assert.equal((await reads.get("all")).tickets, 3);
  });
});

Deno.test("requests that find an answer outdated share the new one", async () => {
  await withProject(async (test) => {
    const { caller, answer } = test;
    const reads = new Reads(test);
    await reads.get("all");
    for (const title of ["One", "Two", "Three"]) {
      await answer("POST /api/tickets", { as: caller, body: { title } });
      const before = reads.count;
      const found = await Promise.all(Array.from({ length: 20 }, () => reads.get("all")));
      assert.equal(new Set(found.map(({ tickets }) => tickets)).size, 1);
      assert.equal(reads.count, before + 1);
    }
  });
});

Deno.test("a large answer arrives whole after it is forgotten, and its memory comes back", async () => {
  await withProject(async ({ api, project }) => {
    const { answers } = api.services.hosting.repositories;
    const large = () => new Uint8Array(7 * 1024 * 1024).fill(7);
    const bytes = large();
    const { content } = await answers.get(project, "0", () => Promise.resolve({ bytes }));
    const stream = content.stream();
    for (const key of "12345") {
      await answers.get(project, key, () => Promise.resolve({ bytes: large() }));
    }
    let length = 0;
    for await (const part of stream) {
      assert.ok(part.every((byte) => byte === 7));
      length += part.length;
    }
    assert.equal(length, large().length);
    await until(() => bytes.length === 0);
  });
});
