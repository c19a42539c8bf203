import type { Sessions } from "../agents/mod.ts";
import type { Bridge } from "../bridge/mod.ts";
import type { ChannelStanding, UserIdentity } from "../irc/mod.ts";
import type { UserDirectory } from "../irc_server/virtual_users/mod.ts";

/** How everybody stands to channels as long as no bridge sees them. */
const UNKNOWN_STANDING: ChannelStanding = {
  exists: false,
  member: false,
  visible: true,
  refusal: null,
};

/**
 * The users of an IRC network that muster does not run, as far as the bridge sees them. It sees
 * nobody before a bridge is attached, and changes nothing there: the accounts on the network do.
 */
export class NetworkView implements Sessions, UserDirectory {
  #bridge: Bridge | null = null;

  /** Looks at the network through this bridge from now on. */
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
