import type { ColumnType } from "kysely";
import type { Fixed } from "./columns.ts";
import type { HostingTables } from "./hosting_schema.ts";
import type { IrcTables } from "./irc_schema.ts";
import type { LlmTables } from "./llm_schema.ts";
import type { NodeTables } from "./node_schema.ts";

/** Times are Unix milliseconds, ids are ULIDs, lists and objects are JSON texts. */
export interface Tables extends HostingTables, IrcTables, LlmTables, NodeTables {
  accounts: AccountsTable;
  agent_sessions: AgentSessionsTable;
  scram_verifiers: ScramVerifiersTable;
  agents: AgentsTable;
  halts: HaltsTable;
  tokens: TokensTable;
  signing_keys: SigningKeysTable;
  oauth_grants: OauthGrantsTable;
  web_sessions: WebSessionsTable;
  settings: SettingsTable;
  events: EventsTable;
  checkpoints: CheckpointsTable;
  inbox_messages: InboxMessagesTable;
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
  /** The agent that has this name for its sessions; null for all other accounts. */
  agent_id: Fixed<string | null>;
}

/** The last session of each name of an agent. Times are Unix milliseconds. */
export interface AgentSessionsTable {
  /** The account of the name: the agent's own, or one with a number. */
  account_id: Fixed<string>;
  agent_id: Fixed<string>;
  /** The hash of what the client names the session by. */
  key_hash: string;
  began_at: number;
  /** When it ends by silence. */
  expires_at: number;
  /** When its client ended it, or null. */
  closed_at: number | null;
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

/** Public keys with which accounts sign commits. */
export interface SigningKeysTable {
  id: Fixed<string>;
  account_id: Fixed<string>;
  fingerprint: Fixed<string>;
  name: Fixed<string>;
  /** The line of a file with it. */
  public_key: Fixed<string>;
  created_at: Fixed<number>;
}

/** What people let OAuth clients do; codes and refresh tokens themselves are never stored. */
export interface OauthGrantsTable {
  id: Fixed<string>;
  account_id: Fixed<string>;
  client_id: Fixed<string>;
  client_name: Fixed<string>;
  redirect_uri: Fixed<string>;
  /** JSON. */
  scopes: Fixed<string>;
  resource: Fixed<string>;
  challenge: Fixed<string>;
  /** SHA-256 of the secret of the code, and then of the refresh token. */
  secret_hash: string;
  is_redeemed: number;
  token_id: string | null;
  created_at: Fixed<number>;
  expires_at: number;
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
  /** See `EntryState` of `services/chat/inboxes`. */
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
