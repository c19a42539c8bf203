import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Graph, readGraph } from "./graph.ts";
import { callOf, exported, importsOf, joinScripts } from "./joined.ts";

/** Large scripts that few servers load, each by something that it exports. */
const SELDOM: readonly string[] = [
  "AcmeCertificate",
  "LICENSES",
  "createAmazonBedrock",
  "createAnthropic",
  "createGoogleGenerativeAI",
  "ircLineParser",
  "openExternal",
];

/** The module that unpacks. */
const UNPACKER = "unpack.js";

const UNPACK = `import{constants,Script}from"node:vm";import{gunzipSync}from"node:zlib";
export function unpack(name,modules){
const url=new URL(name,import.meta.url);
const source=new TextDecoder().decode(gunzipSync(Deno.readFileSync(url)));
const script=new Script(source,{
filename:url.href,importModuleDynamically:constants.USE_MAIN_CONTEXT_DEFAULT_LOADER});
return ${callOf("script.runInThisContext()", "modules", "url.href")};
}
`;

/**
 * Compresses what few servers load, in a minified bundle: the executable keeps all of its files in
 * memory. Each becomes a module that unpacks it and exports what it did.
 *
 * @throws {Error} The bundle lacks one of them.
 */
export async function packSeldom(folder: string): Promise<void> {
  const graph = await readGraph(folder);
  const paths = new Set(SELDOM.map((name) => scriptWith(graph, name)));
  for (const path of paths) await pack(folder, graph, path);
  Deno.writeTextFileSync(join(folder, UNPACKER), UNPACK);
}

async function pack(folder: string, graph: Graph, path: string): Promise<void> {
  const joined = await joinScripts(folder, graph, new Set([path]), [path]);
  const { imports, modules } = importsOf(joined);
  const packed = path.replace(/\.js$/, ".gz");
  Deno.writeFileSync(join(folder, packed), gzipSync(joined.text, { level: 9 }));
  const names = graph.get(path)?.exports ?? [];
  Deno.writeTextFileSync(
    join(folder, path),
    `import{unpack}from"./${UNPACKER}";${imports}const{e0}=unpack("${packed}",${modules});` +
      exported(names, (name) => `e0.${name}`),
  );
}

/** The script that exports this name, and that others load when they need it. */
function scriptWith(graph: Graph, name: string): string {
  const later = new Set([...graph.values()].flatMap(({ later }) => later));
  for (const path of later) if (graph.get(path)?.exports.includes(name)) return path;
  throw new Error(`No script of the bundle exports "${name}"`);
}
