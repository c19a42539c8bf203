import { HttpConnections, type HttpHandler, HttpServer } from "../../http/mod.ts";
import { silentLog } from "../../services/log.ts";

/**
 * Starts an HTTP server on a free port of this machine.
 *
 * @param isExempt whether its clients have no bounds of their own
 * @param perAddress most connections of a client that has such bounds
 */
export function startHttpServer(
  handler: HttpHandler,
  graceMilliseconds?: number,
  isExempt = true,
  perAddress: number | null = null,
) {
  const connections = new HttpConnections({
    limits: {
      total: 100,
      perAddress,
      headerMilliseconds: 60_000,
      idleMilliseconds: 60_000,
    },
    isExempt: () => isExempt,
    onExhausted() {},
    log: silentLog,
  });
  const server = new HttpServer({
    address: { hostname: "127.0.0.1", port: 0 },
    handler,
    certificate: null,
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
    /** How many were closed because their client had too many connections or requests. */
    crowds: () => connections.stats().closed.address,
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
