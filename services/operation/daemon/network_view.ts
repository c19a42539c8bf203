import type { Sessions } from "../../people/agents/mod.ts";
import type { Bridge } from "../../chat/bridge/mod.ts";
import type { ChannelStanding, UserIdentity } from "../../engines/irc/mod.ts";
import type { UserDirectory } from "../../chat/irc_server/virtual_users/mod.ts";

/** Everybody's relation to channels while there is no bridge. */
const UNKNOWN_STANDING: ChannelStanding = {
  exists: false,
  member: false,
  visible: true,
  refusal: null,
};

/**
 * The users of an external IRC network, as far as the bridge sees them; nobody before a bridge is
 * attached. It is read-only.
 */
export class NetworkView implements Sessions, UserDirectory {
  #bridge: Bridge | null = null;

  /** Uses this bridge from now on. */
  attach(bridge: Bridge | null): void {
    this.#bridge = bridge;
  }

  isOnline(account: string): boolean {
    return this.#bridge?.sees(account) ?? false;
  }

  isMember(account: string, channel: string): boolean {
    return this.#bridge?.sees(account, channel) ?? false;
  }

  standing({ nick }: UserIdentity, channel: string): ChannelStanding {
    return this.#bridge?.standing(nick, channel) ?? UNKNOWN_STANDING;
  }

  isAlone(account: string, channel: string): boolean {
    return this.#bridge?.isAlone(account, channel) ?? false;
  }

  findUser(): null {
    return null;
  }

  addUser(): null {
    return null;
  }

  disconnectAccount(): number {
    return 0;
  }

  freeNick(): void {}

  forgetAccount(): void {}

  claimChannels(): void {}
}
