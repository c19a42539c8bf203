import { join, resolve } from "node:path";
import { freePort } from "../../tests/support/free_port.ts";
import { descendantsOf } from "../process_usage.ts";
import type { CoordinationServer, CoordinationServerKind } from "./coordination.ts";
import { ergoProgram } from "./ergo.ts";
import { untilListening } from "./server.ts";

const HOSTNAME = "127.0.0.1";

/** The program of ScuttleBot; null if the environment names none. */
export function scuttlebotProgram(): string | null {
  return Deno.env.get("MUSTER_BENCH_SCUTTLEBOT") ?? null;
}

/** ScuttleBot with its defaults, with the Ergo that it starts and configures itself. */
export const SCUTTLEBOT: CoordinationServerKind = { name: "ScuttleBot", start };

async function start(): Promise<CoordinationServer> {
  await using started = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "bench-scuttlebot-" });
  started.defer(() => Deno.remove(folder, { recursive: true }));
  const addressOf = () => ({ hostname: HOSTNAME, port: freePort() });
  const [api, mcp, irc, ergoApi] = [addressOf(), addressOf(), addressOf(), addressOf()];
  const configFile = join(folder, "scuttlebot.yaml");
  await Deno.writeTextFile(
    configFile,
    `api_addr: ${HOSTNAME}:${api.port}
mcp_addr: ${HOSTNAME}:${mcp.port}
ergo:
  binary_path: ${resolve(ergoProgram())}
  irc_addr: ${HOSTNAME}:${irc.port}
  api_addr: ${HOSTNAME}:${ergoApi.port}
`,
  );
  await Deno.mkdir(join(folder, "data", "ergo"), { recursive: true });
  const process = new Deno.Command(scuttlebotProgram() ?? "scuttlebot", {
    args: ["-config", configFile],
    cwd: folder,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  let children: readonly number[] = [];
  started.defer(async () => {
    // First, so that it does not start another Ergo.
    process.kill("SIGKILL");
    await process.status;
    for (const child of children) kill(child);
  });
  try {
    await untilListening(irc);
  } finally {
    children = await descendantsOf([process.pid]);
  }
  await untilListening(mcp);
  await untilListening(api);
  const token = (await Deno.readTextFile(join(folder, "data", "ergo", "api_token"))).trim();
  const resources = started.move();
  return {
    api,
    mcp,
    irc,
    token,
    pids: [process.pid],
    beginsStreamsAtOnce: false,
    streamOf: (channel) => ({
      address: api,
      path: `/v1/channels/${channel}/stream?token=${token}`,
      token,
    }),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function kill(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
