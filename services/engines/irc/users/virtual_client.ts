import { UserMode } from "../channels/modes.ts";
import type { UserIdentity } from "../options.ts";
import type { Outbound, ReplyTags } from "../outbound.ts";
import type { DirectTransport } from "../transport/direct.ts";
import type { Transport } from "../transport/transport.ts";
import { Client, type Counters } from "../members.ts";

/** In place of a connection. */
const NO_TRANSPORT: Transport = Object.freeze({
  address: "internal",
  secure: false,
  internal: true,
  kind: "none",
  queuedBytes: 0,
  send() {},
  drained: () => null,
  end() {},
});

/** The user names of users without a connection: of programs, and of people. */
const USER = "agent";
const PERSON = "web";

/** What a client without a socket needs of its server. */
interface HomeServer {
  readonly serverName: string;
  readonly counters: Counters;
  /** Unix time in milliseconds. */
  now(): number;
}

/** The identity of a user without a connection. */
interface VirtualIdentity {
  /** The user name, between `!` and `@`. */
  readonly user: string;
  readonly realname: string;
  /** Whether it is marked as a bot. */
  readonly bot: boolean;
  /** Whether it belongs to the embedding program, above all modes. */
  readonly privileged?: boolean;
}

/** A user without a connection, registered from the start. No lines are serialised for it. */
export class VirtualClient extends Client {
  override readonly virtual = true;

  constructor(server: HomeServer, identity: VirtualIdentity) {
    const { counters } = server;
    const { privileged = false } = identity;
    super(NO_TRANSPORT, { privileged, now: server.now(), counters });
    this.user = identity.user;
    this.realname = identity.realname;
    this.host = this.cloak = server.serverName;
    if (identity.bot) this.modes = UserMode.BOT;
    this.registration = null;
  }

  override send(): void {}
  override answer(): void {}
}

/** A client for a user without a connection. It has no nick and no account yet. */
export function newVirtualClient(
  server: HomeServer,
  { realname, isPerson = false, privileged = false }: UserIdentity,
): VirtualClient {
  const user = isPerson ? PERSON : USER;
  return new VirtualClient(server, { user, realname, bot: !isPerson, privileged });
}

/** A client that a user could have, which the server does not know. */
export function possibleClient(server: HomeServer, identity: UserIdentity): Client {
  const client = newVirtualClient(server, identity);
  client.nick = identity.nick;
  client.account = identity.account;
  return client;
}

const NO_TAGS: ReplyTags = Object.freeze({});

/** A client in this process that receives messages as values, not lines. */
export class DirectClient extends Client {
  readonly #transport: DirectTransport;

  constructor(server: HomeServer, transport: DirectTransport, privileged: boolean) {
    super(transport, { privileged, now: server.now(), counters: server.counters });
    this.#transport = transport;
  }

  override send(message: Outbound): void {
    this.counters.linesOut++;
    this.#transport.deliver(message, NO_TAGS);
  }

  override answer(message: Outbound, tags: ReplyTags): void {
    this.counters.linesOut++;
    this.#transport.deliver(message, tags);
  }
}
