import type { Tables } from "./schema.ts";

/**
 * The tables of which directories in memory hold rows, each with the columns that no directory
 * holds.
 */
export const FOLLOWED = Object.freeze(
  {
    accounts: [],
    agents: ["last_seen"],
    claims: [],
    halts: [],
    irc_bans: [],
    irc_channel_access: [],
    irc_channels: [],
    irc_mutes: [],
    llm_budgets: [],
    network_accounts: [],
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

/** A table of which a directory in memory holds rows. */
export type FollowedTable = keyof typeof FOLLOWED;
