import { type Config, explainListenError, parseAddress } from "../config/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { Scheduler } from "../../kernel/scheduler.ts";
import {
  type Certificate,
  newAccountKey,
  orderCertificate,
  readFacts,
  standIn,
} from "./authority.ts";
import { answerChallenges } from "./challenges.ts";
import { dirname, join } from "node:path";
import { renameSynced, writeSynced } from "../../kernel/files.ts";

const MINUTE = 60_000;

/** Pauses after a failed order in milliseconds: the first, and the longest; each one doubles. */
const FIRST_RETRY = MINUTE;
const LONGEST_RETRY = 6 * 60 * MINUTE;

/** Longest pause between two looks at the clock, in milliseconds: a machine may sleep. */
const LOOK = 60 * MINUTE;

/** The part of its validity after which a certificate is renewed. */
const RENEW_AFTER = 2 / 3;

export interface AcmeOptions {
  readonly config: Config;
  readonly log: Log;
  readonly scheduler: Scheduler;
}

/**
 * The certificate of `tls.acme`. It is in the data folder, at the path that `tls.cert` and `tls.key`
 * then name, and is renewed while the program runs.
 */
export class AcmeCertificate implements Disposable {
  readonly #options: AcmeOptions;
  readonly #store: CertificateStore;
  #onChange: (() => void) | null = null;
  #cancel: (() => void) | null = null;
  #retry = FIRST_RETRY;

  private constructor(options: AcmeOptions) {
    this.#options = options;
    this.#store = new CertificateStore(options.config.tls.cert);
  }

  /**
   * Opens the certificate. If there is none for the domains, one that nobody trusts stands in until
   * the authority has issued one.
   */
  static async open(options: AcmeOptions): Promise<AcmeCertificate> {
    const certificate = new AcmeCertificate(options);
    const { domains } = options.config.tls.acme;
    if (await certificate.#renewAt() === null) {
      await certificate.#store.write(await standIn(domains, options.scheduler.now()));
    }
    return certificate;
  }

  /**
   * Orders the certificate when it is due, now and later.
   *
   * @param onChange is called once a new certificate is in its file
   */
  start(onChange: () => void): void {
    this.#onChange = onChange;
    this.#wake(0);
  }

  /** Orders no more. An order that is under way ends without effect. */
  [Symbol.dispose](): void {
    this.#onChange = null;
    this.#cancel?.();
    this.#cancel = null;
  }

  #wake(milliseconds: number): void {
    if (this.#onChange === null) return;
    const pause = Math.min(Math.max(0, milliseconds), LOOK);
    this.#cancel = this.#options.scheduler.after(pause, () => void this.#look());
  }

  async #look(): Promise<void> {
    const { scheduler, log } = this.#options;
    try {
      const due = await this.#renewAt() ?? 0;
      if (due > scheduler.now()) return this.#wake(due - scheduler.now());
      await this.#order();
      this.#retry = FIRST_RETRY;
      this.#wake((await this.#renewAt() ?? 0) - scheduler.now());
    } catch (error) {
      const { domains, directory } = this.#options.config.tls.acme;
      const reason = reasonOf(error);
      const retrySeconds = this.#retry / 1000;
      log.error("No certificate was obtained", { domains, directory, reason, retrySeconds });
      this.#wake(this.#retry);
      this.#retry = Math.min(2 * this.#retry, LONGEST_RETRY);
    }
  }

  /** When to renew the certificate, in Unix milliseconds; null if there is none of the authority. */
  async #renewAt(): Promise<number | null> {
    const pem = await this.#store.read();
    if (pem === null) return null;
    const { domains, from, to, isStandIn } = readFacts(pem);
    const wanted = this.#options.config.tls.acme.domains;
    const isFor = wanted.every((domain) => domains.includes(domain.toLowerCase()));
    return isStandIn || !isFor ? null : from + (to - from) * RENEW_AFTER;
  }

  async #order(): Promise<void> {
    const { log, config: { tls: { acme } } } = this.#options;
    const challenges = new Map<string, string>();
    const accountKey = await this.#accountKey();
    const trusted = acme.ca === "" ? null : await Deno.readTextFile(acme.ca);
    await using _ = listenForChallenges(acme.http_listen, challenges);
    const certificate = await orderCertificate({ ...acme, trusted, accountKey, challenges });
    if (this.#onChange === null) return;
    await this.#store.write(certificate);
    const expires = new Date(readFacts(certificate.cert).to).toISOString();
    log.info("A certificate was obtained", { domains: acme.domains, expires });
    // Null if it was closed while the certificate was written.
    this.#onChange?.();
  }

  /** The key of the account, which the first order makes. */
  async #accountKey(): Promise<string> {
    const stored = await this.#store.readAccountKey();
    if (stored !== null) return stored;
    const key = await newAccountKey();
    await this.#store.writeAccountKey(key);
    return key;
  }
}

/** What went wrong; a failed request tells it in its cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}

/** @throws Error that says why, if the address cannot be listened on */
function listenForChallenges(
  listen: string,
  challenges: ReadonlyMap<string, string>,
): AsyncDisposable {
  const address = parseAddress(listen) ?? { hostname: "0.0.0.0", port: 80 };
  try {
    return answerChallenges(address, challenges);
  } catch (error) {
    throw new Error(`${explainListenError(address, error)} (tls.acme.http_listen)`);
  }
}

const ACCOUNT_KEY = "account_key.pem";

/**
 * The files of a certificate, which only their owner reads. The certificate and its key are one
 * file, so a reader never sees a certificate with the key of another.
 */
class CertificateStore {
  readonly #file: string;
  readonly #accountKey: string;

  /** @param file the path of the certificate; the key of the account is beside it */
  constructor(file: string) {
    this.#file = file;
    this.#accountKey = join(dirname(file), ACCOUNT_KEY);
  }

  /** The certificate with its key as PEM; null if there is none. */
  async read(): Promise<string | null> {
    return await readIfThere(this.#file);
  }

  async write({ cert, key }: Certificate): Promise<void> {
    await this.#replace(this.#file, `${cert.trim()}\n${key.trim()}\n`);
  }

  /** The key of the account at the authority as PEM; null if there is none. */
  async readAccountKey(): Promise<string | null> {
    return await readIfThere(this.#accountKey);
  }

  async writeAccountKey(key: string): Promise<void> {
    await this.#replace(this.#accountKey, key);
  }

  async #replace(path: string, text: string): Promise<void> {
    await Deno.mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeSynced(`${path}.new`, text);
    await renameSynced(`${path}.new`, path);
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
