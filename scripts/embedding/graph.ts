/** The scripts of a bundle, and which of them import which. */
import { build, stop } from "esbuild";
import { dirname, join, normalize } from "node:path";

/** A script of a bundle. */
export interface Chunk {
  /** Its length in bytes. */
  readonly bytes: number;
  readonly exports: readonly string[];
  /** The scripts that it loads with itself, as paths in the bundle. */
  readonly imports: readonly string[];
  /** The scripts that it loads later, as paths in the bundle. */
  readonly later: readonly string[];
}

/** The scripts of a bundle, by their path in it. */
export type Graph = ReadonlyMap<string, Chunk>;

/**
 * Reads the scripts of a bundle, whatever the ending of their names.
 *
 * @throws A script is not valid.
 */
export async function readGraph(folder: string): Promise<Graph> {
  const { metafile } = await build({
    absWorkingDir: folder,
    entryPoints: [...scriptsBelow(folder, "")],
    outbase: folder,
    outdir: folder,
    bundle: false,
    format: "esm",
    metafile: true,
    write: false,
    logLevel: "error",
  });
  await stop();
  const graph = new Map<string, Chunk>();
  for (const { entryPoint: path = "", exports, imports } of Object.values(metafile.outputs)) {
    const local = imports.filter(({ path }) => path.startsWith("."));
    const named = (isLater: boolean) =>
      local.filter(({ kind }) => (kind === "dynamic-import") === isLater)
        .map((imported) => normalize(join(dirname(path), imported.path)));
    const bytes = metafile.inputs[path]?.bytes ?? 0;
    graph.set(path, { bytes, exports, imports: named(false), later: named(true) });
  }
  return graph;
}

/** What is loaded with some scripts: they, and what they and their imports import. */
export function loadedWith(graph: Graph, paths: Iterable<string>): Set<string> {
  return reached(graph, paths, ({ imports }) => imports);
}

/** What some scripts can ever load. */
export function loadable(graph: Graph, paths: Iterable<string>): Set<string> {
  return reached(graph, paths, ({ imports, later }) => [...imports, ...later]);
}

function reached(
  graph: Graph,
  paths: Iterable<string>,
  next: (chunk: Chunk) => readonly string[],
): Set<string> {
  const found = new Set(paths);
  for (const path of found) {
    const chunk = graph.get(path);
    if (chunk === undefined) throw new Error(`The bundle has no script "${path}"`);
    for (const other of next(chunk)) found.add(other);
  }
  return found;
}

function* scriptsBelow(folder: string, prefix: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(join(folder, prefix))) {
    const path = join(prefix, name);
    if (isDirectory) yield* scriptsBelow(folder, path);
    else if (/\.[jt]s$/.test(name)) yield path;
  }
}
