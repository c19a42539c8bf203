import assert from "node:assert/strict";
import { Forbidden } from "../../../services/errors.ts";
import {
  type Access,
  authorize,
  OPERATOR,
  type Principal,
  type Scope,
  speakerName,
} from "../../../services/identity/mod.ts";

function principal(kind: Principal["kind"], ...scopes: Scope[]): Principal {
  const held = { project: null, tokenId: "2", sessionId: null };
  return { kind, id: "1", name: "Coder", scopes: new Set(scopes), ...held };
}

function isAllowed(who: Principal, access: Access): boolean {
  try {
    authorize(who, access);
    return true;
  } catch (error) {
    assert.ok(error instanceof Forbidden);
    return false;
  }
}

Deno.test("authorize() opens to each kind of principal what the table says", () => {
  const table: readonly (readonly [Principal, boolean, boolean, boolean])[] = [
    [OPERATOR, true, true, true],
    [principal("agent", "read", "write"), true, true, false],
    [principal("agent", "read"), true, false, false],
    [principal("agent", "write"), false, true, false],
    [principal("agent", "read", "write", "admin"), true, true, false],
    [principal("agent"), false, false, false],
    [principal("admin", "read", "write", "admin"), true, true, true],
    [principal("admin", "read", "write"), true, false, false],
    [principal("admin", "read"), true, false, false],
    [principal("admin"), false, false, false],
    [{ ...principal("admin", "read", "write", "admin"), tokenId: null }, false, false, false],
    [principal("project", "read", "write", "admin", "status:write"), false, false, false],
  ];
  for (const [who, ...expected] of table) {
    const accesses = ["agent:read", "agent:write", "operator"] as const;
    const label = `${who.kind} ${[...who.scopes].join(" ")}`;
    assert.deepEqual(accesses.map((access) => isAllowed(who, access)), expected, label);
  }
});

Deno.test("authorize() opens what only reads to admins' tokens that read", () => {
  authorize(principal("admin", "read"), "operator", { readOnly: true });
  for (const who of [principal("agent", "read"), principal("admin")]) {
    assert.throws(() => authorize(who, "operator", { readOnly: true }), Forbidden);
  }
});

Deno.test("speakerName() lets the operator and admins name anybody, and agents themselves", () => {
  assert.equal(speakerName(OPERATOR, null), null);
  assert.equal(speakerName(OPERATOR, "anybody"), "anybody");
  const admin = principal("admin", "admin");
  assert.deepEqual([speakerName(admin, null), speakerName(admin, "anybody")], ["Coder", "anybody"]);
  const agent = principal("agent", "write");
  assert.equal(speakerName(agent, null), "Coder");
  assert.equal(speakerName(agent, "cODER"), "Coder");
  for (const other of ["other", "", "operator", "Coder "]) {
    assert.throws(() => speakerName(agent, other), Forbidden);
  }
});
