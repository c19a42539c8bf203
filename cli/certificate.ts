import type { Certificate } from "../http/mod.ts";
import type { Config } from "../services/config/mod.ts";
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
