import assert from "node:assert/strict";
import { configSchema } from "../../../../services/operation/config/schemas.ts";
import { TooMany } from "../../../../services/kernel/errors.ts";
import { GUEST, OPERATOR, type Principal } from "../../../../services/people/identity/mod.ts";
import { CallerQuota } from "../../../../services/people/identity/quotas.ts";
import { type TestProject, withProject } from "../../../support/projects.ts";
import { BY_OPERATOR } from "../../../support/services.ts";

function account(id: string, part: Partial<Principal> = {}): Principal {
  return { ...GUEST, kind: "person", id, name: id, ...part };
}

function quotaOf(max: number): CallerQuota {
  return new CallerQuota(max, { things: "event streams", state: "open" });
}

/** Takes places until one is refused. */
function fill(quota: CallerQuota, principal: Principal, address: string) {
  const held: Disposable[] = [];
  try {
    for (;;) held.push(quota.take({ principal, address }));
  } catch (error) {
    assert.ok(error instanceof TooMany);
    return {
      taken: held.length,
      refusal: error.message,
      leave: () => held.forEach((one) => one[Symbol.dispose]()),
    };
  }
}

Deno.test("an account takes a quarter, with its session and all its tokens", () => {
  const quota = quotaOf(40);
  const session = account("ann", { sessionId: "s" });
  const token = account("ann", { tokenId: "t" });
  for (let count = 0; count < 4; count++) quota.take({ principal: session, address: "192.0.2.1" });
  const tokens = fill(quota, token, "192.0.2.2");
  assert.equal(tokens.taken, 6);
  assert.match(tokens.refusal, /You have 10 event streams open.*Close one/);
  assert.equal(fill(quota, session, "192.0.2.3").taken, 0);
  assert.equal(fill(quota, account("bob"), "192.0.2.1").taken, 10);
  tokens.leave();
  assert.equal(fill(quota, session, "192.0.2.1").taken, 6);
});

Deno.test("the tokens of one project count together", () => {
  const quota = quotaOf(40);
  const token = (tokenId: string, project: string): Principal => ({
    ...GUEST,
    kind: "project",
    tokenId,
    project,
  });
  assert.equal(fill(quota, token("1", "p"), "192.0.2.1").taken, 10);
  assert.equal(fill(quota, token("2", "p"), "192.0.2.1").taken, 0);
  assert.equal(fill(quota, token("3", "q"), "192.0.2.1").taken, 10);
});

Deno.test("guests of one address take a quarter, and all guests half", () => {
  const quota = quotaOf(40);
  const first = fill(quota, GUEST, "2001:db8:1:2::1");
  assert.equal(first.taken, 10);
  assert.match(first.refusal, /Your address has 10 event streams open/);
  assert.equal(fill(quota, GUEST, "2001:db8:1:2:ffff::2").taken, 0, "the same /64");
  assert.equal(fill(quota, GUEST, "192.0.2.1").taken, 10);
  assert.equal(fill(quota, GUEST, "::ffff:192.0.2.1").taken, 0, "the same address");
  const third = fill(quota, GUEST, "192.0.2.2");
  assert.equal(third.taken, 0);
  assert.match(third.refusal, /Guests have 20 event streams open.*Log in/);
  assert.equal(fill(quota, account("ann"), "192.0.2.1").taken, 10);
  assert.equal(fill(quota, OPERATOR, "192.0.2.1").taken, 10);
  first.leave();
  assert.equal(fill(quota, GUEST, "192.0.2.2").taken, 10);
});

Deno.test("the operator may hold all", () => {
  const quota = quotaOf(40);
  const { taken, refusal } = fill(quota, OPERATOR, "192.0.2.1");
  assert.equal(taken, 40);
  assert.match(refusal, /^Too many event streams are open/);
});

Deno.test("accounts and guests cannot hold all, so that the operator and admins can watch", () => {
  for (const [max, reserved] of [[5000, 625], [40, 5], [8, 1], [2, 1]] as const) {
    const quota = quotaOf(max);
    let taken = fill(quota, GUEST, "192.0.2.1").taken + fill(quota, GUEST, "192.0.2.2").taken;
    for (const id of ["a", "b", "c", "d", "e"]) {
      taken += fill(quota, account(id), "192.0.2.3").taken;
      taken += fill(quota, account(`agent ${id}`, { kind: "agent" }), "192.0.2.3").taken;
    }
    assert.equal(taken, max - reserved);
    const admin = account("root", { kind: "admin" });
    const watching = fill(quota, admin, "192.0.2.4").taken;
    assert.ok(watching >= 1 && watching <= Math.max(1, max / 4));
    assert.equal(fill(quota, OPERATOR, "192.0.2.1").taken, reserved - watching);
  }
});

Deno.test("of a few, everybody may still hold one", () => {
  for (const max of [1, 2, 3]) {
    assert.equal(fill(quotaOf(max), GUEST, "192.0.2.1").taken, 1);
    assert.equal(fill(quotaOf(max), account("ann"), "192.0.2.1").taken, 1);
  }
});

Deno.test("what callers gave back is free again, and giving it back twice counts once", () => {
  const quota = quotaOf(8);
  for (let host = 0; host < 200; host++) {
    const first = quota.take({ principal: GUEST, address: `192.0.2.${host}` });
    using _second = quota.take({ principal: account(`a${host}`), address: "192.0.2.1" });
    first[Symbol.dispose]();
    first[Symbol.dispose]();
  }
  assert.equal(quota.held, 0);
  assert.equal(fill(quota, OPERATOR, "192.0.2.1").taken, 8);
});

/** Opens streams until one is refused. */
async function openAll(
  { api, base }: Pick<TestProject, "api" | "base">,
  from: string,
): Promise<Response[]> {
  const open: Response[] = [];
  for (const path of ["/live/projects/demo", `${base}/api/events`]) {
    for (;;) {
      const response = await api.send({ who: "guest", request: `GET ${path}`, from });
      if (response.status !== 200) {
        assert.equal(response.status, 429, await response.text());
        break;
      }
      open.push(response);
    }
  }
  return open;
}

Deno.test("guests of a public project leave streams to agents and the operator", () =>
  withProject(async (test) => {
    await test.api.services.hosting.projects.change("demo", { visibility: "public" }, BY_OPERATOR);
    const config = configSchema.parse({ limits: { streams: 16 } });
    const api = test.api.with({ config });
    api.mountPages();
    const limited = { api, base: test.base };
    const open: Response[] = [];
    for (
      const [from, expected] of [["192.0.2.1", 4], ["192.0.2.2", 4], ["192.0.2.3", 0]] as const
    ) {
      const more = await openAll(limited, from);
      assert.equal(more.length, expected, from);
      open.push(...more);
    }
    for (const as of [test.caller, test.other]) {
      const headers = { authorization: as };
      const request = `GET ${test.base}/api/events`;
      const response = await api.send({ who: "guest", request, headers, from: "192.0.2.1" });
      assert.equal(response.status, 200);
      open.push(response);
    }
    const request = "GET /v1/events";
    const headers = { accept: "text/event-stream" };
    for (let count = 0; count < 6; count++) {
      const response = await api.send({ request, headers, from: "192.0.2.1" });
      assert.equal(response.status, 200);
      open.push(response);
    }
    assert.equal((await api.send({ request, headers, from: "192.0.2.1" })).status, 429);
    for (const response of open) await response.body?.cancel();
    const again = await openAll(limited, "192.0.2.3");
    assert.equal(again.length, 4);
    for (const response of again) await response.body?.cancel();
  }));
