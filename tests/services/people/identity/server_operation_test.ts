import assert from "node:assert/strict";
import { z } from "zod";
import {
  Forbidden,
  Invalid,
  Unauthorized,
  Unavailable,
} from "../../../../services/kernel/errors.ts";
import { type Caller, OPERATOR, type Principal } from "../../../../services/people/identity/mod.ts";
import { serverOperation } from "../../../../services/people/identity/server_operation.ts";

const head = { on: "server", summary: "Paint a wall", example: {}, done: "Painted" } as const;

/** An operation that waits, and checks its caller again before it writes. */
const paint = serverOperation(
  { ...head, http: "POST /v1/walls/{id}", input: z.object({ id: z.string(), color: z.string() }) },
  async ({ painted }: { readonly painted: string[] }, { color }, { caller }) => {
    await Promise.resolve();
    await caller.confirm?.();
    painted.push(color);
  },
);

const replace = serverOperation(
  {
    ...head,
    http: "PUT /v1/walls/{id}",
    input: z.object({ id: z.string(), wall: z.object({ color: z.string() }) }),
    bodyField: "wall",
  },
  () => {},
);

/** A disk that fills after so many checks, and nobody who is halted. */
function servicesWith(checks: number) {
  const space = {
    require() {
      if (checks-- <= 0) throw new Unavailable("The disk is nearly full");
    },
  };
  return { painted: [] as string[], space, agents: { halts: { requireGoing() {} } } };
}

function callerOf(principal: Principal, confirm?: () => Promise<void>): Caller {
  const caller = { principal, address: null, requestId: null };
  return confirm === undefined ? caller : { ...caller, confirm };
}

const admin: Principal = { ...OPERATOR, kind: "admin", id: "1", name: "ann", sessionId: "2" };
const wall = { id: "1", color: "red" };

Deno.test("an operation checks rights and the disk again after its waits", async () => {
  const services = servicesWith(1);
  const call = { caller: callerOf(OPERATOR) };
  await assert.rejects(paint.invoke(services, wall, call), Unavailable);
  const ended = callerOf(OPERATOR, () => Promise.reject(new Unauthorized("Ended")));
  await assert.rejects(paint.invoke(servicesWith(2), wall, { caller: ended }), Unauthorized);
  assert.deepEqual(services.painted, []);
  const more = servicesWith(2);
  await paint.invoke(more, wall, call);
  assert.deepEqual(more.painted, ["red"]);
});

Deno.test("an admin's session calls an operation from a page, and from nowhere else", async () => {
  const services = servicesWith(9);
  const caller = callerOf(admin);
  await assert.rejects(paint.invoke(services, wall, { caller }), Forbidden);
  await paint.invoke(services, wall, { caller, via: "web" });
  const person = callerOf({ ...admin, kind: "person" });
  await assert.rejects(
    paint.invoke(services, wall, { caller: person, via: "web" }),
    new Forbidden("Only admins may do this"),
  );
  assert.deepEqual(services.painted, ["red"]);
});

Deno.test("a refusal names a field of the body as HTTP does", async () => {
  const given = { id: "1", wall: { color: 1 } } as never;
  await assert.rejects(
    replace.invoke(servicesWith(9), given, { caller: callerOf(OPERATOR) }),
    new Invalid('"color" must be a string'),
  );
});
