import fc from "fast-check";
import assert from "node:assert/strict";
import { statement } from "../../../../services/engines/database/mod.ts";
import { Invalid, TooLarge } from "../../../../services/kernel/errors.ts";
import { Policies } from "../../../../services/chat/policies/mod.ts";
import { policyPatchSchema } from "../../../../services/chat/policies/schemas.ts";
import {
  BY_OPERATOR,
  openServices,
  type TestServices,
  withServices,
} from "../../../support/services.ts";
import { withFolder } from "../../../support/temporary.ts";
import {
  diffPatch,
  type Json,
  type JsonObject,
  mergePatch,
  pathsOf,
} from "../../../../services/chat/policies/merge_patch.ts";

/** The policies as a start of the program finds them. */
function reopened({ database, clock, log }: TestServices, minutes = 5): Promise<Policies> {
  const bridge = { enabled: true, web_user_ttl_minutes: minutes };
  return Policies.open({ database, bridge, clock: clock.now, log });
}

async function stored({ database }: TestServices): Promise<unknown> {
  const row = await database.tables.selectFrom("settings").select("value")
    .where("key", "=", "policies").executeTakeFirst();
  return row === undefined ? null : JSON.parse(row.value);
}

Deno.test("policies survive a restart, and only differences from the defaults are stored", async () => {
  await withFolder(async (folder) => {
    const services = await openServices(folder);
    const { policies } = services;
    assert.equal(policies.of("warden").burst, 10);
    await policies.change(
      { warden: { burst: 10, note: "kept" }, mine: { a: { b: 1 } } },
      BY_OPERATOR,
    );
    await policies.change({ scroll: null, mine: { a: { c: 2 } } }, BY_OPERATOR);
    assert.deepEqual(await stored(services), {
      scroll: null,
      warden: { note: "kept" },
      mine: { enabled: false, a: { b: 1, c: 2 } },
    });
    const document = policies.read();
    await services.close();

    const again = await openServices(folder);
    assert.deepEqual(again.policies.read(), document);
    assert.ok(!("scroll" in again.policies.read()));
    assert.equal(again.policies.of("scroll").enabled, false);
    await again.close();
  });
});

Deno.test("a changed default applies where nobody has set a value", async () => {
  await withServices(async (services) => {
    assert.equal((await reopened(services, 7)).of("bridge").web_user_ttl_minutes, 7);
    await services.policies.change({ bridge: { web_user_ttl_minutes: 2 } }, BY_OPERATOR);
    assert.equal((await reopened(services, 7)).of("bridge").web_user_ttl_minutes, 2);
    await services.policies.change({ bridge: null }, BY_OPERATOR);
    assert.ok(!("bridge" in services.policies.read()));
    assert.equal((await reopened(services, 7)).of("bridge").web_user_ttl_minutes, 7);
  });
});

Deno.test("a bot runs with a default where an earlier version stored what is not allowed now", async () => {
  await withServices(async (services) => {
    const value = JSON.stringify({ sentinel: { min_severity: "critical", window_size: 7 } });
    const { database } = services;
    const row = database.tables.insertInto("settings").values({ key: "policies", value });
    await database.commit({ statements: [statement(row)], events: [] });
    const { min_severity, window_size } = (await reopened(services)).of("sentinel");
    assert.deepEqual([min_severity, window_size], ["medium", 7]);
  });
});

Deno.test("changes at the same time lose nothing, and listeners hear of each", async () => {
  await withServices(async (services) => {
    const seen: number[] = [];
    services.policies.onChanged(() => {
      throw new Error("broken listener");
    });
    const unsubscribe = services.policies.onChanged(() => {
      seen.push(Object.keys(services.policies.read()["mine"] ?? {}).length);
    });
    const fields = Array.from({ length: 20 }, (_, index) => `field-${index}`);
    await Promise.all(
      fields.map((field) => services.policies.change({ mine: { [field]: true } }, BY_OPERATOR)),
    );
    assert.deepEqual(Object.keys(services.policies.read()["mine"] ?? {}), ["enabled", ...fields]);
    assert.deepEqual(seen, fields.map((_, index) => index + 2));
    assert.match(services.log.lines.join("\n"), /broken listener/);
    unsubscribe();
    await services.policies.change({ mine: null }, BY_OPERATOR);
    assert.equal(seen.length, fields.length);
  });
});

Deno.test("a change is logged with its keys and none of its values; one that changes nothing is not", async () => {
  await withServices(async ({ policies, eventLog }) => {
    const change = { oracle: { backend: "s3cret", api: { key: "s3cret" } }, warden: null };
    await policies.change(change, BY_OPERATOR);
    await policies.change(change, BY_OPERATOR);
    const { events } = await eventLog.read({ types: ["policy.*"] });
    assert.deepEqual(
      events.map(({ type, actor, address, cause, data }) => (
        { type, actor, address, cause, data }
      )),
      [{
        type: "policy.changed",
        actor: "operator",
        address: "127.0.0.1",
        cause: "request-1",
        data: { keys: ["warden", "oracle.backend", "oracle.api.key"] },
      }],
    );
    assert.ok(!JSON.stringify(events).includes("s3cret"));
  });
});

Deno.test("a change that cannot be stored is refused and changes nothing", async () => {
  const deep = (levels: number): JsonObject => levels === 0 ? {} : { x: deep(levels - 1) };
  await withServices(async ({ policies }) => {
    const before = policies.read();
    await assert.rejects(
      policies.change({ mine: { text: "x".repeat(65_536) } }, BY_OPERATOR),
      TooLarge,
    );
    await assert.rejects(policies.change({ mine: deep(16) }, BY_OPERATOR), Invalid);
    await assert.rejects(policies.change({ mine: deep(3000) }, BY_OPERATOR), Invalid);
    await assert.rejects(policies.change({ mine: { x: Infinity } }, BY_OPERATOR), Invalid);
    await assert.rejects(policies.change({ bridge: { enabled: false } }, BY_OPERATOR), Invalid);
    assert.deepEqual(policies.read(), before);
    await policies.change({ mine: deep(14), bridge: { enabled: true } }, BY_OPERATOR);
  }, { config: { bridge: { enabled: true } } });
});

Deno.test("every default passes the check of a change", async () => {
  await withServices(({ policies }) => {
    assert.deepEqual(policyPatchSchema.parse(policies.read()), policies.read());
    return Promise.resolve();
  });
});

const keys = fc.constantFrom("a", "b", "c", "__proto__", "constructor", "toString", "");

/** Documents and patches over few keys, so that they often meet. */
const { patch, document } = fc.letrec<{ value: Json; patch: JsonObject; document: JsonObject }>(
  (tie) => {
    const leaf = fc.oneof(fc.boolean(), fc.integer(), fc.string(), fc.array(fc.jsonValue()));
    const objectOf = (values: fc.Arbitrary<unknown>) =>
      fc.array(fc.tuple(keys, values), { maxLength: 4 })
        .map((entries) => JSON.parse(JSON.stringify(Object.fromEntries(entries))));
    return {
      value: fc.oneof({ depthSize: "small" }, leaf as fc.Arbitrary<Json>, tie("document")),
      document: objectOf(tie("value")).map((object) => mergePatch({}, object) as JsonObject),
      patch: objectOf(
        fc.oneof({ depthSize: "small" }, fc.constant(null), leaf, tie("patch")),
      ),
    };
  },
);

Deno.test("mergePatch() gives the results of RFC 7396's examples", () => {
  const examples: readonly (readonly [Json, Json, Json])[] = [
    [{ a: "b" }, { a: "c" }, { a: "c" }],
    [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
    [{ a: "b" }, { a: null }, {}],
    [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
    [{ a: ["b"] }, { a: "c" }, { a: "c" }],
    [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
    [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
    [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
    [["a", "b"], ["c", "d"], ["c", "d"]],
    [{ a: "b" }, ["c"], ["c"]],
    [{ a: "foo" }, null, null],
    [{ a: "foo" }, "bar", "bar"],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: "b", c: null }, { a: "b" }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ];
  for (const [target, change, expected] of examples) {
    assert.deepEqual(mergePatch(target, change), expected);
  }
});

Deno.test("mergePatch() obeys its laws and does not change its arguments", () => {
  fc.assert(fc.property(document, patch, (target, change) => {
    const before = JSON.stringify([target, change]);
    const merged = mergePatch(target, change);
    assert.deepEqual(mergePatch(target, {}), target, "an empty patch changes nothing");
    assert.deepEqual(mergePatch(merged, change), merged, "the second time changes nothing");
    assert.deepEqual(mergePatch(target, target), target, "a document merges into itself");
    assert.ok(holdsNoNull(merged), "null removes, and is never kept");
    for (const [key, value] of Object.entries(target)) {
      if (Object.hasOwn(change, key)) continue;
      assert.deepEqual((merged as JsonObject)[key], value, "what is not named stays");
    }
    assert.equal(JSON.stringify([target, change]), before);
    assert.equal(Object.getPrototypeOf(merged), Object.prototype);
    assert.deepEqual(Object.keys(Object.prototype), [], "nothing reaches other objects");
  }));
});

Deno.test("diffPatch() turns one document into the other, and is empty if they are equal", () => {
  fc.assert(fc.property(document, document, (from, to) => {
    const difference = diffPatch(from, to);
    assert.deepEqual(mergePatch(from, difference), to);
    assert.equal(
      pathsOf(difference).length === 0,
      JSON.stringify(sorted(from)) === JSON.stringify(sorted(to)),
    );
    assert.deepEqual(diffPatch(from, from), {});
  }));
});

Deno.test("pathsOf() names the fields that a patch changes", () => {
  const change = {
    oracle: { backend: "main", enabled: null },
    warden: null,
    herald: { routes: {} },
  };
  assert.deepEqual(pathsOf(change), [
    "oracle.backend",
    "oracle.enabled",
    "warden",
    "herald.routes",
  ]);
});

function holdsNoNull(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null) return value !== null;
  return Array.isArray(value) || Object.values(value).every(holdsNoNull);
}

function sorted(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const entries = Object.entries(value).map(([key, nested]) => [key, sorted(nested)] as const);
  return Object.fromEntries(entries.sort(([one], [other]) => one < other ? -1 : 1));
}
