import { join } from "node:path";
import { z } from "zod";
import { suggest } from "../spelling/mod.ts";
import { type Fault, faultOf } from "../validation/mod.ts";
import { type Config, configSchema } from "./schema.ts";

/** A configuration that cannot be used; the message names the source, the line and the key. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The sources of a configuration; later ones win. */
export interface ConfigSources {
  /** Path of the YAML file. */
  readonly file: string;
  /** Whether the file must exist, because it was named explicitly. */
  readonly fileRequired: boolean;
  /** The process environment; keys that begin with `MUSTER_` count. */
  readonly environment: Readonly<Record<string, string>>;
  /** Values from the command line by key path, such as `irc.listen`. */
  readonly flags: Readonly<Record<string, string>>;
}

/** A validated configuration, and warnings about its sources. */
export interface LoadedConfig {
  readonly config: Config;
  readonly warnings: readonly string[];
}

/** `MUSTER_` variables that are not configuration keys. */
const OTHER_VARIABLES: ReadonlySet<string> = new Set([
  "MUSTER_AGENT",
  "MUSTER_API_TOKEN",
  "MUSTER_BENCH_ERGO",
  "MUSTER_BENCH_SCUTTLEBOT",
  "MUSTER_EXECUTABLE",
  "MUSTER_NEWER_FOSSIL",
  "MUSTER_PEERS",
  "MUSTER_PYTHON_CLIENTS",
  "MUSTER_TEST_DATABASE",
  "MUSTER_TEST_POSTGRES",
  "MUSTER_TOKEN",
  "MUSTER_TOKEN_FILE",
  "MUSTER_URL",
]);

type Tree = { [key: string]: unknown };

/**
 * Reads the configuration: defaults, file, environment, flags, in this order.
 *
 * @throws ConfigError if a source cannot be read, or a key is unknown or has a wrong value
 */
export async function loadConfig(sources: ConfigSources): Promise<LoadedConfig> {
  const file = await readFile(sources);
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
    const { path, message } = describe(issue);
    const source = origins.get(path.join(".")) ??
      (file === null ? "the configuration" : `${sources.file}:${file.lineOf(path)}`);
    return `${source}: ${path.join(".")}: ${message}`;
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

interface ParsedFile {
  readonly tree: Tree;
  lineOf(path: readonly PropertyKey[]): number;
}

async function readFile({ file, fileRequired }: ConfigSources): Promise<ParsedFile | null> {
  let text: string;
  try {
    text = await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound && !fileRequired) return null;
    throw new ConfigError(`${file}: cannot be read: ${reason(error)}`);
  }
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

function describe(issue: z.core.$ZodIssue): Fault {
  const fault = faultOf(issue);
  if (issue.code !== "unrecognized_keys") return fault;
  return { ...fault, message: "is not a key of muster" };
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
