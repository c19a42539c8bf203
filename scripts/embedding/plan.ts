import { type Graph, loadable, loadedWith } from "./graph.ts";

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
export function planStart(graph: Graph): { readonly serve: string; readonly paths: Set<string> } {
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
