/** Sets of tools: what a client shows to its model in every request, and pays for. */

import type { Principal } from "../services/people/identity/mod.ts";
import { USE_TOOL } from "./unlisted_calls.ts";

/** `muster mcp --tools` sends this header; over HTTP, `?tools=` does the same. */
export const TOOLS_ASKED = "Muster-Tool-Sets";

/** What an agent's client lists if it asks for no set. */
const DEFAULT = "work";

/** The sets. A tool may be in several, and is in one at least. */
export const SETS: ReadonlyMap<string, readonly string[]> = new Map([
  [DEFAULT, [
    ...["get_my_work", "list_tickets", "get_ticket", "create_ticket", "update_ticket"],
    ...["start_work", "commit_files", "update_workspace", "submit_work"],
    ...["get_review", "land_review", "wait_checks", "ask_human", "read_inbox", "send_direct"],
    ...["post", "search_project", "get_file"],
  ]],
  ["talk", [
    ...["get_status", "list_channels", "send_message", "get_history", "read_inbox", "send_direct"],
    ...["post", "acknowledge_messages", "get_message_state", "ask_human", "get_answer"],
    ...["withdraw_question", "answer_question", "list_needs", "register_agent"],
  ]],
  ["code", [
    ...["list_projects", "get_project", "browse_code", "get_file", "search_project", "get_diff"],
    ...["get_checkin", "get_timeline", "get_file_blame", "get_file_history", "get_branches"],
    ...["get_tags", "get_releases", "sql_query", "list_wiki_pages", "get_wiki_page"],
  ]],
  ["review", [
    ...["list_reviews", "get_review", "create_review", "comment_review", "approve_review"],
    ...["request_changes", "close_review", "land_review", "get_landing_queue", "get_diff"],
    ...["wait_checks", "get_check_log", "rerun_check", "report_ci_status"],
  ]],
  ["workspace", [
    ...["list_claims", "claim_ticket", "release_ticket", "list_workspaces", "get_workspace"],
    ...["create_workspace", "commit_files", "update_workspace", "merge_workspace"],
    ...["abandon_workspace", "restore_workspace", "take_over_workspace"],
  ]],
  ["publish", ["create_tag", "create_release", "write_wiki_page"]],
]);

/** What a client lists of the tools that its caller may call. */
export interface ToolSelection {
  /** The same selection has the same key. */
  readonly key: string;
  has(tool: string): boolean;
}

/** Every tool; then none is left to call in another way. */
export const ALL: ToolSelection = { key: "all", has: (tool) => tool !== USE_TOOL };

/**
 * Reads a selection: names of sets, with commas between them.
 *
 * @returns a refusal if there is no set of a name
 */
export function selectTools(text: string): ToolSelection | string {
  const names = [...new Set(text.split(",").map((name) => name.trim()))].sort();
  const unknown = names.find((name) => name !== ALL.key && !SETS.has(name));
  if (unknown !== undefined) {
    const known = [...SETS.keys(), ALL.key].join(", ");
    return `There is no set of tools "${unknown.slice(0, 50)}"; there are ${known}`;
  }
  return names.includes(ALL.key) ? ALL : selectionOf(names);
}

function selectionOf(names: readonly string[]): ToolSelection {
  const tools = new Set([...names.flatMap((name) => SETS.get(name) ?? []), USE_TOOL]);
  return { key: names.join(), has: (tool) => tools.has(tool) };
}

const OF_AGENTS = selectionOf([DEFAULT]);

/** The selection that a request asks for, as {@link selectTools} returns it, or its caller's. */
export function selectionFor(
  { url, headers }: Request,
  { kind }: Principal,
): ToolSelection | string {
  const asked = headers.get(TOOLS_ASKED) ??
    (url.includes("?") ? new URL(url).searchParams.get("tools") : null);
  if (asked !== null) return selectTools(asked);
  return kind === "agent" ? OF_AGENTS : ALL;
}
