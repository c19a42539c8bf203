/** OAuth 2.1 for clients that know nothing else: the official SDK, and attacks on it. */
import assert from "node:assert/strict";
import { join } from "node:path";
import {
  Client,
  type OAuthClientInformation,
  type OAuthClientProvider,
  type OAuthTokens,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import { call, registerAgent } from "../support/api.ts";
import { makeSignedCertificate } from "../support/certificate.ts";
import { freePort } from "../support/free_port.ts";
import { peer } from "../support/peers.ts";
import { type Program, startProgram } from "../support/program.ts";
import { withFolder } from "../support/temporary.ts";
import { headersOf, type LoggedIn, logIn } from "../support/visiting.ts";

const PASSWORD = "difference engine";
const REDIRECT = "http://127.0.0.1:4000/callback";

/** A server with the documents of clients. */
async function serveDocuments(folder: string) {
  const files = ["tls.crt", "tls.key"].map((name) => Deno.readTextFile(join(folder, name)));
  const [cert = "", key = ""] = await Promise.all(files);
  const options = { hostname: "127.0.0.1", port: 0, cert, key, onListen() {} };
  return Deno.serve(options, (request) => {
    const { pathname, port } = new URL(request.url);
    const base = `https://localhost:${port}`;
    const document = { client_id: `${base}/client.json`, client_name: "Test client" };
    switch (pathname) {
      case "/client.json":
        return Response.json({ ...document, redirect_uris: [REDIRECT, "https://app.example/cb"] });
      case "/other.json":
        return Response.json({ ...document, redirect_uris: [REDIRECT] });
      case "/moved.json":
        return Response.redirect(`${base}/client.json`);
      case "/long.json":
        return new Response("x".repeat(100_000));
      case "/script.json":
        return Response.json({
          client_id: `${base}/script.json`,
          client_name: "<b>bold</b>",
          redirect_uris: ["javascript:alert(1)", "http://app.example/cb"],
        });
      default:
        return new Response(null, { status: 404 });
    }
  });
}

/** What the SDK needs of a client: it keeps all in memory. */
class Provider implements OAuthClientProvider {
  readonly redirectUrl = "http://127.0.0.1:5123/callback";
  readonly clientMetadataUrl: string;
  asked: URL | null = null;
  kept: OAuthTokens | undefined;
  #information: OAuthClientInformation | undefined;
  #verifier = "";

  constructor(clientMetadataUrl: string) {
    this.clientMetadataUrl = clientMetadataUrl;
  }
  get clientMetadata() {
    return { client_name: "Test client", redirect_uris: [this.redirectUrl] };
  }
  clientInformation() {
    return this.#information;
  }
  saveClientInformation(information: OAuthClientInformation) {
    this.#information = information;
  }
  tokens() {
    return this.kept;
  }
  saveTokens(tokens: OAuthTokens) {
    this.kept = tokens;
  }
  redirectToAuthorization(url: URL) {
    this.asked = url;
  }
  saveCodeVerifier(verifier: string) {
    this.#verifier = verifier;
  }
  codeVerifier() {
    return this.#verifier;
  }
}

/** Opens the page of an authorization request. */
async function open(program: Program, person: LoggedIn, query: Record<string, string> | URL) {
  const search = query instanceof URL ? query.search : `?${new URLSearchParams(query)}`;
  const headers = headersOf(person);
  const response = await fetch(`${program.api}/oauth/authorize${search}`, {
    headers,
    redirect: "manual",
  });
  return { status: response.status, text: await response.text(), search };
}

/** Decides on such a page; returns where the browser is sent, or null. */
async function decide(
  program: Program,
  person: LoggedIn,
  search: string,
  fields: readonly (readonly [string, string])[],
  csrf = person.cookies.get("muster_csrf") ?? "",
): Promise<URL | null> {
  const response = await fetch(`${program.api}/oauth/authorize${search}`, {
    method: "POST",
    headers: headersOf(person),
    body: new URLSearchParams([["csrf", csrf], ...fields.map(([k, v]) => [k, v])]),
    redirect: "manual",
  });
  const text = await response.text();
  assert.equal(response.headers.get("location"), null);
  const [, url] = /content="0;url=([^"]+)"/.exec(text) ?? [];
  return url === undefined ? null : new URL(url.replaceAll("&amp;", "&"));
}

const ALLOW = [["action", "allow"], ["scopes", "read"], ["scopes", "write"]] as const;

async function redeem(program: Program, form: Record<string, string>) {
  const response = await fetch(`${program.api}/oauth/token`, {
    method: "POST",
    body: new URLSearchParams(form),
  });
  return { status: response.status, body: await response.json() };
}

async function challengeOf(verifier: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return btoa(String.fromCharCode(...new Uint8Array(digest)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** Whether a token opens the tools. */
async function opens(program: Program, token: string): Promise<boolean> {
  const response = await fetch(program.mcp, {
    method: "POST",
    headers: { authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  await response.body?.cancel();
  return response.status === 200;
}

Deno.test("a client that knows nothing but OAuth gets in, and nobody else", {
  ...peer("openssl"),
}, async (t) => {
  await withFolder(async (folder) => {
    await makeSignedCertificate(folder);
    await using documents = await serveDocuments(folder);
    const base = `https://localhost:${documents.addr.port}`;
    await using program = await startProgram({
      folder,
      config: "webhooks: { allow_private: true }\n",
      environment: {
        DENO_CERT: join(folder, "ca.crt"),
        MUSTER_API_ADDR: `127.0.0.1:${freePort()}`,
        MUSTER_MCP_ADDR: `127.0.0.1:${freePort()}`,
      },
    });
    const made = await call(program, "POST", "/v1/irc/accounts", {
      account: "ada",
      password: PASSWORD,
    });
    assert.ok(made.ok, await made.text());
    await call(program, "POST", "/v1/projects", { slug: "demo", visibility: "public" });
    await call(program, "PUT", "/v1/projects/demo/members/ada", { role: "write" });
    const ada = await logIn(program, "ada", PASSWORD);
    const verifier = "v".repeat(43);
    const asked = {
      client_id: `${base}/client.json`,
      redirect_uri: REDIRECT,
      response_type: "code",
      code_challenge: await challengeOf(verifier),
      code_challenge_method: "S256",
      state: "a state & more",
    };
    const proof = {
      grant_type: "authorization_code",
      client_id: asked.client_id,
      redirect_uri: REDIRECT,
      code_verifier: verifier,
    };
    const codeFor = async (more: Record<string, string> = {}) => {
      const { search } = await open(program, ada, { ...asked, ...more });
      const url = await decide(program, ada, search, ALLOW);
      return url?.searchParams.get("code") ?? "";
    };

    for (const address of [program.mcp, `${program.api}/mcp`]) {
      await t.step(`the official SDK finds its way in at ${new URL(address).port}`, async () => {
        const provider = new Provider(asked.client_id);
        const transport = () =>
          new StreamableHTTPClientTransport(new URL(address), { authProvider: provider });
        const first = transport();
        const client = new Client({ name: "test", version: "1" }, {
          versionNegotiation: { mode: { pin: "2026-07-28" } },
        });
        await assert.rejects(client.connect(first), UnauthorizedError);
        assert.ok(provider.asked !== null);
        assert.equal(provider.asked.origin, program.api);
        const { search, text } = await open(program, ada, provider.asked);
        assert.match(text, /Test client/);
        const back = await decide(program, ada, search, ALLOW);
        assert.equal(`${back?.origin}${back?.pathname}`, provider.redirectUrl);
        await first.finishAuth(back!.searchParams);
        const again = new Client({ name: "test", version: "1" }, {
          versionNegotiation: { mode: { pin: "2026-07-28" } },
        });
        await again.connect(transport());
        const { tools } = await again.listTools();
        assert.ok(tools.length > 0);
        await again.close();
      });
    }

    await t.step("the answer has state and iss, and a denial no code", async () => {
      const { search } = await open(program, ada, asked);
      const url = await decide(program, ada, search, [["action", "deny"]]);
      assert.deepEqual(Object.fromEntries(url!.searchParams), {
        error: "access_denied",
        state: asked.state,
        iss: program.api,
      });
    });

    await t.step("what is wrong is shown, and leads nowhere", async () => {
      const wrong: Record<string, string>[] = [
        { redirect_uri: "http://127.0.0.1:4000/other" },
        { redirect_uri: "https://app.example/cb/" },
        { redirect_uri: "https://app.example.evil/cb" },
        { redirect_uri: "http://127.0.0.1:4000@evil.example/callback" },
        { redirect_uri: "http://127.0.0.1:4000/callback#x" },
        { redirect_uri: "http://localhost:4000/callback" },
        { client_id: `${base}/other.json` },
        { client_id: `${base}/moved.json` },
        { client_id: `${base}/long.json` },
        { client_id: `${base}/missing.json` },
        { client_id: `${base}/` },
        { client_id: "http://127.0.0.1/client.json" },
        { client_id: "somebody" },
        { client_id: `${base}/script.json`, redirect_uri: "javascript:alert(1)" },
        { client_id: `${base}/script.json`, redirect_uri: "http://app.example/cb" },
        { response_type: "token" },
        { code_challenge_method: "plain" },
        { code_challenge: "" },
        { resource: "https://elsewhere.example/mcp" },
      ];
      for (const more of wrong) {
        const { status, search } = await open(program, ada, { ...asked, ...more });
        assert.equal(status, 400, JSON.stringify(more));
        assert.equal(await decide(program, ada, search, ALLOW), null, JSON.stringify(more));
      }
    });

    await t.step(
      "a guest is asked to log in, and a form without its token does nothing",
      async () => {
        const search = `?${new URLSearchParams(asked)}`;
        const response = await fetch(`${program.api}/oauth/authorize${search}`, {
          redirect: "manual",
          headers: { accept: "text/html" },
        });
        assert.match(response.headers.get("location") ?? "", /^\/login\?next=/);
        assert.equal(await decide(program, ada, search, ALLOW, "0".repeat(64)), null);
      },
    );

    await t.step("a code works once, for who asked; a second use ends what it gave", async () => {
      const wrong: Record<string, string>[] = [
        { code_verifier: "w".repeat(43) },
        { redirect_uri: "https://app.example/cb" },
        { client_id: `${base}/script.json` },
        { resource: "https://elsewhere.example/mcp" },
        { grant_type: "password" },
      ];
      for (const more of wrong) {
        const { status, body } = await redeem(program, {
          ...proof,
          code: await codeFor(),
          ...more,
        });
        assert.equal(status, 400, JSON.stringify(body));
      }
      const code = await codeFor();
      const { status, body } = await redeem(program, { ...proof, code });
      assert.equal(status, 200, JSON.stringify(body));
      assert.ok(await opens(program, body.access_token));
      assert.equal((await redeem(program, { ...proof, code })).body.error, "invalid_grant");
      assert.ok(!await opens(program, body.access_token));
    });

    const refresh = (refresh_token: string) =>
      redeem(program, {
        grant_type: "refresh_token",
        client_id: asked.client_id,
        refresh_token,
      });

    await t.step("a refresh token works once; a second use ends the grant", async () => {
      const { body: first } = await redeem(program, { ...proof, code: await codeFor() });
      const { body: second } = await refresh(first.refresh_token);
      assert.ok(!await opens(program, first.access_token));
      assert.ok(await opens(program, second.access_token));
      assert.equal((await refresh(first.refresh_token)).body.error, "invalid_grant");
      assert.ok(!await opens(program, second.access_token));
      assert.equal((await refresh(second.refresh_token)).body.error, "invalid_grant");
    });

    await t.step("of two uses at once, none goes on", async () => {
      const { body } = await redeem(program, { ...proof, code: await codeFor() });
      const both = await Promise.all([refresh(body.refresh_token), refresh(body.refresh_token)]);
      for (const { body } of both) {
        if (body.access_token !== undefined) assert.ok(!await opens(program, body.access_token));
      }
    });

    await t.step("the person and the client can end it", async () => {
      const { body: one } = await redeem(program, { ...proof, code: await codeFor() });
      const listed = await (await call(program, "GET", "/v1/tokens")).json();
      const { id, name, scopes } = listed.at(-1);
      assert.equal(name, `Test client (localhost:${documents.addr.port})`);
      assert.deepEqual(scopes, ["read", "write"]);
      await call(program, "DELETE", `/v1/tokens/${id}`);
      assert.ok(!await opens(program, one.access_token));
      assert.equal((await refresh(one.refresh_token)).body.error, "invalid_grant");
      const { body: two } = await redeem(program, { ...proof, code: await codeFor() });
      const revoked = await fetch(`${program.api}/oauth/revoke`, {
        method: "POST",
        body: new URLSearchParams({ token: two.refresh_token, client_id: asked.client_id }),
      });
      assert.equal(revoked.status, 200);
      assert.ok(!await opens(program, two.access_token));
    });

    await t.step("a person does not act as an agent, and chooses what is allowed", async () => {
      await registerAgent(program, "scout");
      const { search } = await open(program, ada, asked);
      assert.equal(await decide(program, ada, search, [...ALLOW, ["agent", "scout"]]), null);
      const read = [["action", "allow"], ["scopes", "read"]] as const;
      const url = await decide(program, ada, search, read);
      const code = url?.searchParams.get("code") ?? "";
      assert.equal((await redeem(program, { ...proof, code })).body.scope, "read");
    });
  });
});
