import fc from "fast-check";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { accepts, Callers, readAuthorization } from "../../http/mod.ts";
import { GUEST } from "../../services/people/identity/mod.ts";
import { tokenRequestSchema } from "../../services/people/identity/schemas.ts";
import { anAgent, BY_OPERATOR, type TestServices, withServices } from "../support/services.ts";

const MINUTE = 60_000;

/** A token of an agent, a passphrase, and a session of the first admin. */
async function credentials({ agents, tokens, admins, accounts, webSessions }: TestServices) {
  const passphrase = await anAgent({ agents }, "coder");
  const request = tokenRequestSchema.parse({ owner: "coder", name: "laptop", scopes: ["read"] });
  const { token } = await tokens.create(request, BY_OPERATOR);
  await admins.createFirst();
  const admin = accounts.find("admin");
  assert.ok(admin);
  const { secret } = await webSessions.open(admin, { address: "192.0.2.1", requestId: null });
  return { passphrase, token, secret };
}

Deno.test("a request's caller is known by whichever credential it has, and else a guest", () =>
  withServices(async (services) => {
    const { passphrase, token, secret } = await credentials(services);
    const callers = new Callers(services);
    const of = (headers: Record<string, string>, target = "/") => {
      const url = `http://localhost${target}`;
      const { kind, name } = callers.of({ url, headers: new Headers(headers) });
      return `${kind} ${name}`;
    };
    const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
    const basic = (name: string, password: string) => ({
      authorization: `Basic ${btoa(`${name}:${password}`)}`,
    });
    assert.equal(of(bearer(token)), "agent coder");
    assert.equal(of(basic("coder", passphrase)), "agent coder");
    assert.equal(of({ cookie: `a=b; muster_session=${secret}` }), "admin admin");
    assert.equal(of({}, `/stream?a=b&token=${token}`), "agent coder");
    assert.equal(of({ ...bearer(token), cookie: `muster_session=${secret}` }), "agent coder");
    const unknown = [
      {},
      bearer(token.replace(/./, "x")),
      basic("coder", "guess"),
      basic("nobody", passphrase),
      basic("admin", "guess"),
      { cookie: "muster_session=0123" },
      { cookie: `xmuster_session=${secret}` },
    ];
    for (const headers of unknown) assert.equal(of(headers), "guest guest");
    assert.equal(callers.of({ url: "http://localhost/?token=", headers: new Headers() }), GUEST);
  }));

Deno.test("to know a caller is no use of the credential, and no guess at it", () =>
  withServices(async (services) => {
    const { token, secret } = await credentials(services);
    const callers = new Callers(services);
    const of = (headers: Record<string, string>) =>
      callers.of({ url: "http://localhost/", headers: new Headers(headers) }).kind;
    services.clock.advance(2 * MINUTE);
    assert.equal(of({ authorization: `Bearer ${token}` }), "agent");
    assert.equal(of({ cookie: `muster_session=${secret}` }), "admin");
    const [listed] = await services.tokens.list();
    assert.equal(listed?.last_used, null);
    assert.equal(services.webSessions.find(secret)?.renewed, true);
    for (let guess = 0; guess < 30; guess++) {
      assert.equal(of({ authorization: `Basic ${btoa(`coder:${guess}`)}` }), "guest");
    }
    const address = "192.0.2.1";
    const attempt = { name: "coder", password: "wrong", address, door: "basic" } as const;
    const outcome = await services.logins.logIn(attempt, ["agent"]);
    assert.equal(outcome.kind, "refused");
  }));

/** The token that the grammar of the header has, however it is written. */
function tokenIn(header: string): string | null {
  return /^bearer +(\S+) *$/i.exec(header)?.[1] ?? null;
}

const header = fc.tuple(
  fc.constantFrom("Bearer", "bearer", "BEARER", "Bearer:", "Bear", ""),
  fc.constantFrom(" ", "  ", "", "\t"),
  fc.oneof(
    fc.stringMatching(/^[\w.~+/=-]{1,80}$/),
    fc.string({ unit: fc.constantFrom("a", " ", "\t", "\x7f", "\xa0", "\xe9", "\ufeff", "=") }),
  ),
  fc.constantFrom("", " ", "  ", " x"),
).map((parts) => parts.join(""));

Deno.test("a bearer token is read alike, however its header is written", () => {
  fc.assert(
    fc.property(header, (header) => {
      const credential = readAuthorization(header);
      const token = credential?.kind === "bearer" ? credential.token : null;
      assert.equal(token, tokenIn(header));
    }),
    { numRuns: 2000 },
  );
  assert.equal(readAuthorization("Bearer "), null);
  assert.equal(readAuthorization(undefined), null);
});

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString("base64")}`;
}

Deno.test("a name and a password are read as UTF-8, and a token as it is", () => {
  const pairs = [["coder", "secret"], ["jörg", "pässwort €"], ["a", "b:c:"], ["", ""]];
  for (const [name = "", password = ""] of pairs) {
    const read = readAuthorization(basic(`${name}:${password}`));
    assert.deepEqual(read, { kind: "basic", name, password });
  }
  assert.deepEqual(readAuthorization("bearer  a:b "), { kind: "bearer", token: "a:b" });
});

Deno.test("what is no credential is none", () => {
  const latin1 = `Basic ${btoa("j\xf6rg:secret")}`;
  const none = [undefined, "", "Basic", "Basic !", "Digest x", basic("no colon"), latin1];
  for (const header of none) assert.equal(readAuthorization(header), null, header);
});

Deno.test("a type that a client refuses with a weight of 0 is not accepted", () => {
  const accepted = [
    "application/json",
    "text/plain, Application/JSON",
    "application/json;q=0.1",
    "application/json; charset=utf-8 ; q=1",
    "*/*;q=0, application/json",
  ];
  for (const accept of accepted) assert.ok(accepts(accept, "application/json"), accept);
  const refused = [
    null,
    "",
    "*/*",
    "application/json;q=0",
    "application/json; q=0.000",
    "application/json;Q=0, text/plain",
    "application/json-seq",
  ];
  for (const accept of refused) assert.ok(!accepts(accept, "application/json"), String(accept));
});
