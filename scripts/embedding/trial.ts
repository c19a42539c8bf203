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
  await Deno.writeFile(output, script.createCachedData());
  Deno.kill(Deno.pid, "SIGTERM");
}

/** @throws {Error} V8 does not take what a trial wrote. */
function check(input: string): void {
  const source = Deno.readTextFileSync(new URL("start.script", import.meta.url));
  const script = new Script(source, { cachedData: Deno.readFileSync(input) });
  if (script.cachedDataRejected !== false) throw new Error(`V8 does not take ${input}`);
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
if (input !== undefined) check(input);
else await main(Deno.env.get("MUSTER_DATA_DIR") ?? "", Deno.env.get("MUSTER_TRIAL_OUTPUT") ?? "");
