import { Bridge, type BridgeOptions } from "../../../../services/chat/bridge/mod.ts";
import { type Caller, OPERATOR } from "../../../../services/people/identity/mod.ts";
import {
  IrcServer,
  type IrcServerOptions,
  type MemoryConnection,
} from "../../../../services/engines/irc/mod.ts";
import { silentLog } from "../../../../services/kernel/log.ts";
import { TestScheduler } from "../../../support/scheduler.ts";
import { WAIT_LIMIT } from "../../../support/until.ts";

/** The operator, from nowhere in particular. */
export const OPERATOR_CALLER: Caller = { principal: OPERATOR, address: null, requestId: null };

/** An agent with its own credential. */
export function agentCaller(name: string): Caller {
  return {
    principal: {
      kind: "agent",
      id: `id of ${name}`,
      name,
      scopes: new Set(["read", "write"]),
      project: null,
      tokenId: `token of ${name}`,
      sessionId: null,
    },
    address: null,
    requestId: null,
  };
}

export interface IrcUserOptions {
  /** Separated by spaces. */
  readonly capabilities?: string;
  /** Logs in to the account of that name, which needs the capability `sasl`. */
  readonly password?: string;
}

/** Somebody with an IRC client. */
export class IrcUser {
  readonly lines: string[] = [];
  readonly nick: string;
  readonly #connection: MemoryConnection;
  #read = 0;
  #wake: () => void = () => {};

  constructor(server: IrcServer, nick: string, options: IrcUserOptions = {}) {
    const { capabilities = "", password } = options;
    this.nick = nick;
    this.#connection = server.connect();
    this.#connection.onLine = (line) => {
      this.lines.push(line);
      this.#wake();
    };
    if (capabilities !== "") this.send(`CAP REQ :${capabilities}`);
    if (password !== undefined) {
      const response = btoa(`\0${nick}\0${password}`);
      this.send("AUTHENTICATE PLAIN", `AUTHENTICATE ${response}`);
    }
    if (capabilities !== "") this.send("CAP END");
    this.send(`NICK ${nick}`, `USER ${nick} 0 * :${nick}`);
  }

  get connected(): boolean {
    return !this.#connection.closed;
  }

  send(...lines: string[]): void {
    for (const line of lines) this.#connection.send(line);
  }

  /**
   * Waits for the next line that matches.
   *
   * @param limit in milliseconds
   * @throws Error with the pattern and the last lines, if none comes within the limit
   */
  async expect(pattern: RegExp, limit = WAIT_LIMIT): Promise<string> {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      this.#wake();
    }, limit);
    try {
      for (;;) {
        while (this.#read < this.lines.length) {
          const line = this.lines[this.#read++] ?? "";
          if (pattern.test(line)) return line;
        }
        if (isLate) {
          const last = this.lines.slice(-5).join("\n");
          throw new Error(`${this.nick} received no ${pattern}; the last lines:\n${last}`);
        }
        await new Promise<void>((resolve) => this.#wake = resolve);
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves when the server has done everything that was sent. */
  async sync(): Promise<void> {
    this.send("PING :sync");
    await this.expect(/ PONG .*sync$/);
  }

  async join(channel: string): Promise<void> {
    this.send(`JOIN ${channel}`);
    await this.expect(/ 366 /);
  }
}

/** What a test gets. */
export interface World {
  readonly bridge: Bridge;
  readonly server: IrcServer;
  readonly scheduler: TestScheduler;
  readonly way: Way;
  /** The bridge's present connection, to break it. */
  readonly connection: () => { close(): void };
}

/** How a bridge reaches the server: as an IRC client, or without a line being written. */
export type Way = "lines" | "direct";

export interface WorldOptions {
  readonly bridge?: Partial<BridgeOptions>;
  readonly server?: Partial<IrcServerOptions>;
  /** Whether the bridge stands above channel modes; true where it is absent. */
  readonly privileged?: boolean;
  /** `lines` where it is absent. */
  readonly way?: Way;
}

/** Both ways in which a bridge reaches a server. */
export const WAYS: readonly Way[] = ["lines", "direct"];

/** Declares a test for each way in which a bridge reaches the server: nobody can tell them apart. */
export function testBridge(
  name: string,
  run: (world: World) => Promise<void>,
  options: WorldOptions = {},
): void {
  for (const way of WAYS) {
    Deno.test(`${name} (${way})`, () => withBridge(run, { ...options, way }));
  }
}

/** A bridge's way to a server. `onConnection` is told of each connection. */
export function wayTo(
  server: IrcServer,
  way: Way,
  { privileged = true, nick = "bridge", onConnection = () => {} }: {
    readonly privileged?: boolean;
    readonly nick?: string;
    readonly onConnection?: (connection: { close(): void }) => void;
  } = {},
): BridgeOptions["connect"] {
  const options = privileged ? { account: nick, privileged } : {};
  function noted<Connection extends { close(): void }>(connection: Connection): Connection {
    onConnection(connection);
    return connection;
  }
  if (way === "lines") return () => noted(server.connect(options));
  return { direct: (receiver) => noted(server.connectDirect(receiver, options)) };
}

/** An IRC server that anybody may use. */
export function openServer(scheduler: TestScheduler, options: Partial<IrcServerOptions> = {}) {
  return new IrcServer({
    serverName: "irc.test",
    networkName: "test",
    serverDescription: "test",
    requireAccount: false,
    clock: () => scheduler.now(),
    accounts: {
      verify: () => Promise.resolve({ kind: "refused" }),
      ownerOf: () => null,
      channelStatus: () => null,
      verifyOperator: () => Promise.resolve({ kind: "refused" }),
    },
    ...options,
    limits: {
      strangerRate: null,
      registrationSeconds: null,
      pingSeconds: null,
      ...options.limits,
    },
  });
}

/**
 * Runs a test with a bridge on a server of its own, both in memory. Channels are `+nt`: only
 * operators set the topic. In a channel that the bridge entered first, such as `#general`, that is
 * the bridge alone; in any other, also the user that created it.
 */
export async function withBridge(
  run: (world: World) => Promise<void>,
  { bridge: bridgeOptions, server: serverOptions, privileged = true, way = "lines" }: WorldOptions =
    {},
): Promise<void> {
  const scheduler = new TestScheduler();
  const server = openServer(scheduler, serverOptions);
  let connection: { close(): void } | null = null;
  const bridge = new Bridge({
    nick: "bridge",
    channels: ["general"],
    bufferSize: 50,
    maxChannels: 20,
    maxChannelsPerAgent: 3,
    webUserTtlMilliseconds: () => 300_000,
    connect: wayTo(server, way, { privileged, onConnection: (made) => connection = made }),
    log: silentLog,
    scheduler,
    random: () => 0,
    hasChannel: (channel) => server.hasChannel(channel),
    ...bridgeOptions,
  });
  bridge.start();
  try {
    await run({
      bridge,
      server,
      scheduler,
      way,
      connection: () => {
        if (connection === null) throw new Error("The bridge has not connected");
        return connection;
      },
    });
  } finally {
    await bridge.stop();
    await server.close();
  }
}
