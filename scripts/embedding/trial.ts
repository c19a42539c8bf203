/**
 * Starts the server of the bundle in whose folder this lies, as the environment says, sends the
 * requests that show that it is up, and reads a repository as commands do. Then writes what V8 has
 * compiled of each script, and ends the server. Or checks that V8 takes what such a trial wrote.
 */
import { Script } from "node:vm";
import type * as engine from "../../services/engines/fossil/mod.ts";

interface Loader<Scripts> {
  readonly script: Script;
  readonly scripts: Scripts;
}

/** What the modules of a script export, by module and name. */
type Exports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Time for what the start leaves until after the first answers, in milliseconds. */
const REST = 400;

const POLL_EVERY = 10;

async function main(folder: string, output: string): Promise<void> {
  const { script, scripts }: Loader<Exports> = await import(here("start.js"));
  const values = valuesOf(scripts);
  const endpoints = `${folder}/endpoints.json`;
  await Deno.remove(endpoints).catch(() => {});
  void import(here("main.js"));
  const api = await apiOf(endpoints);
  const token = await Deno.readTextFile(`${folder}/api_token`);
  // The end of the server waits for open connections.
  using client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  for (const path of ["/healthz", "/v1/status"]) {
    const response = await fetch(`${api}${path}`, {
      client,
      headers: { authorization: `Bearer ${token.trim()}` },
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`${path} answers ${response.status}`);
  }
  await pause(REST);
  requireSame(values, scripts);
  await writeCache(output, "start", script);
  await tryEngine(output);
  Deno.kill(Deno.pid, "SIGTERM");
}

/** Runs what commands that read need of the engine of repositories. The first trial makes one. */
async function tryEngine(folder: string): Promise<void> {
  const { script, scripts }: Loader<Exports & { readonly e0: typeof engine }> = await import(
    here("engine.js")
  );
  const values = valuesOf(scripts);
  const path = `${folder}/trial.fossil`;
  const isMade = await Deno.stat(path).then(() => true, () => false);
  if (!isMade) makeRepository(scripts.e0, path);
  readRepository(scripts.e0, path);
  requireSame(values, scripts);
  await writeCache(folder, "engine", script);
}

const CHANGED_FILE = "folder/changed.txt";

/** Makes a repository of a few check-ins. */
function makeRepository(
  { Reader, Repository, resolveCheckin, writeCheckin }: typeof engine,
  path: string,
): void {
  const author = { user: "trial", date: Date.now() };
  const lines = Array.from({ length: 400 }, (_, number) => `line ${number}\n`);
  using repository = Repository.create(path, { admin: author.user, date: author.date });
  let parent = resolveCheckin(new Reader(repository), "tip").uuid;
  for (let number = 0; number < 30; number++) {
    lines.splice(number * 10, 3, `check-in ${number}\n`);
    const content = new TextEncoder().encode(lines.join(""));
    const date = author.date + 1000 * number;
    parent = repository.write({ user: author.user, ip: null }, () =>
      writeCheckin(repository, {
        ...author,
        date,
        parent,
        comment: `change ${number}`,
        changes: [
          { kind: "write", path: CHANGED_FILE, content },
          { kind: "write", path: `folder/added${number}.txt`, content },
        ],
      }));
  }
}

function readRepository(
  {
    Reader,
    Repository,
    SearchIndex,
    listBranches,
    listTags,
    readBlame,
    readCheckin,
    readDiff,
    readFile,
    readHistory,
    readTimeline,
    readTree,
  }: typeof engine,
  repositoryPath: string,
): void {
  using repository = Repository.open(repositoryPath, { readOnly: true });
  const reader = new Reader(repository);
  const page = { limit: 25, offset: 0 };
  const path = CHANGED_FILE;
  const { checkins } = reader.read(() => readTimeline(reader, page));
  reader.read(() => readHistory(reader, { ...page, path }));
  readTree(reader, { recursive: true, withoutLastCheckin: true });
  readTree(reader, { recursive: true });
  readFile(reader, { path });
  readBlame(reader, { path });
  readCheckin(reader, "tip");
  readDiff(reader, { from: checkins.at(-1)?.uuid ?? "", to: checkins[0]?.uuid ?? "" });
  listBranches(reader);
  listTags(reader);
  using index = SearchIndex.open(`${repositoryPath}.index`, reader);
  index.search({ ...page, query: "change line" });
}

async function writeCache(output: string, name: string, script: Script): Promise<void> {
  const code = new Uint8Array(script.createCachedData());
  await Deno.writeFile(`${output}/${name}.cache`, new Blob([await digestOf(name), code]).stream());
}

/**
 * Checks what a trial wrote: V8 takes code of any script of the same length.
 *
 * @throws {Error} It is of another script, or V8 does not take it.
 */
async function check(input: string, name: string): Promise<void> {
  const digest = await digestOf(name);
  const written = await Deno.readFile(`${input}/${name}.cache`);
  if (digest.some((byte, at) => written[at] !== byte)) {
    throw new Error(`The code of ${name}.script is of other sources`);
  }
  const cachedData = written.subarray(digest.length);
  const source = await Deno.readTextFile(scriptOf(name));
  const { cachedDataRejected } = new Script(source, { cachedData });
  if (cachedDataRejected !== false) throw new Error(`V8 does not take the code of ${name}.script`);
}

async function digestOf(name: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await Deno.readFile(scriptOf(name));
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

function scriptOf(name: string): URL {
  return new URL(`${name}.script`, import.meta.url);
}

/** A module beside this one, as a name that the bundler does not follow. */
function here(name: string): string {
  return new URL(name, import.meta.url).href;
}

/** What a script exports, by name. */
function valuesOf(scripts: Exports): Map<string, unknown> {
  return new Map(
    Object.entries(scripts).flatMap(([entry, exported]) =>
      Object.entries(exported).map(([name, value]) => [`${entry}.${name}`, value])
    ),
  );
}

/** Others take each value that a script exports once, so it must not change. */
function requireSame(values: ReadonlyMap<string, unknown>, scripts: Exports): void {
  for (const [name, value] of valuesOf(scripts)) {
    if (values.get(name) !== value) throw new Error(`${name} changes, so no other module has it`);
  }
}

/** The URL of the API, once the server listens. */
async function apiOf(endpoints: string): Promise<string> {
  for (;;) {
    try {
      return JSON.parse(await Deno.readTextFile(endpoints)).api;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
    await pause(POLL_EVERY);
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

const input = Deno.env.get("MUSTER_TRIAL_INPUT");
if (input !== undefined) await Promise.all(["start", "engine"].map((name) => check(input, name)));
else await main(Deno.env.get("MUSTER_DATA_DIR") ?? "", Deno.env.get("MUSTER_TRIAL_OUTPUT") ?? "");
