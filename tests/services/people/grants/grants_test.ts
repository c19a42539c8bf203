/** What people let programs do: how many, and for how long. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type Caller, callerOnIrc } from "../../../../services/people/identity/mod.ts";
import { Conflict } from "../../../../services/kernel/errors.ts";
import {
  anAgent,
  BY_OPERATOR,
  type TestServices,
  withServices,
} from "../../../support/services.ts";

const DAY = 24 * 60 * 60_000;

const VERIFIER = "v".repeat(43);

const CLIENT = {
  clientId: "https://app.example/client.json",
  redirectUri: "https://app.example/callback",
};

/** A program connects for an account, and gets its first token. */
async function connect({ grants }: TestServices, caller: Caller): Promise<void> {
  const code = await grants.begin({
    ...CLIENT,
    accountId: caller.principal.id ?? assert.fail(),
    clientName: "App",
    challenge: createHash("sha256").update(VERIFIER).digest("base64url"),
    resource: "https://muster.example/mcp",
    scopes: ["read"],
  }, caller);
  await grants.redeem(code, { ...CLIENT, verifier: VERIFIER, resource: null }, BY_OPERATOR);
}

Deno.test("a program whose token was revoked, or ran out, gives its place to another one", async () => {
  await withServices(async (services) => {
    const { accounts, tokens, clock } = services;
    await anAgent(services, "scout");
    const caller = callerOnIrc(accounts.find("scout") ?? assert.fail());
    const owned = () => tokens.list({ ownerId: caller.principal.id ?? "" });
    for (let count = 0; count < 20; count++) await connect(services, caller);
    await assert.rejects(connect(services, caller), Conflict);
    const [first] = await owned();
    await tokens.revoke(first?.id ?? "", BY_OPERATOR);
    await connect(services, caller);
    await assert.rejects(connect(services, caller), Conflict);
    clock.advance(31 * DAY);
    await connect(services, caller);
    assert.equal((await owned()).length, 1);
  });
});
