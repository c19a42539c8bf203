import assert from "node:assert/strict";
import { call, type Server } from "../support/api.ts";
import type { Known } from "./values.ts";

const API = "/projects/fuzz/fossil/api";

/**
 * Makes the project that requests name, with something of every kind, unless it is there: a request
 * may have removed it. Gives the ids of what it holds.
 */
export async function makeProject(program: Server): Promise<Known> {
  const project = { slug: "fuzz", name: "Fuzz", visibility: "internal" };
  const { status } = await call(program, "POST", "/v1/projects", project);
  if (status === 201) await fill(program);
  // Another request may have archived it, which would refuse every change.
  await call(program, "PATCH", "/v1/projects/fuzz", { archived: false });
  const { tickets = [] } = await read(program, "/tickets?per_page=10");
  const { checkins = [] } = await read(program, "/timeline?per_page=10");
  const uuids = [...tickets, ...checkins].map(({ uuid }) => uuid);
  const ids = checkins.map(({ uuid }) => uuid);
  return new Map([
    ["uuid", uuids],
    ["checkin", ids],
    ["from", ids],
    ["to", ids],
    ["parent", ids],
    ["tip", ids],
    ["ticket", tickets.map(({ uuid }) => uuid)],
    ["ticket_uuid", tickets.map(({ uuid }) => uuid)],
  ]);
}

async function fill(program: Server): Promise<void> {
  const member = await call(program, "PUT", "/v1/projects/fuzz/members/fuzzer", { role: "write" });
  assert.ok(member.ok || member.status === 404, `${member.status}`);
  const requests: readonly (readonly [method: string, path: string, body: unknown])[] = [
    ["POST", "/tickets", { title: "Crash", comment: "It crashes" }],
    ["POST", "/tickets", { title: "Wish" }],
    ["POST", "/tickets/fields", { name: "team", type: "text" }],
    ["PUT", "/wiki/Home", { content: "# Home" }],
    ["POST", "/workspaces/create", { name: "one" }],
    ["POST", "/workspaces/create", { name: "two" }],
    ["POST", "/workspaces/one/commit", commitOf("README.md")],
    ["POST", "/workspaces/two/commit", commitOf("src/a.txt")],
    ["POST", "/reviews/create", { title: "One", workspace: "one" }],
    ["POST", "/reviews/create", { title: "Two", diff: "--- a\n+++ b\n" }],
    ["POST", "/releases", { tag_name: "v1" }],
    ["PUT", "/releases/v1/assets/a.zip", "bytes"],
    ["POST", "/status", { checkin: "trunk", context: "ci", state: "success" }],
  ];
  for (const [method, path, body] of requests) await call(program, method, API + path, body);
}

function commitOf(path: string) {
  return { message: `Write ${path}`, changes: [{ path, content: "text\n" }] };
}

async function read(
  program: Server,
  path: string,
): Promise<Readonly<Record<string, readonly { readonly uuid: string }[] | undefined>>> {
  const response = await call(program, "GET", API + path);
  const answer = await response.json();
  return response.ok ? answer : {};
}
