import type { ColumnType, Generated } from "kysely";
import type { HostingTables } from "./hosting_schema.ts";
import type { NodeTables } from "./node_schema.ts";

/** Written once, when the row is made. */
type Fixed<T> = ColumnType<T, T, never>;

/** Times are Unix milliseconds, ids are ULIDs, lists and objects are JSON texts. */
export interface Tables extends HostingTables, NodeTables {
  accounts: AccountsTable;
  scram_verifiers: ScramVerifiersTable;
  agents: AgentsTable;
  halts: HaltsTable;
  tokens: TokensTable;
  web_sessions: WebSessionsTable;
  llm_backends: LlmBackendsTable;
  llm_model_lists: LlmModelListsTable;
  llm_calls: LlmCallsTable;
  llm_usage: LlmUsageTable;
  llm_budgets: LlmBudgetsTable;
  network_accounts: NetworkAccountsTable;
  irc_bans: IrcBansTable;
  irc_mutes: IrcMutesTable;
  irc_channels: IrcChannelsTable;
  irc_channel_access: IrcChannelAccessTable;
  irc_unregistered_channels: IrcUnregisteredChannelsTable;
  settings: SettingsTable;
  events: EventsTable;
  checkpoints: CheckpointsTable;
  read_markers: ReadMarkersTable;
  inbox_messages: InboxMessagesTable;
  bridge_channels: BridgeChannelsTable;
  agent_channels: AgentChannelsTable;
  instance: InstanceTable;
  event_cursors: EventCursorsTable;
  bot_state: BotStateTable;
  herald_deliveries: HeraldDeliveryTable;
  questions: QuestionsTable;
}

/** Accounts: agents, people and admins share one namespace. */
export interface AccountsTable {
  id: Fixed<string>;
  name: Fixed<string>;
  /** The name in lower case (casemapping ascii), by which it is unique. */
  name_folded: Fixed<string>;
  kind: "agent" | "person" | "admin";
  secret_scheme: "sha256" | "argon2id";
  secret: string;
  created_at: Fixed<number>;
  /** When it was revoked, or null. */
  revoked_at: number | null;
}

/**
 * The verifier of an account's password for SCRAM-SHA-256: base64, except for the number of rounds.
 */
export interface ScramVerifiersTable {
  account_id: Fixed<string>;
  /** The account's secret that it was derived from; it is invalid with any other. */
  secret: string;
  salt: string;
  iterations: number;
  stored_key: string;
  server_key: string;
}

/** Who is halted, and who goes on while others are. */
export interface HaltsTable {
  scope: Fixed<string>;
  /** A type, the internal id of an agent, or empty for everybody. */
  subject: Fixed<string>;
  /** 1 if halted, 0 if it goes on. */
  halted: Fixed<number>;
  reason: Fixed<string | null>;
  halted_by: Fixed<string>;
  since: Fixed<number>;
}

/** The registry's record of an account of kind `agent`. */
export interface AgentsTable {
  account_id: Fixed<string>;
  type: string;
  channels: string;
  registered_at: Fixed<number>;
  last_seen: number | null;
  /** When it was paused, or null. */
  paused_at: number | null;
  pause_reason: string | null;
  /** The rate of its messages, with `burst`; null if it has none of its own. */
  messages_per_second: number | null;
  burst: number | null;
  /** Its own limits of slots; null if it has none. */
  slots: string | null;
}

/** Personal and project tokens; the token itself is derived and never stored. */
export interface TokensTable {
  id: Fixed<string>;
  /** Null for a project's own token. */
  owner_id: Fixed<string | null>;
  project_id: Fixed<string | null>;
  name: Fixed<string>;
  scopes: Fixed<string>;
  /** SHA-256 of the token, in hex. */
  token_hash: Fixed<string>;
  created_at: Fixed<number>;
  expires_at: Fixed<number | null>;
  last_used: number | null;
}

/** Sessions of admins on the web pages; the cookie's secret itself is never stored. */
export interface WebSessionsTable {
  id: Fixed<string>;
  account_id: Fixed<string>;
  /** SHA-256 of the secret, in hex. */
  secret_hash: Fixed<string>;
  created_at: Fixed<number>;
  last_used: number;
}

/** LLM backends made through the API; a provider's key is in none of its columns. */
export interface LlmBackendsTable {
  name: Fixed<string>;
  provider: string;
  base_url: string;
  api_key_env: string;
  models: string;
  allow: string;
  block: string;
  created_at: Fixed<number>;
}

/** The last list of models of a backend. */
export interface LlmModelListsTable {
  backend: Fixed<string>;
  /** The provider and the address that gave the list. */
  asked: string;
  models: string;
  queried_at: number;
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

/** The key-value store: one JSON text per key. */
export interface SettingsTable {
  key: Fixed<string>;
  value: string;
}

/** The event log: append-only, each row's hash covers the row before it. */
export interface EventsTable {
  seq: Fixed<number>;
  time: Fixed<number>;
  type: Fixed<string>;
  /** Kind and name of the actor, such as `operator` or `agent:coder-1`. */
  actor: Fixed<string>;
  /** The actor's internal id, which its name may outlive. */
  actor_id: Fixed<string | null>;
  address: Fixed<string | null>;
  /** What caused it: the id of the request. */
  cause: Fixed<string | null>;
  data: Fixed<string>;
  hash: Fixed<string>;
  /** `project_id` of `data`, for the events of projects; computed by the database. */
  project_id: ColumnType<string | null, never, never>;
}

/** Both ends of the event log, sealed with a key that is not in the database. */
export interface CheckpointsTable {
  /** `head`: the last row of the log; `base`: the last one that retention removed. */
  name: Fixed<"base" | "head">;
  seq: number;
  hash: string;
  seal: string;
}

/** How far the owner of an account has read in a conversation on IRC. */
export interface ReadMarkersTable {
  account_id: Fixed<string>;
  /** Channel or nick, folded. */
  target: string;
  /** The time of the last message read. */
  time: number;
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

/** Messages to agents. */
export interface InboxMessagesTable {
  /** The agent's. */
  account_id: Fixed<string>;
  /** In Unix microseconds, strictly increasing for each agent. */
  time: Fixed<number>;
  /** The IRC server's id, if it has one; one message may be for several agents. */
  id: Fixed<string>;
  /** `redacted` if only the id is left, as a position to continue from. */
  kind: string;
  /** The nick of the speaker. */
  sender: string;
  /** Other properties of the message: a JSON object. */
  about: string;
  /** Empty once the message has left the inbox. */
  body: string;
  /** See `EntryState` of `services/inboxes`. */
  state: string;
  /** When it got this state, in Unix milliseconds; 0 if that is unknown. */
  state_at: number;
  /** 1 while the message is in the inbox. */
  held: number;
  /** The sender's account, or `operator`; null if it has none. */
  sender_id: Fixed<string | null>;
  /** The sender's own id of the message. */
  client_id: Fixed<string | null>;
  /** When it goes back to its sender while it is queued, in Unix milliseconds; null for never. */
  expires_at: Fixed<number | null>;
}

/** One row: which instance of muster the database belongs to. */
export interface InstanceTable {
  /** 20 hex digits. */
  id: Fixed<string>;
}

/** How far each reader has handled the event log. */
export interface EventCursorsTable {
  name: Fixed<string>;
  seq: number;
}

/** A webhook that herald accepted. */
export interface HeraldDeliveryTable {
  readonly seq: number;
  readonly mark: string;
  readonly at: number;
}

/** What the bots keep across restarts: documents by key. */
export interface BotStateTable {
  bot: Fixed<string>;
  key: Fixed<string>;
  /** JSON. */
  value: string;
}

/** What agents asked people. The newest rows are kept, and every open one. */
export interface QuestionsTable {
  /** The number that people type. */
  id: Fixed<number>;
  /** The asker's account; null for the operator. */
  asker_id: Fixed<string | null>;
  asker: Fixed<string>;
  text: Fixed<string>;
  choices: Fixed<string>;
  default_answer: Fixed<string | null>;
  asked_at: Fixed<number>;
  deadline: number | null;
  /** Since when its deadline stands still, because the asker is halted. */
  frozen_at: number | null;
  /** The account that alone is asked, beside the admins. */
  to_id: Fixed<string | null>;
  to_name: Fixed<string | null>;
  project_id: Fixed<string | null>;
  ticket: Fixed<string | null>;
  state: "open" | "answered" | "expired" | "withdrawn";
  answer: string | null;
  closed_by_id: string | null;
  closed_by: string | null;
  via: string | null;
  closed_at: number | null;
  /** The id of the entry of the asker's inbox, until the entry is there. */
  notice: string | null;
}

/**
 * Calls of language models. A text is empty if there is nothing to say; costs are in millionths of a US
 * dollar.
 */
export interface LlmCallsTable {
  seq: Generated<number>;
  ended_at: Fixed<number>;
  milliseconds: Fixed<number>;
  /** The account, or the kind and the name of a caller without one: `bot:oracle`. */
  caller_key: Fixed<string>;
  caller_name: Fixed<string>;
  project_id: Fixed<string>;
  /** The slug that the project had. */
  project: Fixed<string>;
  ticket: Fixed<string>;
  backend: Fixed<string>;
  /** The model that the request named, else the one that answered. */
  model: Fixed<string>;
  response_model: Fixed<string>;
  streamed: Fixed<number>;
  outcome: Fixed<"completed" | "failed" | "cancelled">;
  /** Null if the provider did not report them. */
  input_tokens: Fixed<number | null>;
  output_tokens: Fixed<number | null>;
  cached_tokens: Fixed<number | null>;
  /** Null if it is not known. */
  cost: Fixed<number | null>;
  /** What budgets count where the provider reported no tokens. */
  estimated_tokens: Fixed<number>;
  estimated_cost: Fixed<number>;
}

/** Calls of language models, added up by day. */
export interface LlmUsageTable {
  /** Days since 1970-01-01, in UTC. */
  day: Fixed<number>;
  caller_key: Fixed<string>;
  caller_name: string;
  /** An agent's type; empty for another caller. */
  caller_type: Fixed<string>;
  project_id: Fixed<string>;
  project: Fixed<string>;
  ticket: Fixed<string>;
  backend: Fixed<string>;
  model: Fixed<string>;
  calls: number;
  failed: number;
  cancelled: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  cost: number;
  /** Calls whose cost is not known. */
  unpriced: number;
  estimated_tokens: number;
  estimated_cost: number;
  milliseconds: number;
}

/** What may be spent on calls of language models. */
export interface LlmBudgetsTable {
  scope: Fixed<"all" | "type" | "agent" | "project">;
  /** A type, the internal id of an account or of a project, or empty. */
  subject: Fixed<string>;
  period: Fixed<"day" | "month">;
  /** In 10⁻⁶ US dollars; null for no limit. */
  max_cost: number | null;
  max_tokens: number | null;
  warn_percent: number;
  set_by: string;
  set_at: number;
  /** When it last came so far. */
  warned_at: number | null;
  exceeded_at: number | null;
}
