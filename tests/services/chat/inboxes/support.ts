/** Agents without a socket on a real IRC server with a real bridge, all in memory. */
import assert from "node:assert/strict";
import type { DirectMessages, InboxDoor } from "../../../../services/chat/inboxes/mod.ts";
import type { VirtualUsers } from "../../../../services/chat/irc_server/virtual_users/mod.ts";
import type { Bridge } from "../../../../services/chat/bridge/mod.ts";
import type { Caller } from "../../../../services/people/identity/mod.ts";
import type { IrcServer } from "../../../../services/engines/irc/mod.ts";
import { anAgent, type TestServices, withServices } from "../../../support/services.ts";
import { IrcUser } from "../bridge/support.ts";

/** What a test gets. */
export interface World {
  readonly services: TestServices;
  readonly server: IrcServer;
  readonly bridge: Bridge;
  readonly virtualUsers: VirtualUsers;
  readonly inboxes: InboxDoor;
  readonly directMessages: DirectMessages;
  /** Registers an agent and gives its passphrase. */
  register(nick: string, more?: { type?: string; channels?: string[] }): Promise<string>;
  /** Has an agent call with its own credential. */
  call(nick: string, passphrase: string): Promise<Caller>;
}

/** Runs a test in a world of its own, in which the bridge is up. */
export async function withAttendance(run: (world: World) => Promise<void>): Promise<void> {
  const config = {
    bridge: { enabled: true, buffer_size: 50, max_channels: 20 },
    irc: { history: { max_days: 0 } },
    limits: { channels_per_agent: 5 },
  };
  await withServices(async (services) => {
    const { bridge, identity, server } = services;
    assert.ok(bridge);
    await bridge.whenReady();
    await run({
      ...services,
      services,
      server,
      bridge,
      register: (nick, more) => anAgent(services, nick, more),
      async call(name, password) {
        const principal = await identity.authenticate({ kind: "basic", name, password }, "::1");
        return { principal, address: "::1", requestId: null };
      },
    });
  }, { config, ircServer: true });
}

/** Somebody with an IRC client in #general; what joining said is read already. */
export async function aWatcher(
  { server }: World,
  capabilities = "",
  nick = "eve",
): Promise<IrcUser> {
  const user = new IrcUser(server, nick, { capabilities });
  await user.join("#general");
  return user;
}

/** Logs an agent in to IRC, and into #general. */
export async function aSession({ server }: World, nick: string, password: string) {
  const session = new IrcUser(server, nick, { capabilities: "sasl", password });
  await session.join("#general");
  return session;
}
