/** Who reaches the repository API: caller, credential, visibility of the project, and action. */
import assert from "node:assert/strict";
import type { Scope } from "../../../services/people/identity/mod.ts";
import { heldBack, type TestApi } from "../../support/scenarios.ts";
import { anAgent, BY_OPERATOR } from "../../support/services.ts";
import { withProject } from "../../support/projects.ts";

type Headers = Readonly<Record<string, string>>;

const PASSWORD = "correct horse battery";

const VISIBILITIES = ["public", "internal", "private"] as const;

/** The statuses of a reading, a writing and an administering request. */
type Row = readonly [read: number, write: number, admin: number];

/** The rows of a caller in a public, an internal and a private project. */
type Rows = readonly [Row, Row, Row];

const everywhere = (row: Row): Rows => [row, row, row];

const GUEST: Rows = [[200, 401, 401], [404, 401, 401], [404, 401, 401]];
const MEMBER = everywhere([200, 201, 403]);
const READER = everywhere([200, 403, 403]);
const STRANGER: Rows = [[200, 403, 403], [200, 403, 403], [404, 404, 404]];
const EVERYTHING = everywhere([200, 201, 200]);
const REFUSED = everywhere([401, 401, 401]);

async function tokenOf(api: TestApi, owner: string, ...scopes: Scope[]): Promise<Headers> {
  const request = { owner, name: "test", scopes, project: null, expires_at: null };
  const { token } = await api.services.tokens.create(request, BY_OPERATOR);
  return { authorization: `Bearer ${token}` };
}

function basicOf(name: string, password: string): Headers {
  return { authorization: `Basic ${btoa(`${name}:${password}`)}` };
}

/** Logs in on the web; gives the headers of the session. */
async function sessionOf(api: TestApi, username: string): Promise<Headers> {
  const body = { username, password: PASSWORD };
  const response = await api.send({ who: "guest", request: "POST /login", body });
  assert.equal(response.status, 200, `${username}: ${await response.text()}`);
  const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(";")[0] ?? "");
  const csrf = cookies.find((cookie) => cookie.startsWith("muster_csrf="))?.split("=")[1] ?? "";
  return { cookie: cookies.join("; "), "x-csrf-token": csrf };
}

Deno.test("each credential opens the repository API as far as its scopes and its owner's role go", async () => {
  await withProject(async ({ api, caller, outsider }) => {
    const { services } = api;
    const passphrases = {
      member: await anAgent(services, "agent-2"),
      stranger: await anAgent(services, "agent-3"),
    };
    for (const account of ["ann", "bob", "rob"]) {
      await api.answer("POST /v1/irc/accounts", { account, password: PASSWORD });
    }
    for (const username of ["root-1", "root-2"]) {
      const body = { username, password: PASSWORD };
      const { status } = await api.send({ request: "POST /v1/admins", body });
      assert.equal(status, 201);
    }
    for (const slug of VISIBILITIES) {
      const request = { slug, name: slug, description: "", visibility: slug };
      await services.hosting.projects.create(request, BY_OPERATOR);
      for (const name of ["caller", "agent-2", "ann", "root-2"]) {
        await services.hosting.projects.setMember(slug, name, "write", BY_OPERATOR);
      }
      await services.hosting.projects.setMember(slug, "rob", "read", BY_OPERATOR);
    }
    const session = await sessionOf(api, "ann");
    const token = (...scopes: Scope[]) => tokenOf(api, "ann", ...scopes);
    const table: readonly (readonly [who: string, headers: Headers, rows: Rows])[] = [
      ["nobody", {}, GUEST],
      ["an unknown token", { authorization: `Bearer ${"0".repeat(40)}` }, REFUSED],

      ["an agent, member, token", { authorization: caller }, MEMBER],
      ["an agent, member, read", await tokenOf(api, "caller", "read"), READER],
      ["an agent, member, admin", await tokenOf(api, "caller", "admin"), MEMBER],
      ["an agent, member, passphrase", basicOf("agent-2", passphrases.member), MEMBER],
      ["an agent, stranger, token", { authorization: outsider }, STRANGER],
      ["an agent, stranger, passphrase", basicOf("agent-3", passphrases.stranger), STRANGER],
      ["an agent, wrong passphrase", basicOf("agent-2", passphrases.stranger), REFUSED],

      ["a person, member, token", await token("read", "write"), MEMBER],
      ["a person, member, read", await token("read"), READER],
      ["a person, member, session", session, MEMBER],
      ["a person, role read, session", await sessionOf(api, "rob"), READER],
      ["a person, stranger, token", await tokenOf(api, "bob", "read", "write"), STRANGER],
      ["a person, stranger, session", await sessionOf(api, "bob"), STRANGER],
      ["a person, member, password", basicOf("ann", PASSWORD), REFUSED],

      ["an admin, session", await sessionOf(api, "root-1"), STRANGER],
      ["an admin, member, session", await sessionOf(api, "root-2"), MEMBER],
      ["an admin, admin", await tokenOf(api, "root-1", "admin"), EVERYTHING],
      ["an admin, read", await tokenOf(api, "root-1", "read"), READER],
      ["an admin, write", await tokenOf(api, "root-1", "read", "write"), READER],
      ["an admin, member, write", await tokenOf(api, "root-2", "read", "write"), MEMBER],
      ["an admin, member, read", await tokenOf(api, "root-2", "read"), READER],
      ["an admin, password", basicOf("root-1", PASSWORD), REFUSED],
    ];
    for (const [who, headers, rows] of table) {
      for (const [index, slug] of VISIBILITIES.entries()) {
        const base = `/projects/${slug}/fossil/api`;
        const requests: readonly (readonly [string, unknown?])[] = [
          [`GET ${base}/timeline`],
          [`POST ${base}/tickets`, { title: "A ticket" }],
          [`PUT ${base}/protection`, []],
        ];
        const statuses = [];
        for (const [request, body] of requests) {
          const more = body === undefined ? {} : { body };
          const response = await api.send({ who: "guest", request, headers, ...more });
          await response.body?.cancel();
          statuses.push(response.status);
        }
        assert.deepEqual(statuses, rows[index], `${who}, ${slug}`);
      }
    }

    const path = "/projects/private/fossil/api/tickets";
    const body = { title: "A ticket" };
    const forged = { cookie: session["cookie"] ?? "" };
    const status = async (request: string, headers: Headers, more = {}) => {
      const response = await api.send({ who: "guest", request, headers, ...more });
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await status(`POST ${path}`, forged, { body }), 403, "without the CSRF token");
    for (const request of ["GET /v1/status", "GET /v1/agents", "GET /v1/tokens"]) {
      assert.equal(await status(request, session), 401, request);
    }
    await services.hosting.projects.removeMember("private", "ann", BY_OPERATOR);
    assert.equal(await status(`GET ${path}`, session), 404, "no member any more");
    const password = { password: "another long password" };
    const changed = await api.send({
      request: "PUT /v1/irc/accounts/ann/password",
      body: password,
    });
    assert.equal(changed.status, 204);
    assert.equal(await status("GET /projects/internal/fossil/api/tickets", session), 404, "ended");
  });
});

Deno.test("a right that ends while the body arrives counts no more", async () => {
  await withProject(async ({ api, base, caller, answer }) => {
    const { hosting: { projects }, agents: { halts } } = api.services;
    const { uuid: checkin } = await answer("GET /api/checkin/trunk");
    await answer("POST /api/releases", { body: { tag_name: "v1", checkin } });
    const headers = { authorization: caller };
    const part = { "content-type": "application/offset+octet-stream", "tus-resumable": "1.0.0" };
    const begin = async () => {
      const response = await api.send({
        who: "guest",
        request: `POST ${base}/api/releases/v1/assets`,
        headers: {
          ...headers,
          "tus-resumable": "1.0.0",
          "upload-length": "3",
          "upload-metadata": `filename ${btoa("tus.bin")}`,
        },
      });
      return response.headers.get("location") ?? "";
    };
    const requests = async (): Promise<readonly [string, string, Headers?][]> => [
      [`POST ${base}/api/tickets`, '{"title": "held back"}'],
      [`PUT ${base}/api/releases/v1/assets/a.bin`, "abc"],
      [`PATCH ${await begin()}`, "abc", { ...part, "upload-offset": "0" }],
    ];
    const setRole = (role: "read" | "write") =>
      projects.setMember("demo", "caller", role, BY_OPERATOR);
    const endings: readonly (readonly [number, () => Promise<unknown>, () => Promise<unknown>])[] =
      [
        [403, () => setRole("read"), () => setRole("write")],
        [404, () => projects.removeMember("demo", "caller", BY_OPERATOR), () => setRole("write")],
        [
          409,
          () => projects.change("demo", { archived: true }, BY_OPERATOR),
          () => projects.change("demo", { archived: false }, BY_OPERATOR),
        ],
        [
          423,
          () => halts.halt({ agents: ["caller"], types: [], reason: null }, BY_OPERATOR),
          () => halts.resume({ agents: ["caller"], types: [] }, BY_OPERATOR),
        ],
      ];
    for (const [status, end, restore] of endings) {
      for (const [request, text, more] of await requests()) {
        const [method = "", path = ""] = request.split(" ");
        const init = { method, headers: { ...headers, ...more }, body: heldBack(text, end) };
        const response = await api.handle(new Request(`http://localhost${path}`, init));
        assert.equal(response.status, status, `${request}: ${await response.text()}`);
        await restore();
      }
    }
    assert.equal((await answer("GET /api/tickets")).total, 0);
    assert.deepEqual((await answer("GET /api/releases/v1")).assets, []);
  });
});
