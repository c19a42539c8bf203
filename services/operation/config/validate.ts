import { join } from "node:path";
import { z } from "zod";
import { suggest } from "../../kernel/suggest.ts";
import { type Fault, faultOf, fieldName } from "../../kernel/validation/mod.ts";
import { type Config, configSchema } from "./schemas.ts";
import { ConfigError, type ConfigSources, type LoadedConfig, OTHER_VARIABLES } from "./sources.ts";

type Tree = { [key: string]: unknown };

/**
 * Puts the sources together, and validates the result.
 *
 * @param text what the file holds; null if there is none
 * @throws ConfigError if the file is not YAML, or a key is unknown or has a wrong value
 */
export async function validateConfig(
  sources: ConfigSources,
  text: string | null,
): Promise<LoadedConfig> {
  const file = text === null ? null : await parseFile(sources.file, text);
  const tree = structuredClone(file?.tree ?? {});
  const origins = new Map<string, string>();
  const warnings: string[] = [];
  const { paths: keys, texts } = keyPaths(configSchema);
  const read = (key: string, text: string) => texts.has(key) ? text : scalar(text);

  for (const [variable, text] of Object.entries(sources.environment).toSorted()) {
    if (!variable.startsWith("MUSTER_") || OTHER_VARIABLES.has(variable)) continue;
    const key = keys.get(variable.slice("MUSTER_".length));
    if (key === undefined) {
      const meant = suggest(variable, [...keys.keys()].map((name) => `MUSTER_${name}`));
      const hint = meant === null ? "" : `; did you mean ${meant}?`;
      warnings.push(`${variable} names no configuration key and is ignored${hint}`);
      continue;
    }
    setPath(tree, key, await read(key, text), variable);
    origins.set(key, variable);
  }
  for (const [key, text] of Object.entries(sources.flags)) {
    setPath(tree, key, await read(key, text), "the command line");
    origins.set(key, "the command line");
  }

  // To compile a validator takes longer than to interpret it once.
  const result = configSchema.safeParse(tree, { jitless: true });
  if (result.success) return { config: withAcme(result.data), warnings };
  const problems = result.error.issues.map((issue) => {
    const { path, message } = describe(issue, [...keys.values()]);
    const source = originOf(path, origins) ??
      (file === null ? "the configuration" : `${sources.file}:${file.lineOf(path)}`);
    return `${source}: ${fieldName(path)}: ${message}`;
  });
  throw new ConfigError(problems.join("\n"));
}

/** Names the file in which a certificate of `tls.acme` is, with its key. */
function withAcme(config: Config): Config {
  const { tls, data_dir: folder } = config;
  if (tls.acme.domains.length === 0) return config;
  const file = join(folder, "acme", "certificate.pem");
  return { ...config, tls: { ...tls, cert: file, key: file } };
}

/** What set the key at a path, or the key whose value the path leads into; undefined for the file. */
function originOf(
  path: readonly PropertyKey[],
  origins: ReadonlyMap<string, string>,
): string | undefined {
  const keys = path.map((_, index) => path.slice(0, path.length - index).join("."));
  return origins.get(keys.find((key) => origins.has(key)) ?? "");
}

interface ParsedFile {
  readonly tree: Tree;
  lineOf(path: readonly PropertyKey[]): number;
}

async function parseFile(file: string, text: string): Promise<ParsedFile> {
  const { readYaml } = await import("./yaml.ts");
  const document = readYaml(text);
  const [problem] = document.problems;
  if (problem !== undefined) throw new ConfigError(`${file}:${problem.line}: ${problem.message}`);
  const tree = document.value ?? {};
  if (!isTree(tree)) throw new ConfigError(`${file}:1: the file must hold keys and values`);
  return { tree, lineOf: document.lineOf };
}

/** Parses a value that need not be a text: as YAML if it is more than a word. */
async function scalar(text: string): Promise<unknown> {
  if (text === "true") return true;
  if (text === "false") return false;
  if (/^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (!/^\s*[[{]/.test(text)) return text;
  if (/^\[[0-9A-Fa-f:.]+\]:\d+$/.test(text)) return text;
  const { readYaml } = await import("./yaml.ts");
  const { value, problems } = readYaml(text);
  return problems.length === 0 ? value : text;
}

function setPath(tree: Tree, key: string, value: unknown, origin: string): void {
  const parts = key.split(".");
  const last = parts.pop() ?? key;
  let node = tree;
  for (const part of parts) {
    const next = node[part] ?? (node[part] = {});
    if (!isTree(next)) throw new ConfigError(`${origin}: ${key}: "${part}" holds no keys`);
    node = next;
  }
  node[last] = value;
}

interface KeyPaths {
  /** Every key: its name in the environment, without `MUSTER_`, to its path. */
  readonly paths: ReadonlyMap<string, string>;
  /** The paths of text keys, whose values may look like another type. */
  readonly texts: ReadonlySet<string>;
}

function keyPaths(schema: typeof configSchema): KeyPaths {
  const paths = new Map<string, string>();
  const texts = new Set<string>();
  const visit = (type: unknown, path: string[]): void => {
    const inner = unwrap(type);
    if (inner instanceof z.ZodObject) {
      for (const [key, child] of Object.entries(inner.shape)) visit(child, [...path, key]);
      return;
    }
    paths.set(path.join("_").toUpperCase(), path.join("."));
    if (inner instanceof z.ZodString) texts.add(path.join("."));
  };
  visit(schema, []);
  return { paths, texts };
}

function unwrap(type: unknown): unknown {
  if (type instanceof z.ZodDefault || type instanceof z.ZodPrefault) {
    return unwrap(type.def.innerType);
  }
  return type;
}

/** @param keys the paths of all keys */
function describe(issue: z.core.$ZodIssue, keys: readonly string[]): Fault {
  const fault = faultOf(issue);
  if (issue.code !== "unrecognized_keys") return fault;
  const group = [...issue.path, ""].join(".");
  const names = keys.filter((key) => key.startsWith(group))
    .map((key) => key.slice(group.length).split(".", 1)[0] ?? "");
  const meant = suggest(String(fault.path.at(-1)), names);
  const hint = meant === null ? "" : `; did you mean "${group}${meant}"?`;
  return { ...fault, message: `is not a key of muster${hint}` };
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
