import type { Config } from "../services/config/mod.ts";

/**
 * Makes an HTTP client that trusts the configured certificate beside the usual authorities, so that
 * commands reach a server with a self-signed one.
 *
 * @returns null if the configuration names no certificate, or one that this user cannot read
 */
export async function trustOwnCertificate({ tls }: Config): Promise<Deno.HttpClient | null> {
  if (tls.cert === "") return null;
  try {
    return Deno.createHttpClient({ caCerts: [await Deno.readTextFile(tls.cert)] });
  } catch {
    return null;
  }
}

/** Remedies for a fault, by the runtime's word for the fault. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [
    /NotValidForName|not valid for name/,
    "It is for another name: use that name in --url or MUSTER_URL",
  ],
  [
    /CaUsedAsEndEntity/,
    "It is the certificate of an authority: make one with basicConstraints=CA:FALSE",
  ],
  [/UnknownIssuer/, "Name a PEM file with its authority in the environment variable DENO_CERT"],
  [/Expired/, "It has expired: renew it"],
];

/**
 * Explains why a server's certificate was refused.
 *
 * @param error the error of `fetch`
 * @returns the fault and its remedy, or null if the certificate is not the reason
 */
export function certificateFault(url: string, { message, cause }: TypeError): string | null {
  const text = cause instanceof Error ? `${message} ${cause.message}` : message;
  const [, fault] = /invalid peer certificate: (.*)/s.exec(text) ?? [];
  if (fault === undefined) return null;
  const [, remedy] = REMEDIES.find(([pattern]) => pattern.test(fault)) ?? [null, fault];
  return `The certificate of ${url} cannot be trusted\n${remedy}`;
}
