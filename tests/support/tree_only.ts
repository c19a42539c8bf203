/**
 * End-to-end tests that need not run again with the executable, by the name of their file, with what
 * covers the executable there. Every other end-to-end test runs with both, and a new one does, too.
 *
 * The executable differs from the tree in its runtime, in how it finds workers and assets, starts
 * processes and reads its environment. A test of any of these stays out of this list, and so does the
 * only test of a door. What is left are rules of the services, and what foreign programs make of
 * answers that another test compares.
 */
export const TREE_ONLY: ReadonlyMap<string, string> = new Map([
  // Chromium loads the same pages from either: web_chat_test.ts and web_first_day_test.ts.
  ["web_code_test.ts", "web_first_day_test.ts"],
  ["web_copy_test.ts", "web_first_day_test.ts"],
  ["web_diff_test.ts", "web_first_day_test.ts"],
  ["web_frame_test.ts", "web_first_day_test.ts"],
  ["web_hostile_test.ts", "web_first_day_test.ts"],
  ["web_tour_test.ts", "web_first_day_test.ts"],
  ["web_work_test.ts", "web_first_day_test.ts"],
  // The same document and the same tools.
  ["published_patterns_test.ts", "openapi_test.ts"],
  // The same requests as from the SDKs, and the same tools and resources.
  ["mcp_inspector_test.ts", "mcp_clients_test.ts"],
  ["mcp_resources_test.ts", "mcp_clients_test.ts"],
  ["openai_clients_test.ts", "llm_test.ts"],
  // The same lines of IRC.
  ["terminal_clients_test.ts", "irc_messages_test.ts"],
  ["network_accounts_test.ts", "external_services_test.ts"],
  // Rules of channels, with kills whose files durability_test.ts examines.
  ["channel_lifetime_test.ts", "irc_services_test.ts"],
  ["channel_ownership_test.ts", "irc_services_test.ts"],
  ["channel_sealing_test.ts", "irc_services_test.ts"],
  ["project_channel_test.ts", "irc_services_test.ts"],
  // Kills in the middle of transactions of SQLite.
  ["landing_kill_test.ts", "durability_test.ts"],
  ["ticket_fields_kill_test.ts", "durability_test.ts"],
  ["ticket_kill_test.ts", "durability_test.ts"],
  ["workspace_kill_test.ts", "durability_test.ts"],
  // Limits of the engine, whose commands are the same.
  ["fossil_limits_test.ts", "fossil_test.ts"],
]);
