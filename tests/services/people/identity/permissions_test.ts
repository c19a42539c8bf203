import assert from "node:assert/strict";
import { Forbidden } from "../../../../services/kernel/errors.ts";
import {
  type Action,
  authorize,
  GUEST,
  OPERATOR,
  type Principal,
  type ProjectRole,
  type Resource,
  type Scope,
  speakerName,
} from "../../../../services/people/identity/mod.ts";

function principal(kind: Principal["kind"], ...scopes: Scope[]): Principal {
  const held = { project: null, tokenId: "2", sessionId: null };
  return { kind, id: "1", name: "Coder", scopes: new Set(scopes), ...held };
}

function isAllowed(who: Principal, action: Action, resource: Resource): boolean {
  try {
    authorize(who, action, resource);
    return true;
  } catch (error) {
    assert.ok(error instanceof Forbidden);
    return false;
  }
}

const PROJECT_TOKEN = {
  ...principal("project", "read", "write", "admin", "status:write"),
  project: "p1",
};
const SESSION = { ...principal("admin", "read", "write", "admin"), tokenId: null, sessionId: "3" };

Deno.test("authorize() lets each kind of principal do what the table says", () => {
  const table: readonly (readonly [Principal, string])[] = [
    [OPERATOR, "rw rw rw rw"],
    [principal("agent", "read", "write"), "-- rw rw rw"],
    [principal("agent", "read"), "-- r- r- --"],
    [principal("agent", "write"), "-- -w -w rw"],
    [principal("agent", "read", "write", "admin"), "-- rw rw rw"],
    [principal("agent"), "-- -- -- --"],
    [principal("admin", "read", "write", "admin"), "rw rw rw rw"],
    [principal("admin", "read", "write"), "r- r- rw r-"],
    [principal("admin", "read"), "r- r- r- r-"],
    [principal("person", "read", "write"), "-- -- rw --"],
    [principal("person", "read"), "-- -- r- --"],
    [principal("admin"), "-- -- -- --"],
    [SESSION, "-- -- -- --"],
    [PROJECT_TOKEN, "-- -- -- --"],
  ];
  for (const [who, expected] of table) {
    const rights = (["server", "coordination", "questions", "models"] as const).map((kind) => {
      const read = isAllowed(who, "read", { kind }) ? "r" : "-";
      return read + (isAllowed(who, "write", { kind }) ? "w" : "-");
    });
    assert.equal(rights.join(" "), expected, `${who.kind} ${[...who.scopes].join(" ")}`);
  }
});

Deno.test("authorize() gives sessions the rights of their accounts at web pages alone", () => {
  const onIrc = { ...SESSION, sessionId: null };
  const person: Principal = { ...SESSION, kind: "person" };
  const table: readonly (readonly [Principal, string])[] = [
    [SESSION, "rw rw rw rw"],
    [person, "-- -- rw --"],
    [onIrc, "-- -- -- --"],
    [GUEST, "-- -- -- --"],
    [PROJECT_TOKEN, "-- -- -- --"],
  ];
  for (const [who, expected] of table) {
    const rights = (["server", "coordination", "questions", "models"] as const).map((kind) => {
      const read = isAllowed(who, "read", { kind, isAtPage: true }) ? "r" : "-";
      return read + (isAllowed(who, "write", { kind, isAtPage: true }) ? "w" : "-");
    });
    assert.equal(rights.join(" "), expected, `${who.kind} ${who.sessionId}`);
  }
});

Deno.test("authorize() lets a project's members do what their role and scopes allow", () => {
  const member = principal("agent", "read", "write", "admin");
  const table: readonly (readonly [Principal, ProjectRole | null, string])[] = [
    [OPERATOR, null, "read write status admin"],
    [member, null, ""],
    [member, "read", "read"],
    [member, "write", "read write status"],
    [member, "admin", "read write status admin"],
    [principal("agent", "read"), "admin", "read"],
    [principal("agent", "read", "write"), "admin", "read write status"],
    [principal("admin", "read", "write", "admin"), null, "read write status admin"],
    [principal("admin", "read"), null, "read"],
    [SESSION, null, ""],
    [SESSION, "write", "read write status"],
    [PROJECT_TOKEN, null, "read write status admin"],
    [{ ...PROJECT_TOKEN, project: "p2" }, null, ""],
    [{ ...PROJECT_TOKEN, scopes: new Set<Scope>(["status:write"]) }, null, "status"],
  ];
  for (const [who, role, expected] of table) {
    const actions = (["read", "write", "status", "admin"] as const)
      .filter((action) =>
        isAllowed(who, action, { kind: "project", id: "p1", role, visibility: "private" })
      );
    const label = `${who.kind} ${[...who.scopes].join(" ")}, ${role}`;
    assert.equal(actions.join(" "), expected, label);
  }
});

Deno.test("authorize() lets everybody read a public project, and every account an internal one", () => {
  const agent = principal("agent", "read", "write", "admin");
  const elsewhere = { ...PROJECT_TOKEN, project: "p2" };
  const table: readonly (readonly [Principal, string, string])[] = [
    [GUEST, "read", ""],
    [agent, "read", "read"],
    [principal("agent"), "read", ""],
    [SESSION, "read", "read"],
    [elsewhere, "read", ""],
  ];
  for (const [who, ...expected] of table) {
    for (const [index, visibility] of (["public", "internal"] as const).entries()) {
      const actions = (["read", "write", "status", "admin"] as const).filter((action) =>
        isAllowed(who, action, { kind: "project", id: "p1", role: null, visibility })
      );
      assert.equal(actions.join(" "), expected[index], `${who.kind} ${visibility}`);
    }
  }
});

Deno.test("speakerName() lets the operator and admins name anybody, and agents only themselves", () => {
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
