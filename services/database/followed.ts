import type { Tables } from "./schema.ts";

/**
 * The tables of which directories in memory hold rows, each with the columns that no directory
 * holds.
 */
export const FOLLOWED = Object.freeze(
  {
    accounts: [],
    agents: ["last_seen"],
    bridge_channels: [],
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
    settings: [],
    ticket_leases: [],
    tokens: ["last_used"],
    web_sessions: [],
    webhooks: [],
  } satisfies { readonly [Name in keyof Tables]?: readonly (keyof Tables[Name])[] },
);

/** The tables that nodes read on when one of them has written there; no directory holds their rows. */
export const READ_ON = Object.freeze(
  ["channel_lines", "channel_visits"] satisfies readonly (keyof Tables)[],
);

/** A table of {@linkcode READ_ON}. */
export type ReadOnTable = (typeof READ_ON)[number];

/** A table of which a directory in memory holds rows. */
export type FollowedTable = keyof typeof FOLLOWED;
