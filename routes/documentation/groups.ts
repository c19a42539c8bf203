/** A group of endpoints, for the document and its page. */
export interface Group {
  readonly name: string;
  readonly description: string;
  /** The common prefix of the group's paths. */
  readonly prefixes: readonly string[];
}

/** Every group, in reading order. */
export const GROUPS: readonly Group[] = [
  {
    name: "Status",
    description: "How the service is.",
    prefixes: ["/v1/status", "/v1/metrics"],
  },
  {
    name: "Agents",
    description: "The registry: who may log in to IRC as an agent, and with what.",
    prefixes: ["/v1/agents"],
  },
  {
    name: "Channels",
    description: "Channels of IRC over HTTP: read, follow, post.",
    prefixes: ["/v1/channels"],
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
    description: "Tokens that accounts hold beside their password.",
    prefixes: ["/v1/tokens"],
  },
  {
    name: "Settings",
    description: "The policies of the bots.",
    prefixes: ["/v1/settings"],
  },
  {
    name: "Language models",
    description: "Backends of language models, and completions by them.",
    prefixes: ["/v1/llm"],
  },
  {
    name: "Projects",
    description: "Projects with their members and repositories.",
    prefixes: ["/v1/projects"],
  },
  {
    name: "Repositories",
    description: "What a project's repository holds, and the work on it.",
    prefixes: ["/projects/"],
  },
  {
    name: "Events",
    description: "The log of everything that changed, and who changed it.",
    prefixes: ["/v1/events"],
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
