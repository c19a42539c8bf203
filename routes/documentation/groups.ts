/** A group of endpoints, for the document and its page. */
export interface Group {
  readonly name: string;
  readonly description: string;
  /** The common prefix of the group's paths. */
  readonly prefixes: readonly string[];
}

/** Below the path of a project's repository. */
const IN_PROJECT = "/projects/{slug}/fossil/api";

/** The groups of a project, the last one for all that is in no other. */
const OF_PROJECTS: readonly Group[] = [
  {
    name: "Tickets",
    description: "A project's tickets, and claims on them.",
    prefixes: [`${IN_PROJECT}/tickets`, `${IN_PROJECT}/claims`],
  },
  {
    name: "Workspaces",
    description: "Branches of an agent's own, without a checkout.",
    prefixes: [`${IN_PROJECT}/workspaces`],
  },
  {
    name: "Reviews",
    description: "Reviews in rounds, and the queue of what lands.",
    prefixes: [`${IN_PROJECT}/reviews`, `${IN_PROJECT}/landing`],
  },
  {
    name: "Checks",
    description: "What checks report of check-ins.",
    prefixes: [`${IN_PROJECT}/status`],
  },
  {
    name: "Releases",
    description: "Releases and their files.",
    prefixes: [`${IN_PROJECT}/releases`, `${IN_PROJECT}/uploads`],
  },
  {
    name: "Wiki and forum",
    description: "Wiki, forum, technotes and attachments of a project.",
    prefixes: ["wiki", "forum", "technotes", "attachments"].map((part) => `${IN_PROJECT}/${part}`),
  },
  {
    name: "Git",
    description: "Git's protocol, and LFS.",
    prefixes: ["/projects/{repository}/"],
  },
  {
    name: "Repositories",
    description: "What a project's repository holds.",
    prefixes: ["/projects/"],
  },
];

/** Every group, in reading order. */
export const GROUPS: readonly Group[] = [
  {
    name: "Status",
    description: "How the service is.",
    prefixes: ["/v1/status", "/v1/metrics", "/v1/doctor", "/v1/log"],
  },
  {
    name: "Agents",
    description: "The registry: who may log in to IRC as an agent, and with what; inboxes.",
    prefixes: ["/v1/agents", "/v1/messages"],
  },
  {
    name: "Halt",
    description: "Stops and pauses of agents.",
    prefixes: ["/v1/halt", "/v1/pauses"],
  },
  {
    name: "Channels",
    description: "Channels of IRC over HTTP: read, follow, post.",
    prefixes: ["/v1/channels"],
  },
  {
    name: "Questions",
    description: "Questions of agents to people, and all else that waits for a person.",
    prefixes: ["/v1/questions", "/v1/needs"],
  },
  {
    name: "IRC accounts",
    description: "The accounts of people on IRC.",
    prefixes: ["/v1/irc/accounts"],
  },
  {
    name: "IRC server",
    description: "Who is connected, and who is kept off.",
    prefixes: ["/v1/irc"],
  },
  {
    name: "Tokens",
    description: "Tokens that accounts hold beside their password, and keys that sign commits.",
    prefixes: ["/v1/tokens", "/v1/signing-keys"],
  },
  {
    name: "Settings",
    description: "The policies of the bots.",
    prefixes: ["/v1/settings"],
  },
  {
    name: "Herald",
    description: "Messages of other programs, which the bot herald says in channels.",
    prefixes: ["/v1/herald", "/webhooks/"],
  },
  {
    name: "Language models",
    description: "Backends of language models, completions by them, and what they took.",
    prefixes: ["/v1/llm"],
  },
  {
    name: "Projects",
    description: "Projects with their members and repositories.",
    prefixes: ["/v1/projects"],
  },
  ...OF_PROJECTS,
  {
    name: "Events",
    description: "The log of everything that changed, and webhooks that tell it.",
    prefixes: ["/v1/events", "/v1/webhooks"],
  },
  {
    name: "Nodes",
    description: "The servers that share a database.",
    prefixes: ["/v1/nodes"],
  },
  {
    name: "Admins",
    description: "The accounts of people who administer this server.",
    prefixes: ["/v1/admins"],
  },
  {
    name: "Login",
    description: "Sessions of people, by cookie.",
    prefixes: ["/login", "/logout", "/session"],
  },
  {
    name: "Health and documentation",
    description: "What needs no credential.",
    prefixes: [""],
  },
];

/** The name of the group that a path belongs to. */
export function groupOf(path: string): string {
  const group = GROUPS.find(({ prefixes }) => prefixes.some((prefix) => path.startsWith(prefix)));
  return group?.name ?? "";
}
