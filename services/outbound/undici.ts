/** The one module that imports `undici`: it costs 100 ms and 10 MB, so a first request loads it. */
import type { Socket } from "node:net";
import { Agent, buildConnector } from "undici";

export { request } from "undici";

/** Longest status line and headers of an answer, in bytes. */
const MAX_HEAD = 16_384;

/** How long one address has to accept a connection, TLS included, in milliseconds. */
const CONNECT_MILLISECONDS = 5000;

/** Most addresses of a host that one connection tries. */
const MAX_ADDRESSES = 4;

/** How long an idle connection is kept, in milliseconds; most servers wait longer. */
const IDLE_MILLISECONDS = 4000;

/**
 * A pool of connections to addresses that are checked.
 *
 * @param addressesOf the addresses of a host to which it may connect; it takes the first that
 * accepts, and begins with the next one each time
 */
export function openAgent(
  addressesOf: (host: string) => Promise<readonly [string, ...string[]]>,
): Agent {
  const connect = buildConnector({ timeout: CONNECT_MILLISECONDS });
  let turn = 0;
  const open = async (options: buildConnector.Options): Promise<Socket> => {
    const addresses = await addressesOf(options.hostname);
    const first = turn++ % addresses.length;
    let failure: unknown;
    const inTurn = [...addresses.slice(first), ...addresses.slice(0, first)];
    for (const hostname of inTurn.slice(0, MAX_ADDRESSES)) {
      try {
        // The name of the host still counts for the certificate.
        return await new Promise<Socket>((resolve, reject) =>
          connect({ ...options, hostname }, (...[error, socket]) => {
            // It gives no socket, in spite of its type, or null.
            if (error === null && socket) resolve(socket);
            else reject(error);
          })
        );
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  };
  return new Agent({
    connect: (options, callback) => {
      open(options).then((socket) => callback(null, socket), (error) => callback(error, null));
    },
    maxHeaderSize: MAX_HEAD,
    keepAliveTimeout: IDLE_MILLISECONDS,
    keepAliveMaxTimeout: IDLE_MILLISECONDS,
    // The caller's signal bounds both.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}
