import { join } from "node:path";
import { type Graph, readGraph } from "./graph.ts";
import { callOf, exported, importsOf, type Joined, joinScripts } from "./joined.ts";
import { planStart } from "./plan.ts";

/** The module that runs the start script, and gives what its scripts export. */
const LOADER = "start.js";

/** The start script, as a text: the compiler takes modules alone for modules. */
const SCRIPT = "start.script";

/** The digest of the start script (SHA-256), and what V8 made of it when it ran. */
export const CACHE = "start.cache";

const DIGEST_BYTES = 32;

/**
 * Makes one script of those that the start of a server loads, in a minified bundle. Each of them
 * becomes a module that exports what it did, from the script. Unlike a module, a script can be given
 * what V8 made of it in an earlier run, {@linkcode CACHE}, and so needs no parsing.
 *
 * @throws A script is not valid, or imports what cannot be had.
 */
export async function makeStartScript(folder: string): Promise<void> {
  const graph = await readGraph(folder);
  const { serve, paths } = planStart(graph);
  const needed = [serve, ...importedFromOutside(graph, paths)];
  const entries = [...new Set(needed)].sort();
  const joined = await joinScripts(folder, graph, paths, entries);
  write(folder, SCRIPT, joined.text);
  write(folder, LOADER, loaderOf(joined));
  for (const [at, path] of entries.entries()) {
    write(folder, path, moduleOf(`e${at}`, graph.get(path)?.exports ?? []));
  }
  for (const path of paths.difference(new Set(entries))) Deno.removeSync(join(folder, path));
}

function write(folder: string, name: string, text: string): void {
  Deno.writeTextFileSync(join(folder, name), text);
}

/** The scripts among `paths` that others import. */
function importedFromOutside(graph: Graph, paths: ReadonlySet<string>): string[] {
  return [...graph].flatMap(([path, { imports, later }]) => {
    const named = paths.has(path) ? later : [...imports, ...later];
    return named.filter((other) => paths.has(other));
  });
}

/** A module that exports what a script did that is now part of the start script. */
function moduleOf(entry: string, names: readonly string[]): string {
  return `import{scripts}from"./${LOADER}";${
    exported(names, (name) => `scripts.${entry}.${name}`)
  }`;
}

/** The module that runs the start script with the modules that it imports. */
function loaderOf(joined: Joined): string {
  const { imports, modules } = importsOf(joined);
  return `import{constants,Script}from"node:vm";${imports}
const url=import.meta.url;
const place=(name)=>new URL(name,url);
const source=Deno.readTextFileSync(place("${SCRIPT}"));
let cachedData;
try{cachedData=Deno.readFileSync(place("${CACHE}")).subarray(${DIGEST_BYTES})}catch{}
export const script=new Script(source,{
filename:url,cachedData,importModuleDynamically:constants.USE_MAIN_CONTEXT_DEFAULT_LOADER});
cachedData?.buffer.transfer(0);
export const scripts=${callOf("script.runInThisContext()", modules, "url")};
`;
}
