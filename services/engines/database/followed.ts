import type { Selectable } from "kysely";
import type { Tables } from "./schema.ts";

/**
 * The tables of which nodes hold rows in memory, each with the columns that they do not hold. A
 * directory holds them, but for those of {@linkcode TOLD}.
 */
export const FOLLOWED = Object.freeze(
  {
    accounts: [],
    agent_sessions: [],
    agents: ["last_seen"],
    bridge_channels: [],
    channel_lines: [],
    check_leases: ["expires_at"],
    claims: [],
    halts: [],
    inbox_posts: [],
    irc_bans: [],
    irc_channel_access: [],
    irc_channels: [],
    irc_mutes: [],
    llm_budgets: [],
    network_accounts: [],
    node_bridges: [],
    nodes: [],
    project_members: [],
    project_stars: [],
    projects: [],
    protection_rules: [],
    questions: [],
    read_markers: [],
    runners: ["last_seen", "version", "isolation"],
    settings: [],
    signing_keys: [],
    ticket_leases: [],
    tokens: ["last_used"],
    web_sessions: [],
    webhooks: [],
  } satisfies { readonly [Name in keyof Tables]?: readonly (keyof Tables[Name])[] },
);

/**
 * Tables that others than this node need not know at once: only a project's home writes its rows there
 * and decides by them. Nobody waits until other nodes have loaded them.
 */
export const LATER: ReadonlySet<FollowedTable> = new Set([
  "agent_sessions",
  "claims",
  "ticket_leases",
]);

/** The table whose new rows nodes tell each other, so that none of them has to read them. */
export const TOLD = "channel_lines" satisfies keyof Tables;

/** A row of {@linkcode TOLD}. */
export type ToldRow = Selectable<Tables[typeof TOLD]>;

/** The tables that nodes read on when one of them has written there; no directory holds their rows. */
export const READ_ON = Object.freeze(
  ["channel_visits"] satisfies readonly (keyof Tables)[],
);

/** A table of {@linkcode READ_ON}. */
export type ReadOnTable = (typeof READ_ON)[number];

/** A table of {@linkcode FOLLOWED}. */
export type FollowedTable = keyof typeof FOLLOWED;
