import type { Certificate } from "../http/mod.ts";
import { changedKeys, type Config } from "../services/operation/config/mod.ts";
import type { Log } from "../services/kernel/log.ts";
import { readCertificate } from "./certificates.ts";
import type { ServiceManager } from "./service_manager.ts";

/** What the service manager shows while the program runs. */
export const SERVING = "Serving";

/**
 * The keys that can change while the server runs; one that ends in a dot stands for its whole
 * group.
 */
const LIVE_KEYS = [
  ...["messages", "bytes", "replay_on_join", "max_days", "max_messages", "max_bytes"]
    .map((key) => `irc.history.${key}`),
  ...["connections", "connections_per_address"].map((key) => `limits.${key}`),
  ...["header_seconds", "idle_seconds", "answer_seconds"].map((key) => `limits.${key}`),
  "irc.limits.",
  "irc.motd",
  "llm.backends",
  "log.",
  "tls.",
];

/** A part that applies a new configuration while it runs. */
export interface Reloadable {
  /** @param renewed the certificate, if it has changed */
  apply(config: Config, renewed: Certificate | null): Promise<void> | void;
}

export interface ReloaderOptions {
  /** The configuration of the start, and its certificate; null if there is no TLS. */
  readonly config: Config;
  readonly certificate: Certificate | null;
  readonly server: Reloadable;
  /** Reads the configuration again. */
  readonly read: () => Promise<Config>;
  /** Learns when a reload begins and how it ends. */
  readonly manager: Pick<ServiceManager, "ready" | "reloading">;
  readonly log: Log;
}

/** Reloads the configuration and the certificates, one reload at a time. */
export class Reloader {
  readonly #options: ReloaderOptions;
  #last: Promise<void> = Promise.resolve();
  #certificate: Certificate | null;
  #stopped = false;

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#certificate = options.certificate;
  }

  /** Reloads after the running reload, if any. It never fails: the log has the outcome. */
  reload(): Promise<void> {
    this.#last = this.#last.then(() => this.#reload());
    return this.#last;
  }

  /** Waits for a running reload, and accepts no further ones. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#last;
  }

  async #reload(): Promise<void> {
    if (this.#stopped) return;
    const { config: started, server, read, manager, log } = this.#options;
    manager.reloading();
    try {
      const config = await read();
      const waiting = changedKeys(started, config).filter((key) => !isLive(key, started, config));
      await server.apply(config, await this.#renewedCertificate(config));
      log.info("The configuration was read again");
      if (waiting.length > 0) {
        log.warn("Some changes take effect after a restart", { keys: waiting });
      }
      manager.ready(waiting.length === 0 ? SERVING : `${SERVING}; some changes need a restart`);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      log.error("The configuration is not valid; the previous one stays in force", { reason });
      manager.ready(`${SERVING}; the changed configuration is not valid: see the log`);
    }
  }

  /**
   * Replacing a listener can fail new connections, so the certificate counts only if it changed.
   */
  async #renewedCertificate(config: Config): Promise<Certificate | null> {
    const before = this.#certificate;
    const present = before === null ? null : await readCertificate(config);
    if (present === null) return null;
    if (present.cert === before?.cert && present.key === before.key) return null;
    this.#certificate = present;
    return present;
  }
}

/** Whether a key can change while the server runs. TLS and ACME cannot be switched. */
function isLive(key: string, started: Config, config: Config): boolean {
  const switched = (started.tls.cert === "") !== (config.tls.cert === "");
  if (key.startsWith("tls.") && switched || key.startsWith("tls.acme.")) return false;
  return LIVE_KEYS.some((live) => live.endsWith(".") ? key.startsWith(live) : key === live);
}
