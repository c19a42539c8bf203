/** Pebble, the authority that Let's Encrypt has for tests of ACME clients. */
import { join } from "node:path";
import { makeCertificate } from "./certificate.ts";
import { freePort } from "./free_port.ts";
import { untilListening } from "./proxy.ts";

/** A running Pebble. */
export interface Pebble extends AsyncDisposable {
  /** The URL of its ACME directory. */
  readonly directory: string;
  /** PEM file of the certificate with which it serves that directory. */
  readonly ca: string;
  /** The port of the domains on which it looks for the answers of challenges. */
  readonly httpPort: number;
  /** The certificate of the authority that signs, as PEM. */
  root(): Promise<string>;
}

/** How often Pebble is started: another program may take one of its ports first. */
const STARTS = 3;

/**
 * Starts Pebble.
 *
 * @param folder for its files
 * @param validity of its certificates, in seconds
 */
export async function startPebble(folder: string, validity: number): Promise<Pebble> {
  const { cert } = await makeCertificate(folder);
  for (let start = 1;; start++) {
    try {
      return await startOnce(folder, validity, cert);
    } catch (error) {
      if (start === STARTS) throw error;
    }
  }
}

async function startOnce(folder: string, validity: number, cert: string): Promise<Pebble> {
  const [port, management, httpPort] = [freePort(), freePort(), freePort()];
  const process = await spawn(folder, {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${management}`,
    certificate: join(folder, "tls.crt"),
    privateKey: join(folder, "tls.key"),
    httpPort,
    tlsPort: freePort(),
    certificateValidityPeriod: validity,
  });
  const stop = async () => {
    if (isRunning(process)) process.kill("SIGTERM");
    await process.status;
  };
  try {
    await untilListening(port, process.status);
    await untilListening(management, process.status);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    directory: `https://127.0.0.1:${port}/dir`,
    ca: join(folder, "tls.crt"),
    httpPort,
    root: async () => {
      using client = Deno.createHttpClient({ caCerts: [cert] });
      const response = await fetch(`https://127.0.0.1:${management}/roots/0`, { client });
      return await response.text();
    },
    [Symbol.asyncDispose]: stop,
  };
}

async function spawn(folder: string, pebble: object): Promise<Deno.ChildProcess> {
  const file = join(folder, "pebble.json");
  await Deno.writeTextFile(file, JSON.stringify({ pebble }));
  return new Deno.Command("pebble", {
    args: ["-config", file],
    env: { PEBBLE_VA_NOSLEEP: "1" },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
}

/** Whether a signal still reaches a process. */
function isRunning(process: Deno.ChildProcess): boolean {
  try {
    process.kill("SIGCONT");
    return true;
  } catch {
    return false;
  }
}
