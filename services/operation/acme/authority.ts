import https from "node:https";
import acme from "acme-client";
import { VERSION } from "../../kernel/version.ts";
import { X509Certificate, X509CertificateGenerator } from "@peculiar/x509";

/** A certificate chain and its key, as PEM. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Longest wait for one answer of the authority, in milliseconds. */
const ANSWER_LIMIT = 30_000;

/** Pauses between questions for the outcome of a challenge, in milliseconds. */
const ASK_AGAIN = { backoffAttempts: 30, backoffMin: 500, backoffMax: 10_000 } as const;

const HOUR = 3_600_000;

/** How long a certificate serves that stands in for the authority's, in milliseconds. */
const STAND_IN_VALIDITY = 90 * 24 * HOUR;

const EC_KEY = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

export interface OrderOptions {
  readonly domains: readonly string[];
  /** The address that the authority writes to; empty for none. */
  readonly email: string;
  /** The URL of the authority's directory. */
  readonly directory: string;
  /** An authority to trust for that URL, as PEM, in place of the usual ones; null for those. */
  readonly trusted: string | null;
  /** The key of the account, as PEM. */
  readonly accountKey: string;
  /** Answers of the challenges that the authority asks for now, by their tokens. */
  readonly challenges: Map<string, string>;
}

/** Makes a key for an account. */
export async function newAccountKey(): Promise<string> {
  return (await acme.crypto.createPrivateEcdsaKey()).toString();
}

/**
 * Orders a certificate, and proves with http-01 that the domains lead to this program.
 *
 * @throws Error with the authority's reason, if it issues none
 */
export async function orderCertificate(options: OrderOptions): Promise<Certificate> {
  const { domains, email, directory, trusted, accountKey, challenges } = options;
  await reach(directory, trusted);
  configureClient(trusted);
  const client = new acme.Client({ directoryUrl: directory, accountKey, ...ASK_AGAIN });
  await findAccount(client);
  const [key, csr] = await acme.crypto.createCsr(
    { altNames: [...domains] },
    await acme.crypto.createPrivateEcdsaKey(),
  );
  const cert = await client.auto({
    csr,
    ...(email === "" ? {} : { email }),
    termsOfServiceAgreed: true,
    // The authority asks from outside, which this machine may not be able to do.
    skipChallengeVerification: true,
    challengePriority: ["http-01"],
    challengeCreateFn: (_, { token }, answer) => {
      challenges.set(token, answer);
      return Promise.resolve();
    },
    challengeRemoveFn: (_, { token }) => {
      challenges.delete(token);
      return Promise.resolve();
    },
  }).catch((error: unknown) => {
    // What the library throws when a request gets no answer.
    throw error instanceof TypeError ? new Error("The authority did not answer") : error;
  });
  return { cert, key: key.toString() };
}

/**
 * Asks for the directory, because the library does not say why it cannot reach an authority.
 *
 * @throws TypeError with the reason
 */
async function reach(directory: string, trusted: string | null): Promise<void> {
  using client = Deno.createHttpClient(trusted === null ? {} : { caCerts: [trusted] });
  const signal = AbortSignal.timeout(ANSWER_LIMIT);
  const response = await fetch(directory, { client, signal });
  await response.body?.cancel();
}

/** Sets up the library's HTTP client, which it shares. A failed order is repeated as a whole. */
function configureClient(trusted: string | null): void {
  Object.assign(acme.axios.defaults, {
    timeout: ANSWER_LIMIT,
    acmeSettings: { retryMaxAttempts: 0 },
    ...trusted === null ? {} : { httpsAgent: new https.Agent({ ca: trusted }) },
  });
  // The library's own limit does not end a request whose connection was lost.
  Object.defineProperty(acme.axios.defaults, "signal", {
    get: () => AbortSignal.timeout(ANSWER_LIMIT),
    configurable: true,
    enumerable: true,
  });
  acme.axios.defaults.headers.common["User-Agent"] = `muster/${VERSION}`;
}

/** Finds the account of the key, because the library changes one that it takes for new. */
async function findAccount(client: acme.Client): Promise<void> {
  try {
    await client.createAccount({ onlyReturnExisting: true });
  } catch {
    // There is none yet, or the order fails for the same reason and reports it.
  }
}

/** The domains of a certificate, and its validity in Unix milliseconds. */
export interface CertificateFacts {
  readonly domains: readonly string[];
  readonly from: number;
  readonly to: number;
  /** Whether no authority issued it. */
  readonly isStandIn: boolean;
}

/** Reads a certificate from PEM. */
export function readFacts(pem: string): CertificateFacts {
  const { domains, notBefore, notAfter } = acme.crypto.readCertificateInfo(pem);
  const { subject, issuer } = new X509Certificate(pem.slice(0, pem.indexOf("-----END") + 25));
  return {
    domains: [...new Set([domains.commonName, ...domains.altNames].filter(Boolean))],
    from: notBefore.getTime(),
    to: notAfter.getTime(),
    isStandIn: subject === issuer,
  };
}

/** Makes a certificate that nobody trusts, so that ports can open before the authority's is there. */
export async function standIn(domains: readonly string[], now: number): Promise<Certificate> {
  const keys = await crypto.subtle.generateKey(EC_KEY, true, ["sign", "verify"]) as CryptoKeyPair;
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${domains[0] ?? "localhost"}`,
    notBefore: new Date(now - HOUR),
    notAfter: new Date(now + STAND_IN_VALIDITY),
    signingAlgorithm: EC_KEY,
    keys,
  });
  const key = new Uint8Array(await crypto.subtle.exportKey("pkcs8", keys.privateKey));
  const lines = btoa(String.fromCharCode(...key)).replace(/.{64}/g, "$&\n");
  return {
    cert: certificate.toString("pem"),
    key: `-----BEGIN PRIVATE KEY-----\n${lines.trim()}\n-----END PRIVATE KEY-----\n`,
  };
}
