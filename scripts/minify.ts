/** Makes a bundle smaller. The executable keeps all of it in memory. */
import { join } from "node:path";
import { stop, transform } from "esbuild";

/**
 * Rewrites each script of a folder and below without white space and comments, in ASCII. Our names
 * stay as they are: they stand in logs and stack traces. Scripts that hold packages get short ones.
 *
 * V8 keeps the source of every module. A single character beyond ASCII doubles its size, and keeps
 * V8 from using the embedded bytes as they are.
 *
 * @throws A script is not valid.
 */
export async function minifyBundle(folder: string): Promise<void> {
  try {
    await minifyFolder(folder);
  } finally {
    await stop();
  }
}

async function minifyFolder(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await minifyFolder(path);
    else if (name.endsWith(".js")) await minifyFile(path);
  }
}

async function minifyFile(path: string): Promise<void> {
  await Deno.writeTextFile(path, await minify(await Deno.readTextFile(path)));
}

/**
 * Rewrites one script, as {@linkcode minifyBundle} does.
 *
 * @throws The script is not valid.
 */
export async function minify(script: string): Promise<string> {
  const { code } = await transform(withoutLocales(script), {
    charset: "ascii",
    format: "esm",
    legalComments: "none",
    minifyIdentifiers: isOfPackages(script),
    minifySyntax: true,
    minifyWhitespace: true,
    // As it is, a `using` whose resource is used once would become that use, without a disposal.
    supported: { using: false },
    target: "esnext",
    treeShaking: true,
  });
  return code;
}

/** How the bundler begins each module in a script. */
const MODULE = /^ *\/\/ (\S+\.[cm]?[jt]sx?|\S+\.json)$/gm;

/** Whether at least nine tenths of a script are from packages. */
function isOfPackages(script: string): boolean {
  const modules = [...script.matchAll(MODULE)];
  let length = 0;
  for (const [at, { 1: path = "", index }] of modules.entries()) {
    if (path.includes("/npm/")) length += (modules[at + 1]?.index ?? script.length) - index;
  }
  return length > 0.9 * script.length;
}

/**
 * Removes the table of zod's error messages in fifty languages, which muster never uses. It has the
 * only references to them, so that they go too. They are half of zod.
 */
function withoutLocales(script: string): string {
  return script
    .replace(/^var locales_exports = \{\};\n__export\(locales_exports, \{[^{}]*\}\);\n/m, "")
    .replaceAll(/^ +locales: \(\) => locales_exports,\n/gm, "");
}
