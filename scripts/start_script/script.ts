import { build, type Plugin, stop } from "esbuild";
import { join } from "node:path";
import { type Graph, readGraph } from "./graph.ts";
import { planStart } from "./plan.ts";

/** The module that runs the start script, and gives what its scripts export. */
const LOADER = "start.js";

/** The start script, as a text: the compiler takes modules alone for modules. */
const SCRIPT = "start.script";

/** What V8 made of the start script when it ran. */
export const CACHE = "start.cache";

/**
 * Globals that are others in a script than in a module: in a script, the runtime takes them from
 * Node's library. The loader hands over its own.
 */
const GLOBALS = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"];

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
  const outside = new Set<string>();
  const { outputFiles: [file] } = await build({
    absWorkingDir: folder,
    stdin: {
      contents: entries.map((path, at) => `export * as e${at} from "./${path}";`).join(""),
      resolveDir: folder,
    },
    bundle: true,
    charset: "ascii",
    define: { "import.meta.url": "__url" },
    format: "iife",
    globalName: "__scripts",
    legalComments: "none",
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [fromOutside(graph, paths, outside)],
    target: "esnext",
    write: false,
  });
  await stop();
  const imported = [...outside].sort();
  const parameters = ["__modules", "__url", ...GLOBALS].join();
  write(folder, SCRIPT, `(function(${parameters}){${file?.text}return __scripts})`);
  write(folder, LOADER, loaderOf(imported));
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

/**
 * Lets the start script take other modules from its parameter `__modules`, and notes which ones.
 * Modules that it imports later stay as they are.
 */
function fromOutside(graph: Graph, paths: ReadonlySet<string>, outside: Set<string>): Plugin {
  return {
    name: "from outside",
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /./ }, ({ path, kind }) => {
        if (kind === "dynamic-import") return { path, external: true };
        if (paths.has(path.replace("./", ""))) return undefined;
        outside.add(path);
        return { path, namespace: "outside" };
      });
      onLoad({ filter: /./, namespace: "outside" }, async ({ path }) => {
        const names = path.startsWith("node:")
          ? Object.keys(await import(path))
          : graph.get(path.replace("./", ""))?.exports ?? [];
        return { contents: handedOver(path, names) };
      });
    },
  };
}

/** A module that exports what another one does, from `__modules`. What nobody uses is left out. */
function handedOver(path: string, names: readonly string[]): string {
  const from = `__modules[${JSON.stringify(path)}]`;
  return exported(names, (name) => `/* @__PURE__ */ (() => ${from}.${name})()`);
}

/** A module that exports what a script did that is now part of the start script. */
function moduleOf(entry: string, names: readonly string[]): string {
  return `import{scripts}from"./${LOADER}";${
    exported(names, (name) => `scripts.${entry}.${name}`)
  }`;
}

function exported(names: readonly string[], valueOf: (name: string) => string): string {
  if (names.length === 0) return "";
  const values = names.map((name, at) => `v${at}=${valueOf(name)}`);
  const clauses = names.map((name, at) => `v${at} as ${name}`);
  return `const ${values.join()};export{${clauses.join()}};`;
}

/** The module that runs the start script with the modules that it imports. */
function loaderOf(imported: readonly string[]): string {
  const imports = imported.map((path, at) => `import*as m${at} from${JSON.stringify(path)};`);
  const modules = imported.map((path, at) => `${JSON.stringify(path)}:m${at}`);
  return `import{constants,Script}from"node:vm";${imports.join("")}
const url=import.meta.url;
const place=(name)=>new URL(name,url);
const source=Deno.readTextFileSync(place("${SCRIPT}"));
let cachedData;
try{cachedData=Deno.readFileSync(place("${CACHE}"))}catch{}
export const script=new Script(source,{
filename:url,cachedData,importModuleDynamically:constants.USE_MAIN_CONTEXT_DEFAULT_LOADER});
cachedData?.buffer.transfer(0);
export const scripts=script.runInThisContext()({${modules.join()}},url,${GLOBALS.join()});
`;
}
