/** How the states of facts are read from the server. */
import type { Client } from "./client.ts";
import type { Fact } from "./facts.ts";

const API = "/projects/soak/fossil/api";

type Read = Fact["read"];

/** The content of a wiki page. */
export function pageOf(name: string): Read {
  return async (client) =>
    (await client.find<{ content: string }>(`${API}/wiki/${name}`))?.content ?? null;
}

/** Status, severity, holder and number of comments of a ticket. */
export function ticketOf(uuid: string): Read {
  return async (client) => {
    const { status, fields, claim, comments } = await client.get<{
      status: string;
      fields: { severity: string };
      claim: { agent: string } | null;
      comments: readonly unknown[];
    }>(`${API}/tickets/${uuid}`);
    return JSON.stringify([status, fields.severity, claim?.agent ?? null, comments.length]);
  };
}

/** Status and number of commits of a workspace, and its file: that of trunk once it is merged. */
export function workspaceOf(name: string): Read {
  return async (client) => {
    const workspace = await client.find<{ status: string; commits_made: number; tip: string }>(
      `${API}/workspaces/${name}`,
    );
    if (workspace === null) return null;
    const { status, commits_made, tip } = workspace;
    const checkin = status === "merged" ? "trunk" : tip;
    const file = await client.find<string>(`${API}/file?checkin=${checkin}&path=${name}/file`);
    return JSON.stringify([status, commits_made, file]);
  };
}

/** The status of a review. */
export function reviewOf(id: number): Read {
  return async (client) => (await client.get<{ status: string }>(`${API}/reviews/${id}`)).status;
}

/** The content of a release's file. */
export function assetOf(tag: string): Read {
  return (client) => client.find<string>(`${API}/releases/${tag}/assets/file`);
}

/** The state that a check was last reported with. */
export function reportOf(checkin: string, context: string): Read {
  return async (client) => {
    const { reports } = await client.get<{ reports: readonly { state: string }[] }>(
      `${API}/status/${checkin}/history?context=${context}`,
    );
    return reports.map(({ state }) => state).join() || null;
  };
}

/** The check-in of a tag. */
export function tagOf(name: string): Read {
  return async (client) =>
    (await client.find<{ uuid: string }>(`${API}/checkin/tag:${name}`))?.uuid ?? null;
}

/** The contexts of the project's first rule. */
export function contextsOf(): Read {
  return async (client: Client) => {
    const [rule] = await client.get<readonly { contexts: readonly string[] }[]>(
      `${API}/protection`,
    );
    return rule === undefined ? null : JSON.stringify(rule.contexts);
  };
}
