/**
 * What Copilot CLI does without asking, for each repository: `permissions-config.json` of
 * https://docs.github.com/en/copilot/reference/copilot-cli-reference/cli-config-dir-reference
 */
import { isDeepStrictEqual } from "node:util";
import type { ClientPermissions } from "./client.ts";
import { isObject, parseJson, setJson, valueAt } from "./config_text.ts";
import { ALLOWED_TOOLS } from "./permissions.ts";

const LOCATIONS = "locations";
const APPROVALS = "tool_approvals";

/** The permissions of an entry; it asks for every tool that is not approved. */
export const COPILOT_PERMISSIONS: Omit<ClientPermissions, "file"> = {
  allow: (name, { repository }) => (text) => {
    const path = [LOCATIONS, repository, APPROVALS];
    const approvals = approvalsAt(text, path);
    const missing = ALLOWED_TOOLS
      .map((toolName) => ({ kind: "mcp", serverName: name, toolName }))
      .filter((wanted) => !approvals.some((one) => isDeepStrictEqual(one, wanted)));
    return missing.length === 0 ? text : setJson(text, path, [...approvals, ...missing]);
  },
  withdraw: (name) => (text) => {
    const locations = valueAt(parseJson(text), [LOCATIONS]);
    return Object.keys(isObject(locations) ? locations : {}).reduce((edited, location) => {
      const path = [LOCATIONS, location, APPROVALS];
      const approvals = approvalsAt(edited, path);
      const others = approvals.filter((one) => valueAt(one, ["serverName"]) !== name);
      return others.length === approvals.length ? edited : setJson(edited, path, others);
    }, text);
  },
  note: ({ repository }) =>
    `Copilot CLI has permissions for each repository: these are for ${repository}`,
};

function approvalsAt(text: string, path: readonly string[]): readonly unknown[] {
  const approvals = valueAt(parseJson(text), path);
  return Array.isArray(approvals) ? approvals : [];
}
