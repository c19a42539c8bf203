/**
 * Starts the server of the bundle in whose folder this lies, as the environment says, and sends the
 * requests that show that it is up. Then writes what V8 has compiled until then, and ends the server.
 * Or checks that V8 takes what such a trial wrote.
 */
import { Script } from "node:vm";

interface Loader {
  readonly script: Script;
  readonly scripts: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Time for what the start leaves until after the first answers, in milliseconds. */
const REST = 400;

const POLL_EVERY = 10;

const SCRIPT = new URL("start.script", import.meta.url);

async function main(folder: string, output: string): Promise<void> {
  const { script, scripts }: Loader = await import(here("start.js"));
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
  for (const [name, value] of valuesOf(scripts)) {
    if (values.get(name) !== value) throw new Error(`${name} changes, so no other module has it`);
  }
  const code = new Uint8Array(script.createCachedData());
  await Deno.writeFile(output, new Blob([await digestOfScript(), code]).stream());
  Deno.kill(Deno.pid, "SIGTERM");
}

/**
 * Checks what a trial wrote: V8 takes code of any script of the same length.
 *
 * @throws {Error} It is of another script, or V8 does not take it.
 */
async function check(input: string): Promise<void> {
  const digest = await digestOfScript();
  const written = await Deno.readFile(input);
  if (digest.some((byte, at) => written[at] !== byte)) {
    throw new Error(`${input} is of other sources`);
  }
  const cachedData = written.subarray(digest.length);
  const { cachedDataRejected } = new Script(await Deno.readTextFile(SCRIPT), { cachedData });
  if (cachedDataRejected !== false) throw new Error(`V8 does not take ${input}`);
}

async function digestOfScript(): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", await Deno.readFile(SCRIPT)));
}

/** A module beside this one, as a name that the bundler does not follow. */
function here(name: string): string {
  return new URL(name, import.meta.url).href;
}

/** What the start script exports, by name. Others take each value once, so it must not change. */
function valuesOf(scripts: Loader["scripts"]): Map<string, unknown> {
  return new Map(
    Object.entries(scripts).flatMap(([entry, exported]) =>
      Object.entries(exported).map(([name, value]) => [`${entry}.${name}`, value])
    ),
  );
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
if (input !== undefined) await check(input);
else await main(Deno.env.get("MUSTER_DATA_DIR") ?? "", Deno.env.get("MUSTER_TRIAL_OUTPUT") ?? "");
