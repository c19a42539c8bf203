/** The addresses of a remote, which must be on the public internet unless others are allowed. */
import { lookup } from "node:dns/promises";
import { isPublicAddress } from "../webhooks/mod.ts";
import { MirrorError } from "./mirror_error.ts";

/** Resolves a host name to its addresses. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Longest resolution of a name, in milliseconds. */
const TIME_LIMIT = 15_000;

/**
 * Resolves and checks the host of a URL.
 *
 * @returns its addresses; none if the host is an address itself
 * @throws MirrorError if it has none, or one that is not allowed
 */
export async function addressesOf(
  { hostname }: URL,
  { allowPrivate, resolve = resolveHost }: {
    readonly allowPrivate: boolean;
    readonly resolve?: Resolve;
  },
): Promise<readonly string[]> {
  const host = hostname.replace(/^\[|\]$/g, "");
  const addresses: readonly string[] = await resolve(host).catch(() => []);
  if (addresses.length === 0) throw new MirrorError(`The host ${host} has no address`);
  const closed = allowPrivate ? undefined : addresses.find((one) => !isPublicAddress(one));
  if (closed !== undefined) {
    throw new MirrorError(
      `The host ${host} has the address ${closed}, which is not on the public internet; ` +
        "webhooks.allow_private in config.yaml allows such addresses",
    );
  }
  return addresses.includes(host) ? [] : addresses;
}

async function resolveHost(host: string): Promise<readonly string[]> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error("No answer in time")), TIME_LIMIT);
  try {
    const found = await Promise.race([lookup(host, { all: true }), promise]);
    return found.map(({ address }) => address);
  } finally {
    clearTimeout(timer);
  }
}
