import { changedKeys, type Config } from "../config/mod.ts";
import { openEmbedded } from "./embedded.ts";
import type { IrcListeners } from "./irc_listeners.ts";
import type { Certificate, DaemonOptions } from "./options.ts";
import { type Services, startServices } from "./services.ts";
import { openStores, retentionOf, startStorageWorker } from "./stores.ts";

/** The services, running. */
export interface Daemon {
  readonly services: Services;
  /** Opens the ports of IRC; null if the IRC server is not part of this program. */
  readonly ircListeners: IrcListeners | null;
  /**
   * Applies the parts of a configuration that can change while the services run.
   *
   * @param renewed the certificate, if it has changed
   */
  reconfigure(config: Config, renewed: Certificate | null): void;
  /** Ends the start. */
  ready(): Promise<void>;
  /**
   * Writes what the start has left to be written. From then on, a thread of its own writes, and starts
   * when there is something. Waits for the disk: call it once, while nobody waits.
   */
  settle(): Promise<void>;
  /** Notifies and closes the streams and the IRC clients. */
  quiesce(): Promise<void>;
  /** Finishes running writes and closes everything, in reverse order of the start. */
  stop(): Promise<void>;
}

/**
 * Builds the services from the configuration and starts them; no port is open yet. If one of them
 * fails, those that started before it are stopped again.
 *
 * @throws DataFolderError, DatabaseError, SecretFileError, StartError if the start is impossible
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  await using started = new AsyncDisposableStack();
  const stores = await openStores(options, started);
  const { config, history, events } = stores;
  const irc = config.irc.mode === "external"
    ? await (await import("./external.ts")).openExternal(stores, started)
    : await openEmbedded(options, stores, started);
  const services = await startServices(options, stores, irc, started);
  const { inboxes, questions, llm, bots, bridge, eventLog } = services;
  const { database, draining } = stores;

  const running = started.move();
  return {
    services,
    ircListeners: irc.listeners,
    reconfigure: (changed, renewed) => {
      irc.reconfigure(changed, renewed);
      history?.retain(retentionOf(changed));
      inboxes.retain(retentionOf(changed).age);
      llm.backends.reconfigure(changed.llm.backends);
      events.reloaded(changedKeys(config, changed));
    },
    ready: () => draining.begin(),
    settle: async () => {
      database.flush();
      // What the disk refuses is tried again later.
      await inboxes.flush().catch(() => {});
      await history?.flush();
      stores.thread.leave(startStorageWorker);
    },
    quiesce: async () => {
      await draining.end();
      irc.keepChannels();
      inboxes.close();
      questions.endWaits();
      await bots?.stop();
      await llm.gateway.close();
      await bridge?.stop();
      await irc.close();
      eventLog.close();
    },
    stop: () => running.disposeAsync(),
  };
}
