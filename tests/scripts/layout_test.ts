import assert from "node:assert/strict";
import { dirname, join, normalize, resolve } from "node:path";

const ROOT = resolve(import.meta.dirname ?? ".", "../..");

/** The folders with modules of the program and of its bench. */
const TOPS = ["bench", "cli", "http", "mcp", "routes", "services", "web"];

/** Imports and re-exports of other modules of the tree. */
const IMPORT = /\b(?:from|import\()\s*"(\.[^"]+)"/g;

/** Those of them that are not for later, types included. */
const STATIC_IMPORT = /^(?:import|export)\s[^;"]*\bfrom "(\.[^"]+)"/gm;

/** The modules below a folder, from the root of the tree. */
async function modulesIn(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(ROOT, folder))) {
    const path = join(folder, name);
    if (isDirectory) found.push(...await modulesIn(path));
    else if (/\.tsx?$/.test(name)) found.push(path);
  }
  return found;
}

/** Every arrow from a module to another that matches a pattern of imports. */
async function arrows(pattern = IMPORT): Promise<(readonly [from: string, to: string])[]> {
  const modules = (await Promise.all(TOPS.map(modulesIn))).flat();
  const found = await Promise.all(modules.map(async (module) => {
    const text = await Deno.readTextFile(join(ROOT, module));
    return [...text.matchAll(pattern)].map(([, specifier = ""]) =>
      [module, normalize(join(dirname(module), specifier))] as const
    );
  }));
  return found.flat();
}

/**
 * The two folders side by side that hold the ends of an arrow; null if one end lies beside the
 * folder of the other.
 */
function sidesOf(from: string, to: string): readonly [string, string] | null {
  const [here, there] = [from.split("/"), to.split("/")];
  const level = here.findIndex((part, index) => part !== there[index]);
  if (level + 1 >= here.length || level + 1 >= there.length) return null;
  return [here.slice(0, level + 1).join("/"), there.slice(0, level + 1).join("/")];
}

/** A way from a file or folder back to itself; null if there is none. */
function circle(graph: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | null {
  const done = new Set<string>();
  const visit = (place: string, way: readonly string[]): readonly string[] | null => {
    const seen = way.indexOf(place);
    if (seen >= 0) return [...way.slice(seen), place];
    if (done.has(place)) return null;
    for (const next of graph.get(place) ?? []) {
      const found = visit(next, [...way, place]);
      if (found !== null) return found;
    }
    done.add(place);
    return null;
  };
  for (const place of graph.keys()) {
    const found = visit(place, []);
    if (found !== null) return found;
  }
  return null;
}

Deno.test("no folders depend on each other in a circle, at no level of the tree", async () => {
  const graph = new Map<string, Set<string>>();
  const all = await arrows();
  assert.ok(all.length > 2000, "the imports are found");
  for (const [from, to] of all) {
    const sides = sidesOf(from, to);
    if (sides === null) continue;
    const [here, there] = sides;
    graph.set(here, (graph.get(here) ?? new Set()).add(there));
  }
  assert.equal(circle(graph)?.join(" → ") ?? null, null);
});

Deno.test("no files import each other in a circle, not even for a type", async () => {
  const graph = new Map<string, Set<string>>();
  const all = await arrows(STATIC_IMPORT);
  assert.ok(all.length > 2000, "the imports are found");
  for (const [from, to] of all) {
    graph.set(from, (graph.get(from) ?? new Set()).add(to));
  }
  assert.equal(circle(graph)?.join(" → ") ?? null, null);
});
