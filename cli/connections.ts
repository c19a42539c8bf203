import type { Config } from "../services/config/mod.ts";
import {
  type IrcAddresses,
  ircChanges,
  type IrcListeners,
  NO_IRC_ADDRESSES,
} from "../services/daemon/mod.ts";
import type { IrcServer } from "../services/irc/mod.ts";
import type { Log } from "../services/log.ts";
import { Descriptors } from "./descriptors.ts";
import { HttpServers } from "./http.ts";

/** Closes repositories when descriptors run out. */
interface OpenRepositories {
  openFewer(): void;
}

/** The HTTP and IRC connections of the program, within its limit of descriptors. */
export class Connections implements Disposable {
  readonly http: HttpServers;
  readonly #descriptors: Descriptors;
  #config: Config;
  /** The IRC server of this program, once it listens. */
  #irc: IrcServer | null = null;
  /** The repositories of this program, once it runs; they use descriptors too. */
  #repositories: OpenRepositories | null = null;

  constructor(config: Config, log: Log) {
    this.#config = config;
    this.#descriptors = new Descriptors(log);
    this.http = new HttpServers(config, log, this.exhausted);
  }

  /**
   * Opens the ports of IRC, and counts its connections from then on.
   *
   * @param listeners null if the IRC server is not part of this program
   * @throws StartError if it cannot listen on an address
   */
  listenIrc(listeners: IrcListeners | null): IrcAddresses {
    if (listeners === null) return NO_IRC_ADDRESSES;
    this.#irc = listeners.server;
    return listeners.open();
  }

  /** Has these repositories share the descriptors with the connections. */
  shareWith(repositories: OpenRepositories): void {
    this.#repositories = repositories;
  }

  /** The number of open connections from outside this process. */
  get open(): number {
    return this.http.open + countOpen(this.#irc);
  }

  /** Frees descriptors after a connection could not be accepted for lack of them. */
  readonly exhausted = (): void => {
    this.#descriptors.exhausted(this.#config, {
      open: () => ({ http: this.http.open, irc: countOpen(this.#irc) }),
      lower: (fitted) => {
        this.#bound(fitted);
        this.http.guard();
        this.#irc?.guard();
        this.#repositories?.openFewer();
      },
    });
  };

  /**
   * Applies the bounds of another configuration, within the limit of descriptors that is known to
   * fit.
   */
  reconfigure(config: Config): void {
    this.#config = config;
    this.#bound(this.#descriptors.fit(config));
  }

  [Symbol.dispose](): void {
    this.#descriptors[Symbol.dispose]();
  }

  #bound(fitted: Config): void {
    this.http.reconfigure(fitted);
    this.#irc?.reconfigure(ircChanges(fitted));
  }
}

/** Clients inside this process, such as the bridge, have no socket. */
function countOpen(irc: IrcServer | null): number {
  if (irc === null) return 0;
  const { clients, handshakes, transports } = irc.stats();
  return clients - (transports.get("internal") ?? 0) + handshakes;
}
