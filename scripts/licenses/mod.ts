/** The licenses of everything that the executable embeds. */
import { join, resolve } from "node:path";
import { ROOT } from "../bundle.ts";

const TEXTS = join(import.meta.dirname ?? ".", "texts");

/** The comment with which the bundler begins each module of a package, up to the package's version. */
const MODULE = /^\/\/ (\S*\/npm\/[^/]+\/((?:@[^/\s]+\/)?[^/\s]+)\/(\d[^/\s]*))\//gm;

/** Names of files with the text of a license. */
const LICENSE_FILE = /^(licen[cs]e|copying|notice)\b/i;

/** Licenses that ask for no more than their own text. */
const PERMISSIVE: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "ISC",
  "MIT",
]);

/** The texts of licenses whose owners stand in the code of a package alone. */
const TEXTS_OF: ReadonlyMap<string, string> = new Map([
  ["@bufbuild/protobuf BSD-3-Clause", "BSD-3-Clause.google.txt"],
]);

/** Words that tell a license where the package does not name it. */
const MIT_TEXT = /\bThe MIT License\b/;

/** The parts of the runtime; `texts/` has a file for each. */
const RUNTIME = [
  { name: "Deno", license: "MIT", file: "deno.txt" },
  { name: "V8", license: "BSD-3-Clause", file: "v8.txt" },
  { name: "ICU", license: "Unicode-3.0", file: "icu.txt" },
  { name: "SQLite", license: "Public domain", file: "sqlite.txt" },
] as const;

/** A package of which the bundle has at least one module. */
export interface EmbeddedPackage {
  readonly name: string;
  readonly version: string;
  /** Where its files are. */
  readonly folder: string;
}

/** What one part of the executable is under. */
export interface License {
  /** The name and version of the part. */
  readonly part: string;
  /** The SPDX identifier. */
  readonly license: string;
  readonly text: string;
}

/** The packages in a bundle that is not minified, sorted by name and version. */
export function findPackages(bundle: string): EmbeddedPackage[] {
  const found = new Map<string, EmbeddedPackage>();
  for (const path of filesBelow(bundle)) {
    if (!path.endsWith(".js")) continue;
    for (const match of Deno.readTextFileSync(path).matchAll(MODULE)) {
      const [, folder = "", name = "", version = ""] = match;
      found.set(`${name} ${version}`, { name, version, folder: resolve(ROOT, folder) });
    }
  }
  return [...found.entries()].sort(([one], [other]) => one < other ? -1 : 1)
    .map(([, value]) => value);
}

/**
 * Reads what a package is under.
 *
 * @throws {Error} The package names no license, or one that is not known as permissive.
 */
export function readLicense({ name, version, folder }: EmbeddedPackage): License {
  const files = [...Deno.readDirSync(folder)]
    .filter((entry) => entry.isFile && LICENSE_FILE.test(entry.name))
    .map((entry) => entry.name).sort();
  const own = files.map((file) => Deno.readTextFileSync(join(folder, file)).trim()).join("\n\n");
  const manifest = JSON.parse(Deno.readTextFileSync(join(folder, "package.json")));
  const named: unknown = manifest.license ?? (MIT_TEXT.test(own) ? "MIT" : undefined);
  if (typeof named !== "string") throw new Error(`${name} ${version} names no license`);
  const license = permissiveOf(named);
  if (license === null) {
    throw new Error(`${name} ${version} is under ${named}, which is not known as permissive`);
  }
  const text = own === "" ? standardText(license, name) : own;
  return { part: `${name} ${version}`, license, text };
}

/** The first choice of permissive licenses that an SPDX expression offers; null if it offers none. */
function permissiveOf(expression: string): string | null {
  const choices = expression.replace(/^\((.*)\)$/, "$1").split(" OR ");
  const isPermissive = (choice: string) =>
    choice.split(" AND ").every((license) => PERMISSIVE.has(license));
  return choices.find(isPermissive) ?? null;
}

/**
 * The licenses of packages and of the runtime as a text: a list, then each text once.
 *
 * @throws {Error} A package has no license that is known as permissive.
 */
export function describeLicenses(packages: readonly EmbeddedPackage[]): string {
  const runtime = RUNTIME.map(({ name, license, file }) => ({
    part: name,
    license,
    text: Deno.readTextFileSync(join(TEXTS, file)).trim(),
  }));
  const licenses = [...runtime, ...packages.map(readLicense)];
  const width = Math.max(...licenses.map(({ part }) => part.length));
  const list = licenses.map(({ part, license }) => `${part.padEnd(width)}  ${license}`);
  const texts = [...groupByText(licenses)].map(([text, parts]) =>
    [rule("="), parts.join("\n"), rule("-"), text].join("\n")
  );
  return [...list, "", texts.join("\n\n"), ""].join("\n").replace(/[ \t\r]+$/gm, "");
}

/** The standard text of a license, for a package that has no file with it. */
function standardText(license: string, name: string): string {
  const parts = license.split(" AND ").map((part) => {
    const file = TEXTS_OF.get(`${name} ${part}`) ?? `${part}.txt`;
    return Deno.readTextFileSync(join(TEXTS, file)).trim();
  });
  return parts.join("\n\n").replace("{owner}", `the authors of ${name}`);
}

function groupByText(licenses: readonly License[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const { part, text } of licenses) {
    groups.set(text, [...groups.get(text) ?? [], part]);
  }
  return groups;
}

function rule(character: string): string {
  return character.repeat(80);
}

/** The files in a folder and below, by path. */
function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    return isDirectory ? filesBelow(path) : [path];
  });
}
