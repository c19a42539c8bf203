import { createMcpHandler } from "../mcp/mod.ts";
import { createApi } from "../routes/app.ts";
import { type Config, DataFolderError } from "../services/operation/config/mod.ts";
import { startDaemon } from "../services/operation/daemon/mod.ts";
import { readToken } from "./client.ts";
import { isHeld, removeEndpoints } from "./endpoints.ts";
import { Logging } from "./logging.ts";
import type { Delivery } from "./mcp_forward.ts";
import { restrictNewFiles, silenceDeprecations } from "./platform.ts";
import { explainStart } from "./start_errors.ts";

/**
 * Runs the services in this process. They listen nowhere.
 *
 * @returns null if another process has taken the data folder meanwhile
 * @throws CommandFailed if they cannot start
 */
export async function openHere(config: Config): Promise<Delivery | null> {
  restrictNewFiles();
  silenceDeprecations();
  const log = new Logging({ ...config.log, level: quiet(config.log.level) });
  await using started = new AsyncDisposableStack();
  started.defer(() => log.flush());
  const daemon = await startDaemon({
    config,
    log,
    certificate: null,
    pinnedToken: Deno.env.get("MUSTER_API_TOKEN") ?? null,
  }).catch((error) => {
    if (error instanceof DataFolderError && isHeld(config.data_dir)) return null;
    throw explainStart(error, config);
  });
  if (daemon === null) return null;
  started.defer(() => daemon.stop());
  started.defer(() => daemon.quiesce());
  await daemon.ready();
  await daemon.settle();
  removeEndpoints(config.data_dir);
  const { services } = daemon;
  const { projects: projectApi } = createApi(services);
  const handle = createMcpHandler({ ...services, all: services, projectApi });
  const authorization = `Bearer ${await readToken(config.data_dir)}`;
  const running = started.move();
  return {
    deliver({ headers, body, signal }) {
      headers.set("authorization", authorization);
      const request = new Request("http://127.0.0.1/mcp", {
        method: "POST",
        headers,
        body,
        signal,
      });
      return handle(request, "127.0.0.1");
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** A client shows what is on standard error: only what is wrong belongs there. */
function quiet(level: Config["log"]["level"]): Config["log"]["level"] {
  return level === "info" ? "warning" : level;
}
