import { createHash } from "node:crypto";
import { dirname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { STYLES } from "./styles/mod.ts";

const FOLDER = import.meta.dirname ?? ".";

/** The script of the executable, in one file: `scripts/compile.ts` makes it. */
const BUNDLE = join(FOLDER, "elements.js");

/** The modules of the tree, whose types are stripped when they are served. */
const TREE = join(FOLDER, "..");
const FIRST_MODULE = join(FOLDER, "elements", "mod.ts");

/** The module that a line of a stripped module imports. */
const IMPORTED = /(?:from|^import) "(\.[^"]+)";$/gm;

const TYPES = { script: "text/javascript; charset=utf-8", style: "text/css; charset=utf-8" };

/** A file that pages load. */
interface Asset {
  readonly content: string;
  readonly type: string;
  /**
   * The same, compressed at the first call. Pages are not: they have what somebody wrote beside a
   * secret token.
   */
  gzip(): Uint8Array<ArrayBuffer>;
}

/** What every page loads: the style sheet and the script, whose addresses change with them. */
export interface Assets {
  readonly style: string;
  readonly script: string;
  readonly files: ReadonlyMap<string, Asset>;
}

/** Reads the assets. */
export async function readAssets(): Promise<Assets> {
  const modules = await readModules();
  const style = STYLES.join("\n");
  const hash = createHash("sha256").update(style);
  for (const [name, text] of modules) hash.update(name).update(text);
  const base = `/assets/${hash.digest("hex").slice(0, 16)}`;
  const files = new Map<string, Asset>([
    [`${base}/muster.css`, assetOf(style, TYPES.style)],
  ]);
  for (const [name, content] of modules) {
    files.set(`${base}/${name}`, assetOf(content, TYPES.script));
  }
  return { style: `${base}/muster.css`, script: `${base}/${modules.keys().next().value}`, files };
}

function assetOf(content: string, type: string): Asset {
  let compressed: Uint8Array<ArrayBuffer> | null = null;
  const gzip = () => compressed ??= new Uint8Array(gzipSync(content, { level: 9 }));
  return { content, type, gzip };
}

/** The modules that run in the browser, by path in the tree; the first one imports the others. */
async function readModules(): Promise<ReadonlyMap<string, string>> {
  const bundle = await Deno.readTextFile(BUNDLE).catch(() => null);
  if (bundle !== null) return new Map([["elements.js", bundle]]);
  // The runtime of the executable has no such function, and needs none.
  const { stripTypeScriptTypes } = await import("node:module");
  const modules = new Map<string, string>();
  const waiting = [FIRST_MODULE];
  for (const path of waiting) {
    const text = stripTypeScriptTypes(await Deno.readTextFile(path));
    modules.set(relative(TREE, path).replaceAll("\\", "/"), text);
    for (const [, imported = ""] of text.matchAll(IMPORTED)) {
      const next = join(dirname(path), imported);
      if (!waiting.includes(next)) waiting.push(next);
    }
  }
  return modules;
}
