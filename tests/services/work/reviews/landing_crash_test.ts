/** What a landing queue does after a process that ended at any moment. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { z } from "zod";
import { Unavailable } from "../../../../services/kernel/errors.ts";
import { listAt, textAt, valueAt } from "../../../support/json.ts";
import { TestApi } from "../../../support/scenarios.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { BY_OPERATOR, openServices, type TestServices } from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";
import { THOROUGH } from "../../../support/level.ts";

const BASE = "/projects/demo/fossil/api";

/** More commits than the queue makes between the request and the landing. */
const MOST_COMMITS = 12;

const landingSchema = z.object({ status: z.string(), candidate: z.string().nullable() });

type Shown = z.infer<typeof landingSchema>;

/** The repository API of the operator, who names whom he acts for. */
class Api {
  readonly services: TestServices;
  readonly #api: TestApi;

  private constructor(services: TestServices, api: TestApi) {
    this.services = services;
    this.#api = api;
  }

  static async open(folder: string, clock: TestScheduler): Promise<Api> {
    const services = await openServices(folder, {}, clock);
    const token = (await Deno.readTextFile(join(folder, "api_token"))).trim();
    return new Api(services, new TestApi(services, new Map([["operator", `Bearer ${token}`]])));
  }

  async answer(request: string, body?: unknown): Promise<unknown> {
    const [method, path] = request.split(" ");
    return await this.#api.answer(`${method} ${BASE}${path}`, body);
  }

  /** A project token for the reports of CI. */
  async ciToken(): Promise<string> {
    const request = { project: "demo", name: "ci", scopes: ["status:write"] };
    return textAt(await this.#api.answer("POST /v1/tokens", request), "token");
  }

  /** Reports that the check of a candidate has passed. */
  async pass(candidate: string | null, token: string): Promise<void> {
    const { status } = await this.#api.send({
      who: "guest",
      request: `POST ${BASE}/status`,
      headers: { authorization: `Bearer ${token}` },
      body: { checkin: candidate, context: "ci", state: "success" },
    });
    assert.ok(status === 200 || status === 201, String(status));
  }

  async landing(): Promise<Shown> {
    return landingSchema.parse(valueAt(await this.answer("GET /landing"), "landing.0"));
  }

  /** Waits until the queue has come to a status, or cannot write any more. */
  async until(isReady: (landing: Shown) => boolean): Promise<Shown> {
    const { promise, resolve, reject } = Promise.withResolvers<Shown>();
    const look = async () => {
      const landing = await this.landing();
      if (isReady(landing)) resolve(landing);
    };
    const stop = this.services.database.onAppended(() => void look().catch(reject));
    try {
      await look();
      return await promise;
    } finally {
      stop();
    }
  }
}

/** Makes an approved review of a workspace on a branch that asks for the check `ci`. */
async function prepare(api: Api): Promise<void> {
  const { projects } = api.services.hosting;
  const about = { slug: "demo", name: "Demo", description: "", visibility: "private" } as const;
  await projects.create(about, BY_OPERATOR);
  await api.answer("PUT /protection", [{ pattern: "trunk", contexts: ["ci"] }]);
  await api.answer("POST /workspaces/create", { name: "fix", agent_id: "ann" });
  await api.answer("POST /workspaces/fix/commit", {
    agent_id: "ann",
    message: "Fix",
    changes: [{ path: "a.txt", content: "a\n" }],
  });
  await api.answer("POST /reviews/create", { title: "Fix", workspace: "fix", agent_id: "ann" });
  await api.answer("POST /reviews/1/approve", { agent_id: "bob" });
}

/** Lets so many transactions through; then the disk takes no more, as if the process had ended. */
function endAfter({ database }: TestServices, commits: number): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const commit = database.commit.bind(database);
  let left = commits;
  database.commit = (change) => {
    if (left-- > 0) return commit(change);
    ended.resolve();
    return Promise.reject(new Unavailable("The process has ended"));
  };
  return ended.promise;
}

Deno.test(
  "a queue that was cut off after any of its transactions continues after the start",
  THOROUGH,
  async () => {
    let isCovered = false;
    for (let commits = 0; commits < MOST_COMMITS && !isCovered; commits++) {
      await withFolder(async (folder) => {
        const clock = new TestScheduler();
        const first = await Api.open(folder, clock);
        await prepare(first);
        const token = await first.ciToken();
        const ended = endAfter(first.services, commits);
        const work = async () => {
          await first.answer("POST /reviews/1/land", {});
          const { candidate } = await first.until(({ status }) => status === "testing");
          await first.pass(candidate, token);
          await first.until(({ status }) => status === "landed");
          return true;
        };
        isCovered = await Promise.race([
          work().catch(() => false),
          ended.then(() => false),
        ]);
        await first.services.close();

        const second = await Api.open(folder, clock);
        try {
          await second.answer("POST /reviews/1/land", {}).catch((error: unknown) => {
            assert.match(String(error), /already merged/);
          });
          const { candidate } = await second.until(({ status, candidate }) =>
            status === "landed" || (status === "testing" && candidate !== null)
          );
          const statusOf = async (path: string) =>
            textAt(await second.answer(`GET ${path}`), "status");
          if (await statusOf("/reviews/1") !== "merged") {
            await second.pass(candidate, await second.ciToken());
          }
          const landed = await second.until(({ status }) => status === "landed");
          const timeline = await second.answer("GET /timeline?branch=trunk");
          assert.equal(textAt(timeline, "checkins.0.uuid"), landed.candidate, `after ${commits}`);
          assert.equal(landed.candidate, candidate, `after ${commits}`);
          assert.equal(await statusOf("/reviews/1"), "merged");
          assert.equal(await statusOf("/workspaces/fix"), "merged");
          const { database } = second.services;
          assert.deepEqual(
            await database.tables.selectFrom("intentions").selectAll().execute(),
            [],
          );
          const branches = listAt(await second.answer("GET /branches"), "branches");
          const open = branches.filter((branch) => textAt(branch, "status") === "open");
          assert.deepEqual(open.map((branch) => textAt(branch, "name")), ["trunk"]);
          const told = await second.services.eventLog.read({
            after: 0,
            types: ["project.landing"],
          });
          const statuses = told.events.map(({ data }) => data["status"]);
          assert.deepEqual(statuses, ["queued", "testing", "landed"], `after ${commits}`);
        } finally {
          await second.services.close();
        }
      });
    }
    assert.ok(isCovered, "some number of transactions is enough");
  },
);
