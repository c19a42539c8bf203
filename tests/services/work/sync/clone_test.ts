/** Who may clone, and what a clone shows of projects that others may not see. */
import assert from "node:assert/strict";
import type { Card } from "../../../../services/engines/fossil/mod.ts";
import { commitFiles, type TestProject, withProject } from "../../../support/projects.ts";
import { BY_OPERATOR } from "../../../support/services.ts";
import { type SyncTest, withSync } from "../../../support/sync.ts";
import { exchange, type SyncMessage } from "../../../support/sync_messages.ts";
import { judged } from "../../engines/fossil/support/judges.ts";

const CLONE: Card = { kind: "clone", version: 3, sequence: 1 };

async function makePublic({ api }: TestProject): Promise<void> {
  await api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
}

async function tokenOf({ api }: TestProject, request: { owner?: string; project?: string }) {
  const { owner = null, project = null } = request;
  const { tokens, hosting: { projects } } = api.services;
  const wish = { owner, project, name: "ci", scopes: ["read" as const], expires_at: null };
  const find = (slug: string) => projects.find(slug)?.project.id ?? null;
  return (await tokens.create(wish, BY_OPERATOR, find)).token;
}

/** Sends a message to a project's URL. */
function post(test: TestProject, message: SyncMessage, slug = "demo") {
  const send = (request: Request) => test.api.handle(request);
  return exchange(send, `http://muster.test/projects/${slug}/fossil`, message);
}

async function assertClone(
  { client, assertSound }: SyncTest,
  args: readonly string[],
  name: string,
) {
  await client.fossil(["clone", ...args, `${name}.fossil`]);
  assert.match(await client.fossil(["timeline", "-R", `${name}.fossil`]), /Files/);
  await assertSound(client.path(`${name}.fossil`));
}

judged(
  "a public project is cloned without a credential, a private one with each kind",
  async (program) => {
    await withSync(program, async (test) => {
      await commitFiles(test, { "a.txt": "one\n", "b/c.txt": "two\n" });
      const { client, url, origin, base, api } = test;
      const token = await tokenOf(test, { project: "demo" });
      const { passphrase } =
        (await api.services.agents.rotate("caller", BY_OPERATOR, { keep_tokens: true }))
          .credentials;
      await assertClone(test, [url], "personal");
      await assertClone(test, [url.replace("/fossil", "/fossil/")], "slash");
      await assertClone(test, [url.replace(/\/\/[^@]*@/, `//anybody:${token}@`)], "project");
      await assertClone(test, ["-B", `caller:${passphrase}`, `${origin}${base}`], "passphrase");
      const refused = await client.run(["clone", `${origin}${base}`, "refused.fossil"]);
      assert.notEqual(refused.code, 0);
      assert.match(refused.stdout + refused.stderr, /not authorized to clone/);
      await makePublic(test);
      await assertClone(test, [`${origin}${base}`], "public");
      const folder = client.path("opened");
      Deno.mkdirSync(folder);
      await client.fossil(["open", `${origin}${base}`, "--repodir", client.folder], folder);
      assert.equal(Deno.readTextFileSync(`${folder}/a.txt`), "one\n");
    });
  },
);

Deno.test("both places of a login open a private project, in each form of message", async () => {
  await withProject(async (test) => {
    const password = await tokenOf(test, { owner: "caller" });
    for (const inCookie of [false, true]) {
      for (const form of ["compressed", "plain", "debug"] as const) {
        const login = { user: "caller", password, inCookie };
        const { errors, cards } = await post(test, { cards: [CLONE], form, login });
        assert.deepEqual(errors, []);
        assert(cards.some(({ kind }) => kind === "cfile"));
      }
    }
  });
});

Deno.test("a login that does not fit is refused, and counts as a wrong password", async () => {
  await withProject(async (test) => {
    const password = await tokenOf(test, { owner: "caller" });
    const wrong: readonly SyncMessage[] = [
      { cards: [CLONE], login: { user: "caller", password: "0".repeat(40) } },
      { cards: [CLONE], login: { user: "other", password } },
      { cards: [CLONE], login: { user: "unknown", password } },
      { cards: [CLONE], login: { user: "caller", password: "a password", projectCode: "1" } },
      { cards: [CLONE], headers: { authorization: `Basic ${btoa(`caller:${"1".repeat(40)}`)}` } },
    ];
    for (const message of wrong) {
      const { status, errors } = await post(test, message);
      assert.deepEqual({ status, errors }, { status: 200, errors: ["login failed"] });
    }
    const login = { user: "caller", password: "2".repeat(40) };
    const texts: string[] = [];
    for (let i = 0; i < 12; i++) {
      texts.push((await post(test, { cards: [CLONE], login })).errors[0] ?? "");
    }
    assert.match(texts.at(-1) ?? "", /^Too many wrong passwords/);
    const right = await post(test, { cards: [CLONE], login: { user: "caller", password } });
    assert.match(right.errors[0] ?? "", /^Too many wrong passwords/);
  });
});

Deno.test("a message that was changed on its way is refused", async () => {
  await withProject(async (test) => {
    const password = await tokenOf(test, { owner: "caller" });
    const send = async (request: Request) => {
      const body = new Uint8Array(await request.arrayBuffer());
      body[body.length - 2] = body[body.length - 2]! ^ 1;
      return await test.api.handle(
        new Request(request.url, { method: "POST", headers: request.headers, body }),
      );
    };
    const message = { cards: [CLONE], form: "plain", login: { user: "caller", password } } as const;
    const { errors } = await exchange(send, "http://muster.test/projects/demo/fossil", message);
    assert.deepEqual(errors, ["login failed"]);
  });
});

Deno.test("a private project and none at all give the same answers", async () => {
  await withProject(async (test) => {
    const outsider = test.outsider.slice("Bearer ".length);
    const logins = [undefined, { user: "stranger-1", password: outsider }, {
      user: "x",
      password: outsider,
    }];
    const project = "1".repeat(40);
    const messages: readonly Card[][] = [
      [CLONE],
      [{ kind: "pull", serverCode: project, projectCode: project }],
      [{ kind: "push", serverCode: project, projectCode: project }],
    ];
    for (const cards of messages) {
      for (const login of logins) {
        const message = login === undefined ? { cards } : { cards, login };
        const [hidden, absent] = [await post(test, message), await post(test, message, "absent")];
        const shape = ({ status, cards }: typeof hidden) => ({
          status,
          cards: cards.map((card) =>
            card.kind === "push" ? { kind: "push", length: card.projectCode.length } : card
          ),
        });
        assert.deepEqual(shape(hidden), shape(absent));
        assert.equal(hidden.errors.length, 1);
      }
    }
    const codes = async (slug: string) => (await post(test, { cards: [CLONE] }, slug)).cards[0];
    assert.deepEqual(await codes("absent"), await codes("absent"));
    assert.notDeepEqual(await codes("absent"), await codes("absent-too"));
  });
});

Deno.test("the URL of a repository leads browsers to its project, and answers programs and fossil", async () => {
  await withProject(async (test) => {
    const page = await test.send("GET ", { headers: { accept: "text/html,*/*" } });
    assert.deepEqual([page.status, page.headers.get("location")], [303, "/projects/demo"]);
    const { clone, slug } = await (await test.send("GET ")).json();
    assert.match(clone, /^fossil clone http.*\/projects\/demo\/fossil demo\.fossil$/);
    assert.equal(slug, "demo");
    const hint = await test.send("GET ", { headers: { "user-agent": "Fossil/2.21 (2023)" } });
    assert.match(await hint.text(), /^Clone this project with: fossil clone/);
    for (const as of [null, test.outsider]) {
      const { status } = await test.send("GET ", { as, headers: { accept: "text/html" } });
      assert.equal(status, 404);
    }
    assert.equal((await test.send("POST ", { body: {} })).status, 400);
  });
});
