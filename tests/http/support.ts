import {
  type ConnectionLimits,
  HttpConnections,
  type HttpHandler,
  HttpServer,
  type ServeConnection,
} from "../../http/mod.ts";
import { findServeConnection } from "../../http/runtime.ts";
import { silentLog } from "../../services/kernel/log.ts";

/** The bounds of a server, if they are not wide enough for any test. */
interface Bounds extends Partial<ConnectionLimits> {
  /** How long running requests may take when it stops. */
  readonly graceMilliseconds?: number;
  /** Whether its clients have no bounds of their own. */
  readonly isExempt?: boolean;
  /** Serves each connection; by default, the runtime. */
  readonly serve?: ServeConnection;
}

/** The runtime's server for single connections. */
export function ownServer(): ServeConnection {
  const serve = findServeConnection();
  if (serve === null) throw new Error("This Deno has no server for single connections");
  return serve;
}

/** Starts an HTTP server on a free port of this machine. */
export function startHttpServer(
  handler: HttpHandler,
  { graceMilliseconds, isExempt = true, serve = ownServer(), ...limits }: Bounds = {},
) {
  const connections = new HttpConnections({
    limits: {
      total: 100,
      perAddress: null,
      headerMilliseconds: 60_000,
      idleMilliseconds: 60_000,
      answerMilliseconds: 60_000,
      ...limits,
    },
    isExempt: () => isExempt,
    onExhausted() {},
    log: silentLog,
  });
  const server = new HttpServer({
    address: { hostname: "127.0.0.1", port: 0 },
    handler,
    certificate: null,
    serve,
    connections,
    log: silentLog,
    ...graceMilliseconds === undefined ? {} : { graceMilliseconds },
  });
  const { hostname, port } = server.address;
  return {
    hostname,
    port,
    /** How many connections are open. */
    connections: () => connections.stats().connections,
    /** How many were closed for a bound or a deadline, by which. */
    closed: () => connections.stats().closed,
    stop: () => server.stop(),
    async [Symbol.asyncDispose]() {
      await server.stop();
    },
  };
}

/** Sends a request as it is, and returns all that comes until the server closes the connection. */
export async function sendRaw(
  server: { readonly hostname: string; readonly port: number },
  request: string,
): Promise<string> {
  using client = await Deno.connect(server);
  await client.write(new TextEncoder().encode(request));
  return await new Response(client.readable).text();
}
