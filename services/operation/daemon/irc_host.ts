import type { Attention } from "../../oversight/attention/mod.ts";
import type { BotVoices } from "../../chat/bots/mod.ts";
import type { Bridge, BridgeOptions } from "../../chat/bridge/mod.ts";
import type { ReadPositions } from "../../chat/chats/mod.ts";
import type { Config } from "../config/mod.ts";
import type { IrcServer } from "../../engines/irc/mod.ts";
import type { IrcBans } from "../../chat/irc_server/bans/mod.ts";
import type { Mutes } from "../../chat/irc_server/mutes/mod.ts";
import type { AccountSync } from "../../chat/irc_network/mod.ts";
import type { ChannelDoors } from "../../oversight/notifications/mod.ts";
import type { IrcListeners } from "./irc_listeners.ts";
import type { Certificate } from "./options.ts";
import type { People } from "./people.ts";

/** IRC, as a server in this program or an external network, with its users. */
export interface IrcHost {
  readonly people: People;
  /** Null for an external network. */
  readonly server: IrcServer | null;
  readonly bans: IrcBans | null;
  /** Who may not speak; null for an external network. */
  readonly mutes: Mutes | null;
  /** How far accounts have read channels and conversations. */
  readonly positions: ReadPositions;
  /** Keeps accounts on an existing network in step; null without one. */
  readonly network: AccountSync | null;
  /** Opens the ports of the server; null for an external network. */
  readonly listeners: IrcListeners | null;
  /** The options of the bridge that depend on the kind of IRC. */
  readonly bridgeOptions:
    & Pick<BridgeOptions, "connect">
    & Partial<Omit<BridgeOptions, "connect" | "speakers" | "log">>;
  /** Who may be in the channels of projects; null on an external network. */
  readonly projectChannels: ChannelDoors | null;
  /** Makes the channels in which bots report muster's own; null on an external network. */
  readonly claimReports: ((channels: readonly string[]) => void) | null;
  /** The bots' way to its users, with this bridge. */
  botVoices(bridge: Bridge): BotVoices;
  /** Lets the users of IRC see what agents do. */
  describeAgents(attention: Pick<Attention, "agent">): void;
  /**
   * Attaches the bridge, and starts what needs every part.
   *
   * @param bridge null if the configuration turns it off
   */
  attach(bridge: Bridge | null): void;
  reconfigure(config: Config, renewed: Certificate | null): void;
  /** From now on, what is stored of channels stays as it is: the program is about to end. */
  keepChannels(): void;
  close(): Promise<void>;
}
