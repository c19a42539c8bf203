import { join } from "node:path";
import { type Graph, loadable, loadedWith, readGraph } from "./graph.ts";
import { callOf, exported, importsOf, type Joined, joinScripts } from "./joined.ts";

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

/** How much of the start a command may need, in bytes, to load that alone and not all of it. */
const SMALL_NEED = 100_000;

/**
 * The scripts that become one: those that `muster serve` loads before it answers.
 *
 * What a worker can load is left out, because a worker shall not load the rest with it; and so is
 * what a command needs that needs little.
 *
 * @returns their paths, and that of the script that has `serve`.
 * @throws {Error} The bundle has no such script.
 */
function planStart(graph: Graph): { readonly serve: string; readonly paths: Set<string> } {
  const commands = graph.get("main.js")?.later ?? [];
  const parts = commands.flatMap((path) => graph.get(path)?.later ?? []);
  const serve = parts.find((path) => graph.get(path)?.exports.includes("serve"));
  if (serve === undefined) throw new Error("No script of the bundle has `serve`");
  const workers = [...graph.keys()].filter((path) => path.endsWith("_worker.ts"));
  const paths = loadedWith(graph, [serve]).difference(
    loadable(graph, workers).union(loadedWith(graph, ["main.js"])),
  );
  for (const entry of [...commands, ...parts].filter((path) => path !== serve)) {
    const needed = loadedWith(graph, [entry]).intersection(paths);
    if (sizeOf(graph, needed) > SMALL_NEED) continue;
    for (const path of needed) paths.delete(path);
  }
  return { serve, paths };
}

function sizeOf(graph: Graph, paths: Iterable<string>): number {
  let bytes = 0;
  for (const path of paths) bytes += graph.get(path)?.bytes ?? 0;
  return bytes;
}
