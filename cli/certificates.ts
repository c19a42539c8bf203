import type { Certificate } from "../http/mod.ts";
import type { Config } from "../services/operation/config/mod.ts";
import { CommandFailed } from "./output.ts";

/**
 * Reads and validates the configured certificate.
 *
 * @returns null if the configuration names none
 * @throws CommandFailed
 */
export async function readCertificate({ tls }: Config): Promise<Certificate | null> {
  if (tls.cert === "") return null;
  const certificate = { cert: await read(tls.cert), key: await read(tls.key) };
  try {
    Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...certificate }).close();
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandFailed(`"${tls.cert}" and "${tls.key}" cannot be used for TLS: ${reason}`, 2);
  }
  return certificate;
}

async function read(path: string): Promise<string> {
  try {
    return await Deno.readTextFile(path);
  } catch {
    throw new CommandFailed(`The file "${path}" (tls) cannot be read`, 2);
  }
}

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

/** `DENO_CERT`: the file with further authorities that the runtime trusts in TLS. */

const VARIABLE = "DENO_CERT";

/**
 * Removes the variable if it is empty, as containers may set it. The runtime would look for a file
 * without a name at the first connection with TLS.
 */
export function ignoreEmptyAuthorities(): void {
  if (Deno.env.get(VARIABLE) === "") Deno.env.delete(VARIABLE);
}

/** What is wrong with the file, as a sentence; null if nothing is, or the variable names none. */
export function faultOfAuthorities(): string | null {
  const file = Deno.env.get(VARIABLE) ?? "";
  if (file === "") return null;
  try {
    const hasOne = Deno.readTextFileSync(file).includes("-----BEGIN CERTIFICATE-----");
    return hasOne ? null : `The file "${file}" (${VARIABLE}) holds no certificate in PEM form`;
  } catch {
    return `The file "${file}" (${VARIABLE}) cannot be read`;
  }
}

/**
 * Checks the file before something needs it.
 *
 * @throws CommandFailed
 */
export function requireAuthorities(): void {
  const fault = faultOfAuthorities();
  if (fault !== null) throw new CommandFailed(fault, 2);
}
