import type { Bridge } from "../../chat/bridge/mod.ts";
import type { ReturnWays } from "../../chat/inboxes/mod.ts";
import type { IrcServer } from "../../engines/irc/mod.ts";
import type { Log } from "../../kernel/log.ts";
import type { People } from "./people.ts";

export interface ReturnWaysOptions {
  readonly people: Pick<People, "virtualUsers" | "privateFeed" | "isOnline">;
  /** Null on an external network. */
  readonly server: Pick<IrcServer, "accounts" | "notify" | "clients"> | null;
  readonly bridge: Pick<Bridge, "tell"> | null;
  readonly bridgeNick: string;
  readonly log: Log;
}

/**
 * How people learn of their messages that came back. On an external network, which keeps their
 * conversations, the bridge writes to them.
 */
export function returnWays(
  { people, server, bridge, bridgeNick, log }: ReturnWaysOptions,
): ReturnWays {
  const { virtualUsers, privateFeed, isOnline } = people;
  return {
    note(agent, accountId, text) {
      const other = virtualUsers.identityOf(agent.id);
      const own = virtualUsers.identityOf(accountId);
      if (server === null || other === null || own === null) return;
      privateFeed.add(other, own, server.accounts.note(other, own, text));
    },
    nicksOf(account) {
      if (server === null) return isOnline(account) ? [account] : [];
      return server.clients().flatMap((client) =>
        client.nick !== null && client.account === account ? [client.nick] : []
      );
    },
    say(nick, text) {
      if (server !== null) return server.notify(nick, text, bridgeNick);
      const line = {
        speaker: null,
        account: null,
        lines: [text],
        isEnvelope: false,
        isNotice: true,
      };
      bridge?.tell(nick, line).catch((error: unknown) => {
        log.warn("Somebody could not be told that a message came back", { nick, error });
      });
    },
  };
}
