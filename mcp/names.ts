/**
 * Names of tools and of their arguments. A thing has one name, which lists show to agents; every other
 * name that the contract, an older version or a model has for it is taken.
 */
import type { Tool as ToolListing } from "@modelcontextprotocol/server";

/** The contract's names of tools, by ours: other servers have tools of these names. */
const CONTRACT_TOOLS: ReadonlyMap<string, string> = new Map([
  ["get_branches", "list_branches"],
  ["get_file", "read_file"],
  ["search_project", "search_code"],
]);

/** Older names of tools, and ours. */
const FORMER_TOOLS: ReadonlyMap<string, string> = new Map([
  ["get_ci_status", "wait_checks"],
  ["list_releases", "get_releases"],
  ["list_tags", "get_tags"],
  ...Array.from(CONTRACT_TOOLS, ([own, contract]): [string, string] => [contract, own]),
]);

/** The contract's names of arguments, by ours. */
const CONTRACT_ARGUMENTS: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map([
  ["get_checkin", { checkin: "uuid" }],
  ["get_file", { path: "filepath" }],
  ["get_file_blame", { path: "filepath" }],
  ["get_file_history", { path: "filepath" }],
  ["get_ticket", { ticket: "uuid" }],
  ["update_ticket", { ticket: "uuid" }],
]);

/** What a name means that a tool does not take: the first of these that it takes. */
const MEANINGS: ReadonlyMap<string, readonly string[]> = new Map(Object.entries({
  agent: ["nick", "to"],
  branch: ["target_branch", "source", "from", "checkin"],
  comment: ["body", "summary", "message"],
  commit: ["checkin", "to"],
  content: ["text", "body"],
  description: ["body", "summary"],
  file: ["path"],
  file_path: ["path"],
  filename: ["path"],
  filepath: ["path"],
  files: ["changes"],
  id: ["review", "question", "ticket", "checkin"],
  line_number: ["line"],
  message: ["text", "comment", "body", "summary"],
  name: ["workspace", "page_name"],
  new_str: ["new_text"],
  new_string: ["new_text"],
  nick: ["agent", "to"],
  number: ["ticket", "review", "line"],
  old_str: ["old_text"],
  old_string: ["old_text"],
  page: ["page_name"],
  project: ["slug"],
  q: ["query"],
  query: ["sql"],
  question: ["id", "text"],
  recipient: ["to"],
  ref: ["checkin"],
  review_id: ["review"],
  reviewer: ["reviewers"],
  revision: ["checkin"],
  target: ["target_branch"],
  text: ["body", "comment", "query"],
  ticket_id: ["ticket"],
  ticket_number: ["ticket"],
  ticket_uuid: ["ticket"],
  uuid: ["ticket", "checkin"],
  workspace_name: ["workspace"],
}));

/** Our name of a tool. */
export function ownName(tool: string): string {
  return FORMER_TOOLS.get(tool) ?? tool;
}

/**
 * The name under which an argument is taken.
 *
 * @param takes whether there is an argument of a name that is not given yet
 */
export function argumentName(given: string, takes: (name: string) => boolean): string {
  return MEANINGS.get(given)?.find(takes) ?? given;
}

/** Every name of a tool, ours first. */
export function namesOf(tool: string): string[] {
  return [tool, ...[...FORMER_TOOLS].filter(([, own]) => own === tool).map(([name]) => name)];
}

/** A text for a caller whose list has the contract's names of tools. */
export function inContractWords(text: string): string {
  return text.replaceAll(/[a-z_]+/g, (word) => CONTRACT_TOOLS.get(word) ?? word);
}

/** The entry of a tool in the contract's words. */
export function inContractNames(listing: ToolListing): ToolListing {
  const { name, description = "", inputSchema } = listing;
  const names = CONTRACT_ARGUMENTS.get(name) ?? {};
  const contract = (argument: string) => names[argument] ?? argument;
  const { properties = {}, required } = inputSchema;
  return {
    ...listing,
    name: CONTRACT_TOOLS.get(name) ?? name,
    description: inContractWords(description),
    inputSchema: {
      ...inputSchema,
      properties: Object.fromEntries(
        Object.entries(properties).map(([argument, schema]) => [contract(argument), schema]),
      ),
      ...required === undefined ? {} : { required: required.map(contract) },
    },
  };
}
