import { build, type Plugin, stop } from "esbuild";
import type { Graph } from "./graph.ts";

/**
 * Globals that are others in a script than in a module: in a script, the runtime takes them from
 * Node's library. The module that runs a script hands over its own.
 */
const GLOBALS = ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"];

/** Modules of a bundle as one script. */
export interface Joined {
  /** The script. Its value is a function, which {@linkcode callOf} calls. */
  readonly text: string;
  /** The other modules that it imports. */
  readonly imported: readonly string[];
}

/**
 * Joins modules of a bundle to one script, whose value has what some of them export: the exports of
 * the first of `entries` are `e0`, and so on.
 *
 * @throws A module is not valid, or imports what cannot be had.
 */
export async function joinScripts(
  folder: string,
  graph: Graph,
  paths: ReadonlySet<string>,
  entries: readonly string[],
): Promise<Joined> {
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
    globalName: "__exports",
    legalComments: "none",
    minifySyntax: true,
    minifyWhitespace: true,
    plugins: [fromOutside(graph, paths, outside)],
    target: "esnext",
    write: false,
  });
  await stop();
  const parameters = ["__modules", "__url", ...GLOBALS].join();
  const text = `(function(${parameters}){"use strict";${file?.text}return __exports})`;
  return { text, imported: [...outside].sort() };
}

/** The call of a joined script, from expressions for the script's value, modules and URL. */
export function callOf(script: string, modules: string, url: string): string {
  return `${script}(${modules},${url},${GLOBALS.join()})`;
}

/** Imports all modules that a joined script imports, and an expression for them. */
export function importsOf({ imported }: Joined): { readonly imports: string; modules: string } {
  const imports = imported.map((path, at) => `import*as m${at} from${JSON.stringify(path)};`);
  const modules = imported.map((path, at) => `${JSON.stringify(path)}:m${at}`);
  return { imports: imports.join(""), modules: `{${modules.join()}}` };
}

/** Statements that export some names, with values by expressions. */
export function exported(names: readonly string[], valueOf: (name: string) => string): string {
  return names.map((name) =>
    name === "default"
      ? `export default ${valueOf(name)};`
      : `export const ${name}=${valueOf(name)};`
  ).join("");
}

/**
 * Lets a script take other modules from its parameter `__modules`, and notes which ones.
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
