import type { Fixed } from "./columns.ts";

/** The tables of IRC: of muster's own server, of other networks, and of the bridge's channels. */
export interface IrcTables {
  network_accounts: NetworkAccountsTable;
  irc_bans: IrcBansTable;
  irc_mutes: IrcMutesTable;
  irc_channels: IrcChannelsTable;
  irc_channel_access: IrcChannelAccessTable;
  irc_unregistered_channels: IrcUnregisteredChannelsTable;
  read_markers: ReadMarkersTable;
  bridge_channels: BridgeChannelsTable;
  agent_channels: AgentChannelsTable;
  virtual_users: VirtualUsersTable;
}

/** Accounts that muster has, or is creating, on an external IRC network. */
export interface NetworkAccountsTable {
  name_folded: Fixed<string>;
  name: string;
  /** The account here that it belongs to; null if there is none yet, or none any more. */
  account_id: string | null;
  /** 1 if muster created or adopted it, 0 if that is not known yet. */
  made: number;
  /** 1 if it has the mark of this instance of muster. */
  marked: number;
  /** What its passphrase is derived from; null if the passphrase is not muster's. */
  salt: string | null;
  /** The same for a passphrase that the network may have accepted. */
  next_salt: string | null;
  /** Since when the network may differ, or null. */
  unsettled_since: number | null;
  /** Channels in which to set the account's status: names in a JSON list. */
  channels: string;
}

/** Bans from the IRC server. */
export interface IrcBansTable {
  id: Fixed<string>;
  /** In its canonical form. */
  mask: Fixed<string>;
  /** The mask in lower case (casemapping ascii), by which it is unique. */
  mask_folded: Fixed<string>;
  /** The banned account, with which the ban ends; null for masks and networks. */
  account_id: Fixed<string | null>;
  reason: Fixed<string>;
  set_by: Fixed<string>;
  created_at: Fixed<number>;
  expires_at: Fixed<number | null>;
}

/** Who may not speak on the IRC server, and until when. */
export interface IrcMutesTable {
  /** The account's id, or `address:` or `guest:` with what a guest is known by. */
  subject: Fixed<string>;
  /** Empty: in all channels. */
  channel_folded: Fixed<string>;
  channel: string;
  nick: string;
  /** The muted account, with which the mute ends; null for a guest. */
  account_id: string | null;
  /** The nick of the bot that set it. */
  bot: string;
  reason: string;
  /** Who caused it, as the event log names it. */
  set_by: string;
  /** Unix milliseconds. */
  expires_at: number;
}

/** Channels that are kept beyond their members. */
export interface IrcChannelsTable {
  id: Fixed<string>;
  name: Fixed<string>;
  name_folded: Fixed<string>;
  /** Null once the account has ended. */
  founder_id: string | null;
  registered_at: Fixed<number>;
  /** Topic, modes and lists as JSON; the channel's key is encrypted. */
  state: string;
}

/** Accounts with a status in a registered channel. */
export interface IrcChannelAccessTable {
  channel_id: Fixed<string>;
  account_id: Fixed<string>;
  status: Fixed<"operator" | "voice">;
}

/** The topics and modes of channels that nobody registered. */
export interface IrcUnregisteredChannelsTable {
  name_folded: Fixed<string>;
  name: Fixed<string>;
  /** Topic, modes and lists, as JSON. */
  state: string;
  /** Internal ids; those of ended accounts mean nobody. */
  founder_id: string | null;
  /** Those who may return after a restart, as a JSON list. */
  member_ids: string;
  /** Null while it has members. */
  empty_since: number | null;
}

/** How far the owner of an account has read in a conversation on IRC. */
export interface ReadMarkersTable {
  account_id: Fixed<string>;
  /** Channel or nick, folded. */
  target: string;
  /** The time of the last message read. */
  time: number;
}

/** The channels that the bridge rejoins after a restart, beside the configured ones. */
export interface BridgeChannelsTable {
  name_folded: Fixed<string>;
  name: Fixed<string>;
  /** The agent for whom the bridge is in it; null for the operator, and once the agent is gone. */
  opener_id: string | null;
}

/** The channels that agents joined or spoke in over HTTP or MCP, and rejoin. */
export interface AgentChannelsTable {
  account_id: Fixed<string>;
  name_folded: Fixed<string>;
  name: Fixed<string>;
  /** When it was recorded; strictly increasing. */
  noted_at: Fixed<number>;
}

/** The last calls of accounts that are users of the IRC server without a connection. */
export interface VirtualUsersTable {
  account_id: Fixed<string>;
  /** Unix milliseconds. */
  called_at: number;
}
