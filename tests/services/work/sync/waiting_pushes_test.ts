/** Pushes that wait: for the project, or for their own body. Rights may end meanwhile. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type Card, contentTypeOf } from "../../../../services/engines/fossil/mod.ts";
import { fileOf, hashOf, HostileScene } from "../../../support/hostile_pusher.ts";
import { originOf } from "../../../../services/people/identity/mod.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { withSync } from "../../../support/sync.ts";
import { exchange, message } from "../../../support/sync_messages.ts";
import { until } from "../../../support/until.ts";
import { THOROUGH } from "../../../support/level.ts";

/** A way in which the rights of the agent `caller` end. */
interface Ending {
  readonly name: string;
  end(scene: HostileScene): Promise<unknown>;
  readonly refusal?: RegExp;
}

const ENDINGS: readonly Ending[] = [
  { name: "the token is revoked", end: revoke },
  {
    name: "the role ends",
    end: ({ test: { api } }) =>
      api.services.hosting.projects.setMember("demo", "caller", "read", BY_OPERATOR),
  },
  {
    name: "the project is archived",
    end: ({ test: { api } }) =>
      api.services.hosting.projects.change("demo", { archived: true }, BY_OPERATOR),
  },
  {
    name: "the node loses touch with the others",
    end: ({ test: { api } }) =>
      Promise.resolve(api.services.revocations.announce({ kind: "everything" })),
    refusal: /^the server is not available at the moment; try again$/,
  },
];

async function revoke({ test: { api } }: HostileScene): Promise<void> {
  const { tokens } = api.services;
  for (const { id, owner } of await tokens.list()) {
    if (owner === "caller") await tokens.revoke(id, BY_OPERATOR);
  }
}

/** Calls back when a method has been called and has returned its promise. */
function onCall<Name extends string>(
  owner: Record<Name, (...args: never[]) => Promise<unknown>>,
  name: Name,
): Promise<void> {
  const called = Promise.withResolvers<void>();
  const original = owner[name].bind(owner);
  owner[name] = (...args) => {
    const result = original(...args);
    called.resolve();
    return result;
  };
  return called.promise;
}

/** Runs calls in this order, and nothing of them before all of them wait for the project. */
async function inOrder<T>(
  scene: HostileScene,
  calls: readonly { readonly method: "receive" | "exclusively" | "import"; run(): Promise<T> }[],
): Promise<T[]> {
  const { repositories } = scene.test.api.services.hosting;
  const running: Promise<T>[] = [];
  await repositories.exclusively(scene.test.project, null, async () => {
    for (const { method, run } of calls) {
      const waits = onCall(repositories, method);
      running.push(run());
      await waits;
    }
  });
  return await Promise.all(running);
}

Deno.test(
  "a push that waited for the project has the rights after the wait",
  THOROUGH,
  async (test) => {
    for (const { name, end, refusal = /^not authorized to write$/ } of ENDINGS) {
      await test.step(name, () =>
        HostileScene.run(async (scene) => {
          const { repositories } = scene.test.api.services.hosting;
          const card = fileOf(scene.checkin(scene.feature, { comment: "late" }));
          const waits = onCall(repositories, "receive");
          let reply: ReturnType<HostileScene["send"]> | undefined;
          await repositories.exclusively(scene.test.project, null, async () => {
            reply = scene.send({ cards: [card] });
            await waits;
            await end(scene);
          });
          const { errors } = await reply!;
          assert.match(errors.join("|"), refusal);
          const { checkins } = await scene.test.answer("GET /api/timeline?branch=feature");
          assert.equal(checkins.length, 1);
        }));
    }
  },
);

Deno.test("a push that waited until its project was removed is refused", async () => {
  await HostileScene.run(async (scene) => {
    const { repositories, projects } = scene.test.api.services.hosting;
    const waits = onCall(repositories, "receive");
    let [reply, removal]: [ReturnType<HostileScene["send"]> | null, Promise<unknown> | null] = [
      null,
      null,
    ];
    await repositories.exclusively(scene.test.project, null, async () => {
      reply = scene.send({ cards: [fileOf(scene.checkin(scene.feature))] });
      await waits;
      removal = projects.remove("demo", BY_OPERATOR);
      await until(() => projects.find("demo") === null);
    });
    await removal;
    assert.deepEqual((await reply!).errors, ["not authorized to write"]);
  });
});

Deno.test("a push that waited for an import meets the imported repository", async () => {
  await withSync("fossil", async (test) => {
    const { api: { services }, project, client, answer, caller, origin, base } = test;
    const { repositories } = services.hosting;
    const { projectCode } = await repositories.read(project, (it) => it.syncCodes());
    const stream =
      "commit refs/heads/main\ncommitter A <a@b> 1700000000 +0000\ndata 8\nImported\n" +
      "M 644 inline a.txt\ndata 4\none\n\ndone\n";
    const path = client.write("stream", stream);
    const by = { origin: originOf(BY_OPERATOR) };
    const cards: Card[] = [
      { kind: "push", serverCode: "a".repeat(40), projectCode },
      fileOf(new TextEncoder().encode("pushed")),
    ];
    const login = { user: "caller", password: caller.slice("Bearer ".length) };
    const push = () => exchange((request) => fetch(request), `${origin}${base}`, { cards, login });
    let calls: [Promise<unknown>, ReturnType<typeof push>] | undefined;
    await repositories.exclusively(project, null, async () => {
      const importing = repositories.import(project, { source: path, format: "git" }, by);
      const waits = onCall(repositories, "receive");
      calls = [importing, push()];
      await waits;
    });
    const [, { errors }] = await Promise.all(calls!);
    assert.deepEqual(errors, ["wrong project"]);
    const { checkins } = await answer("GET /api/timeline", { as: caller });
    assert.deepEqual(checkins.map(({ comment }: { comment: string }) => comment), ["Imported"]);
    await test.assertSound();
  });
});

Deno.test("a takeover of a workspace is before a push or after it", async () => {
  await HostileScene.run(async (scene) => {
    const { answer } = scene.test;
    const takeOver = {
      method: "exclusively",
      run: async () => await answer("POST /api/workspaces/mine/takeover", { body: {} }),
    } as const;
    const push = (parent: string) => {
      const checkin = scene.checkin(parent, { comment: "pushed to mine" });
      const run = () => scene.send({ cards: [fileOf(checkin)] });
      return { hash: hashOf(checkin), method: "receive", run } as const;
    };
    const first = push(scene.mine);
    const [stored] = await inOrder<{ readonly errors?: readonly string[] }>(scene, [
      first,
      takeOver,
    ]);
    assert.deepEqual(stored?.errors, []);
    const { errors } = await push(first.hash).run();
    assert.match(errors.join("|"), /workspace\/mine.* is refused: /);
  });
});

Deno.test("a push that waited for a takeover of its workspace is refused", async () => {
  await HostileScene.run(async (scene) => {
    const { answer } = scene.test;
    const card = fileOf(scene.checkin(scene.mine, { comment: "pushed to mine" }));
    const [, refused] = await inOrder<{ readonly errors?: readonly string[] }>(scene, [
      {
        method: "exclusively",
        run: () => answer("POST /api/workspaces/mine/takeover", { body: {} }),
      },
      { method: "receive", run: () => scene.send({ cards: [card] }) },
    ]);
    assert.match(refused?.errors?.join("|") ?? "", /workspace\/mine.* is refused: /);
  });
});

Deno.test("a long push whose token is revoked while it uploads stores nothing", async () => {
  await HostileScene.run(async (scene) => {
    const { origin, base, caller, answer } = scene.test;
    const push: Card = {
      kind: "push",
      serverCode: "a".repeat(40),
      projectCode: scene.projectCode,
    };
    const content = new Uint8Array(randomBytes(1_000_000));
    const login = { user: "caller", password: caller.slice("Bearer ".length) };
    const { bytes } = message({ cards: [push, fileOf(content)], form: "plain", login });
    let isRevoked = false;
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => controller.enqueue(bytes.slice(0, 400_000)),
      async pull(controller) {
        if (!isRevoked) await revoke(scene);
        isRevoked = true;
        controller.enqueue(bytes.slice(400_000));
        controller.close();
      },
    }, { highWaterMark: 0 });
    const headers = { "content-type": contentTypeOf("plain") };
    const response = await fetch(`${origin}${base}`, { method: "POST", headers, body });
    assert.match(await response.text(), /^error login\\sfailed\n/m);
    const { total } = await answer("GET /api/timeline");
    assert(total > 0);
    const { hash } = fileOf(content) as Card & { readonly hash: string };
    assert.equal((await scene.test.send(`GET /api/artifacts/${hash}`)).status, 404);
  });
});
