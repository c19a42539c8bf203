/** Writes of one project that wait at the same time. */
import assert from "node:assert/strict";
import type { Database } from "../../../../services/engines/database/mod.ts";
import type { PooledRepository } from "../../../../services/engines/fossil/mod.ts";
import { Conflict, Forbidden, Unavailable } from "../../../../services/kernel/errors.ts";
import type {
  Project,
  ProjectRepositories,
  RepositoryWrite,
  Stamp,
} from "../../../../services/work/projects/mod.ts";
import { type TestProject, withProject } from "../../../support/projects.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { Random } from "../../engines/fossil/support/random.ts";

/** Begins writes while something else has the project's turn, then lets them go on. */
async function whileWaiting<T>(
  { repositories, project }: {
    readonly repositories: ProjectRepositories;
    readonly project: Project;
  },
  begin: () => T,
): Promise<T> {
  const busy = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const turn = repositories.exclusively(project, null, () => {
    begun.resolve();
    return busy.promise;
  });
  await begun.promise;
  const result = begin();
  busy.resolve();
  await turn;
  return result;
}

/** How many events each transaction has that a task commits, of those that have any. */
async function committing(database: Database, task: () => Promise<unknown>) {
  const commit = database.commit.bind(database);
  const counts: number[] = [];
  database.commit = (change) => {
    const { events = [] } = change;
    if (events.length > 0) counts.push(events.length);
    return commit(change);
  };
  try {
    await task();
  } finally {
    database.commit = commit;
  }
  return counts;
}

/**
 * Lets so many transactions through; then the disk takes no more, as if the process had ended.
 *
 * @returns a function that ends this
 */
function endAfter(database: Database, commits: number): () => void {
  const { commit } = database;
  let left = commits;
  database.commit = (change) =>
    left-- > 0
      ? commit.call(database, change)
      : Promise.reject(new Unavailable("The process has ended"));
  return () => {
    database.commit = commit;
  };
}

type Write = RepositoryWrite<unknown, unknown>;

/** A write of a page. */
function page(title: string, more: Partial<Write> = {}): Write {
  return {
    caller: BY_OPERATOR,
    subject: `wiki ${title}`,
    write: (repository: PooledRepository, stamp: Stamp) =>
      repository.changeWiki({ ...stamp, title, text: title }),
    ...more,
  };
}

function partsOf({ api, project }: TestProject) {
  const { database, hosting: { repositories } } = api.services;
  return { database, repositories, project };
}

/** The titles of pages, in the order of their events. */
async function told({ api }: TestProject): Promise<unknown[]> {
  const { events } = await api.services.eventLog.read({ after: 0, types: ["project.wiki"] });
  return events.map(({ data }) => data["name"]);
}

Deno.test("writes that wait are one transaction, and each is refused alone", async () => {
  await withProject(async (test) => {
    const { database, repositories, project } = partsOf(test);
    const writes = [
      page("A"),
      page("B", {
        caller: { ...BY_OPERATOR, confirm: () => Promise.reject(new Forbidden("Not any more")) },
      }),
      page("C", { write: () => Promise.reject(new Conflict("The claim has ended")) }),
      page("D", {
        write: (repository, stamp) =>
          repository.changeWiki({ ...stamp, title: "D", text: "D", basedOn: "0".repeat(64) }),
      }),
      page("E", {
        write: async (repository, stamp) => {
          await repository.changeWiki({ ...stamp, title: "E", text: "E" });
          throw new Error("It fails after its write");
        },
      }),
      page("F"),
    ];
    const counts = await committing(database, async () => {
      const all = await whileWaiting(
        { repositories, project },
        () => Promise.allSettled(writes.map((write) => repositories.write(project, write))),
      );
      const outcomes = await all;
      assert.deepEqual(
        outcomes.map((one) => one.status === "fulfilled" ? "done" : one.reason.message),
        [
          "done",
          "Not any more",
          "The claim has ended",
          'Wiki page "D" has changed',
          "It fails after its write",
          "done",
        ],
      );
    });
    assert.deepEqual(counts, [3]);
    assert.deepEqual(await told(test), ["A", "E", "F"]);
  });
});

Deno.test("what waits behind something else, or is about the same thing, comes after it", async () => {
  await withProject(async (test) => {
    const { database, repositories, project } = partsOf(test);
    const order: string[] = [];
    const write = (title: string, more: Partial<Write> = {}) =>
      repositories.write(project, page(title, more)).then(() => order.push(title));
    const counts = await committing(database, async () => {
      const all = await whileWaiting({ repositories, project }, () =>
        Promise.all([
          write("A"),
          write("B"),
          repositories.exclusively(project, BY_OPERATOR, () => {
            order.push("turn");
            return Promise.resolve();
          }),
          write("C"),
          write("D", { subject: "wiki C" }),
          write("E"),
          repositories.write(project, {
            caller: BY_OPERATOR,
            write: (repository, stamp) =>
              repository.changeWiki({ ...stamp, title: "alone", text: "alone" }),
          }).then(() => order.push("alone")),
          write("F"),
        ]));
      await all;
    });
    assert.deepEqual(order, ["A", "B", "turn", "C", "D", "E", "alone", "F"]);
    assert.deepEqual(counts, [2, 1, 2, 1, 1]);
    assert.deepEqual(await told(test), ["A", "B", "C", "D", "E", "alone", "F"]);
  });
});

Deno.test("a write that makes several operations has them all as its own", async () => {
  await withProject(async (test) => {
    const { repositories, project } = partsOf(test);
    const settled: string[] = [];
    const kind = repositories.intentions.register<{ title: string }>({
      name: "test.pages",
      settle: ({ body, artifacts }) => {
        settled.push(`${body.title} ${artifacts.length}`);
        return {};
      },
    });
    const several = (title: string) =>
      page(title, {
        intention: { kind, body: { title } },
        write: async (repository, stamp) => {
          await repository.changeWiki({ ...stamp, title, text: "One" });
          await repository.changeWiki({ ...stamp, title, text: "Two" });
          return await repository.changeWiki({ ...stamp, title, text: "Three" });
        },
      });
    const all = await whileWaiting({ repositories, project }, () =>
      Promise.all([
        repositories.write(project, several("A")),
        repositories.write(project, several("B")),
      ]));
    await all;
    assert.deepEqual(settled.sort(), ["A 3", "B 3"]);
    assert.deepEqual(repositories.intentions.of(project.id), []);
  });
});

Deno.test("nothing is acknowledged before it is settled on disk", async () => {
  await withProject(async (test) => {
    const { database, repositories, project } = partsOf(test);
    const reached = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const commit = database.commit.bind(database);
    database.commit = async (change) => {
      reached.resolve();
      await released.promise;
      return await commit(change);
    };
    let done = 0;
    const all = await whileWaiting(
      { repositories, project },
      () => ["A", "B"].map((title) => repositories.write(project, page(title)).then(() => done++)),
    );
    await reached.promise;
    assert.equal(done, 0);
    released.resolve();
    await Promise.all(all);
    assert.equal(done, 2);
  });
});

Deno.test("a group that was cut off before its settling is settled later, each for itself", async () => {
  // Cut off before the intentions are on disk, and before they are settled.
  for (
    const [commits, outcome, names] of [
      [0, [], []],
      [1, ["A 1", "no B", "C 1"], ["A", "C"]],
    ] as const
  ) {
    await withProject(async (test) => {
      const { database, repositories, project } = partsOf(test);
      const settled: string[] = [];
      const kind = repositories.intentions.register<{ title: string }>({
        name: "test.page",
        settle: ({ body, artifacts }) => {
          settled.push(`${body.title} ${artifacts.length}`);
          return {};
        },
        undo: ({ body }) => {
          settled.push(`no ${body.title}`);
          return {};
        },
      });
      const write = (title: string, basedOn?: string) =>
        repositories.write(
          project,
          page(title, {
            intention: { kind, body: { title } },
            write: (repository, stamp) =>
              repository.changeWiki({
                ...stamp,
                title,
                text: title,
                ...(basedOn === undefined ? {} : { basedOn }),
              }),
          }),
        );
      const begin = endAfter(database, commits);
      const all = await whileWaiting(
        { repositories, project },
        () => Promise.allSettled([write("A"), write("B", "0".repeat(64)), write("C")]),
      );
      for (const { status } of await all) assert.equal(status, "rejected");
      settled.length = 0;
      assert.deepEqual(await told(test), []);

      // What the next start reads.
      begin();
      await repositories.intentions.reload(project.id);
      await repositories.places.reload(project);
      await repositories.catchUp(project);
      assert.deepEqual(settled, outcome);
      assert.deepEqual(await told(test), names);
      assert.deepEqual(repositories.intentions.of(project.id), []);
    });
  }
});

/** What a caller has done to pages, as the answers say. */
interface Done {
  readonly title: string;
  readonly text: string;
}

Deno.test("random writes at the same time are as some order of them makes them", async () => {
  await withProject(async (test) => {
    const { answer, send, caller, other } = test;
    const { uuid: ticket } = await answer("POST /api/tickets", {
      as: caller,
      body: { title: "One" },
    });
    const titles = ["Home", "News"];
    const saved: Done[] = [];
    const comments = new Map<number, string[]>();
    const created = new Set<string>();
    const commits = new Map<string, number>();
    for (const name of ["one", "two"]) {
      await answer("POST /api/workspaces/create", { as: caller, body: { name } });
    }
    const work = async (index: number) => {
      const random = new Random(index + 1);
      const as = index % 2 === 0 ? caller : other;
      const mine: string[] = [];
      comments.set(index, mine);
      for (let step = 0; step < 12; step++) {
        const text = `Text ${index}.${step}`;
        await random.pick<() => Promise<void>>([
          async () => {
            const title = random.pick(titles);
            const page = await send(`GET /api/wiki/${title}`, { as });
            const { uuid: parent = null } = await page.json();
            const body = { content: text, parent };
            const response = await send(`PUT /api/wiki/${title}`, { as, body });
            await response.body?.cancel();
            if (response.ok) saved.push({ title, text });
            else assert.equal(response.status, 409);
          },
          async () => {
            await answer(`POST /api/tickets/${ticket}/comments`, { as, body: { comment: text } });
            mine.push(text);
          },
          async () => {
            const { uuid } = await answer("POST /api/tickets", { as, body: { title: text } });
            created.add(uuid);
          },
          async () => {
            const body = { title: text, fields: { nothing: "like this" } };
            const response = await send("POST /api/tickets", { as, body });
            assert.match(await response.text(), /have no field .*nothing/);
          },
          async () => {
            const name = random.pick(["one", "two"]);
            const changes = [{ path: `${index}.${step}.txt`, content: text }];
            const body = { message: text, changes };
            await answer(`POST /api/workspaces/${name}/commit`, { as: caller, body });
            commits.set(name, (commits.get(name) ?? 0) + 1);
          },
        ])();
      }
    };
    await Promise.all(Array.from({ length: 10 }, (_, index) => work(index)));

    for (const title of titles) {
      const { versions } = await answer(`GET /api/wiki-history?name=${title}&per_page=200`);
      const expected = saved.filter((one) => one.title === title).length;
      assert.equal(versions.length, expected, title);
    }
    const { comments: seen } = await answer(`GET /api/tickets/${ticket}`);
    const texts: string[] = seen.map(({ comment }: { comment: string }) => comment);
    for (const mine of comments.values()) {
      assert.deepEqual(texts.filter((text) => mine.includes(text)), mine);
    }
    assert.equal(texts.length, [...comments.values()].flat().length);
    const { total } = await answer("GET /api/tickets");
    assert.equal(total, created.size + 1);
    for (const [name, count] of commits) {
      const { commits_made } = await answer(`GET /api/workspaces/${name}`);
      assert.equal(commits_made, count, name);
    }
    const { repositories } = test.api.services.hosting;
    assert.deepEqual(repositories.intentions.of(test.project.id), []);
    const { damages } = await repositories.read(test.project, (read) => read.verify());
    assert.deepEqual(damages, []);
  });
});
