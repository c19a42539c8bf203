import { IrcClient, type Ledger, type Login } from "../client/mod.ts";
import { inParallel } from "../parallel.ts";
import type { IrcServerProcess } from "../servers/mod.ts";

/** Clients that do the same thing at the same time. */
export const PARALLEL_CLIENTS = 50;

/** Clients that connect at the same time, as after a restart of the server. */
export const STORMING_CLIENTS = 500;

export interface MemberOptions {
  readonly count: number;
  /** The first members, which have accounts if the server keeps accounts. */
  readonly senders: number;
  readonly capabilities: readonly string[];
}

/** Many clients, some of which send. */
export class Members implements Disposable {
  readonly all: readonly IrcClient[];
  readonly senders: readonly IrcClient[];

  private constructor(all: readonly IrcClient[], senders: number) {
    this.all = all;
    this.senders = all.slice(0, senders);
  }

  static async connect(server: IrcServerProcess, options: MemberOptions): Promise<Members> {
    const { count, senders, capabilities } = options;
    const nicks = Array.from({ length: count }, (_, index) => `member${index}`);
    const logins = [
      ...await server.createLogins(nicks.slice(0, senders)),
      ...nicks.slice(senders).map((nick) => ({ nick })),
    ];
    const connect = (login: typeof logins[number]) =>
      IrcClient.connect(server.irc, login, capabilities);
    return new Members(await inParallel(logins, PARALLEL_CLIENTS, connect), senders);
  }

  /** Connects all of these, as fast as the server accepts them. */
  static async storm(
    { irc }: IrcServerProcess,
    logins: readonly Login[],
    capabilities: readonly string[],
  ): Promise<Members> {
    const connect = (login: Login) => IrcClient.connect(irc, login, capabilities);
    return new Members(await inParallel(logins, STORMING_CLIENTS, connect), 0);
  }

  /** Joins everybody, and waits until each has seen all members that came before it. */
  async join(channel: string): Promise<void> {
    await inParallel(this.all, PARALLEL_CLIENTS, (client) => client.join(channel));
    await this.ping();
  }

  /** Waits until the server has answered everybody, and so has sent everything queued before. */
  async ping(): Promise<void> {
    await inParallel(this.all, PARALLEL_CLIENTS, (client) => client.ping());
  }

  /** Makes every member a receiver of the ledger, under its place in {@linkcode all}. */
  count(ledger: Ledger): void {
    this.all.forEach((client, index) => client.count(ledger, index));
  }

  [Symbol.dispose](): void {
    for (const client of this.all) client.close();
  }
}
