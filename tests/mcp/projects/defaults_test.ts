import assert from "node:assert/strict";
import { z } from "zod";
import { coordinationTools } from "../../../mcp/coordination_tools.ts";
import { TOOLS_FOR_PROJECTS } from "../../../mcp/projects/mod.ts";

/** Where a model needs another default than a program, and why. */
const OTHERWISE: ReadonlyMap<string, string> = new Map([
  ["get_history limit", "a model pays for what it reads"],
  ["read_inbox limit", "a model pays for what it reads"],
  ["wait_checks wait_seconds", "the tool is there to wait"],
  ["get_review diff", "it chooses between two diffs"],
  ["get_diff context", "the endpoint says 3 in words"],
  ["create_ticket type", "a program names the fields of its own tracker"],
  ["create_ticket severity", "as its type"],
  ["create_ticket priority", "as its type"],
]);

/** Defaults that lists for models leave out. */
const TAKEN_FOR_GRANTED: ReadonlySet<string> = new Set(['""', "[]", "0", "false", "null"]);

function defaultsOf(
  schema: { readonly properties?: object | undefined },
): ReadonlyMap<string, string> {
  return new Map(
    Object.entries<{ readonly default?: unknown }>({ ...schema.properties }).map((
      [name, { default: value = null }],
    ) => {
      const text = JSON.stringify(value);
      return [name, TAKEN_FOR_GRANTED.has(text) ? "none" : text];
    }),
  );
}

Deno.test("a tool and its endpoint have the same defaults", () => {
  const differing: string[] = [];
  for (const { name, head, listing } of [...TOOLS_FOR_PROJECTS, ...coordinationTools(1)]) {
    if (head.http === undefined || !("input" in head) || !(head.input instanceof z.ZodObject)) {
      continue;
    }
    const endpoint = defaultsOf(
      z.toJSONSchema(head.input, { io: "input", unrepresentable: "any" }),
    );
    for (const [argument, value] of defaultsOf(listing.inputSchema)) {
      const other = endpoint.get(argument);
      if (other !== undefined && other !== value) differing.push(`${name} ${argument}`);
    }
  }
  assert.deepEqual([...new Set(differing)].sort(), [...OTHERWISE.keys()].sort());
});
