import assert from "node:assert/strict";
import { Callers } from "../../http/mod.ts";
import { GUEST } from "../../services/identity/mod.ts";
import { tokenRequestSchema } from "../../services/identity/schemas.ts";
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
