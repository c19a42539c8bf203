import { join } from "node:path";
import { type Graph, loadable, loadedWith, readGraph } from "./graph.ts";
import { callOf, exported, importsOf, type Joined, joinScripts } from "./joined.ts";

/** The scripts that a bundle gets. */
export const SCRIPTS = ["start", "engine"] as const;

/** The head of a cache: the digest of its script (SHA-256). */
const DIGEST_BYTES = 32;

/** A script that takes the place of some modules of a bundle. */
interface Plan {
  /** Names the files: NAME.script, NAME.js, which runs it, and NAME.cache. */
  readonly name: (typeof SCRIPTS)[number];
  /** The modules that become the script. */
  readonly paths: ReadonlySet<string>;
  /** One that others import for sure. */
  readonly entry: string;
}

/**
 * Makes two scripts in a minified bundle: one of what the start of a server loads, and one of the
 * engine of repositories, which commands and workers load. Each of their modules becomes one that
 * exports what it did, from the script. Unlike a module, a script can be given what V8 made of it in
 * an earlier run, and so needs no parsing.
 *
 * @throws A script is not valid, or imports what cannot be had.
 */
export async function makeScripts(folder: string): Promise<void> {
  const graph = await readGraph(folder);
  for (const plan of [planStart(graph), planEngine(graph)]) await makeScript(folder, graph, plan);
}

async function makeScript(folder: string, graph: Graph, plan: Plan): Promise<void> {
  const { name, paths, entry } = plan;
  const entries = [...new Set([entry, ...importedFromOutside(graph, paths)])].sort();
  const joined = await joinScripts(folder, graph, paths, entries);
  write(folder, `${name}.script`, joined.text);
  write(folder, `${name}.js`, loaderOf(name, joined));
  for (const [at, path] of entries.entries()) {
    write(folder, path, moduleOf(name, `e${at}`, graph.get(path)?.exports ?? []));
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

/** A module that exports what a module did that is now part of a script. */
function moduleOf(name: string, entry: string, names: readonly string[]): string {
  return `import{scripts}from"./${name}.js";${
    exported(names, (name) => `scripts.${entry}.${name}`)
  }`;
}

/** The module that runs a script with the modules that it imports. */
function loaderOf(name: string, joined: Joined): string {
  const { imports, modules } = importsOf(joined);
  return `import{constants,Script}from"node:vm";${imports}
const url=import.meta.url;
const place=(name)=>new URL(name,url);
const source=Deno.readTextFileSync(place("${name}.script"));
let cachedData;
try{cachedData=Deno.readFileSync(place("${name}.cache")).subarray(${DIGEST_BYTES})}catch{}
export const script=new Script(source,{
filename:url,cachedData,importModuleDynamically:constants.USE_MAIN_CONTEXT_DEFAULT_LOADER});
cachedData?.buffer.transfer(0);
export const scripts=${callOf("script.runInThisContext()", modules, "url")};
`;
}

/** How much of the start a command may need, in bytes, to load that alone and not all of it. */
const SMALL_NEED = 100_000;

/**
 * Plans the script of what `muster serve` loads before it answers.
 *
 * What a worker can load is left out, because a worker shall not load the rest with it; and so is
 * what a command needs that needs little.
 *
 * @throws {Error} The bundle has no `serve`.
 */
function planStart(graph: Graph): Plan {
  const commands = graph.get("main.js")?.later ?? [];
  const parts = commands.flatMap((path) => graph.get(path)?.later ?? []);
  const serve = scriptWith(graph, parts, "serve");
  const workers = [...graph.keys()].filter((path) => path.endsWith("_worker.ts"));
  const paths = loadedWith(graph, [serve]).difference(
    loadable(graph, workers).union(loadedWith(graph, ["main.js"])),
  );
  for (const entry of [...commands, ...parts].filter((path) => path !== serve)) {
    const needed = loadedWith(graph, [entry]).intersection(paths);
    if (sizeOf(graph, needed) > SMALL_NEED) continue;
    for (const path of needed) paths.delete(path);
  }
  return { name: "start", paths, entry: serve };
}

/**
 * Plans the script of the engine of repositories. The bundler has joined its modules, because its
 * commands and its worker both load them.
 *
 * @throws {Error} The bundle has no `Repository`.
 */
function planEngine(graph: Graph): Plan {
  const entry = scriptWith(graph, graph.keys(), "Repository");
  return { name: "engine", paths: new Set([entry]), entry };
}

function scriptWith(graph: Graph, paths: Iterable<string>, name: string): string {
  for (const path of paths) if (graph.get(path)?.exports.includes(name)) return path;
  throw new Error(`No script of the bundle has \`${name}\``);
}

function sizeOf(graph: Graph, paths: Iterable<string>): number {
  let bytes = 0;
  for (const path of paths) bytes += graph.get(path)?.bytes ?? 0;
  return bytes;
}
