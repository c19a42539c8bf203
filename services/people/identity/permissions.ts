import { Forbidden } from "../../kernel/errors.ts";
import { isNameOf, type Principal, type Scope } from "./principal.ts";

/** `status` reports the result of a check of a commit. */
export type Action = "read" | "write" | "status" | "admin";

/** What a member may do in a project. `admin` includes `write`, and `write` includes `read`. */
export type ProjectRole = "read" | "write" | "admin";

/** Who may read a project: everybody, every account of this server, or its members. */
export type Visibility = "public" | "internal" | "private";

/**
 * The resource of an action.
 *
 * - `server`: accounts, tokens, bans, settings, events: managed only by the operator
 * - `coordination`: agents, channels and messages: used by agents
 * - `questions`: questions to people, and what waits for somebody; agents ask, people answer
 * - `account`: what an account keeps of itself, such as its signing keys
 * - `models`: language models, which cost money
 * - `runner`: the jobs of checks, for the runner that has them
 * - `projects`: what somebody does in all projects, each of which decides on its own
 * - `project`: a repository and everything that belongs to it
 */
export type Resource = {
  readonly kind:
    | "server"
    | "coordination"
    | "questions"
    | "account"
    | "models"
    | "runner"
    | "projects";
  /** Whether a web page asks, where a session has the rights of its account. */
  readonly isAtPage?: boolean;
} | {
  readonly kind: "project";
  readonly id: string;
  /** The principal's role in the project; null if it is not a member. */
  readonly role: ProjectRole | null;
  readonly visibility: Visibility;
};

/** How a principal was authenticated. The API token opens everything, so it is in no table. */
type Holder =
  | "agent"
  | "person"
  | "adminToken"
  | "session"
  | "projectToken"
  | "runner"
  | "job"
  | "guest";

type ScopesNeeded = Readonly<Partial<Record<Holder, Scope>>>;

/** The scope that an action needs. Actions that are absent are closed. */
const SCOPES_NEEDED: Record<Resource["kind"], Partial<Record<Action, ScopesNeeded>>> = {
  server: {
    read: { adminToken: "read" },
    write: { adminToken: "admin" },
  },
  coordination: {
    read: { agent: "read", adminToken: "read" },
    write: { agent: "write", adminToken: "admin" },
  },
  questions: {
    read: { agent: "read", person: "read", adminToken: "read" },
    write: { agent: "write", person: "write", adminToken: "write" },
  },
  account: {
    read: { agent: "read", person: "read", adminToken: "read" },
    write: { agent: "write", person: "write", adminToken: "write" },
  },
  models: {
    read: { agent: "write", adminToken: "read" },
    write: { agent: "write", adminToken: "admin" },
  },
  runner: {
    read: { runner: "write" },
    write: { runner: "write" },
  },
  projects: {
    read: {
      agent: "read",
      person: "read",
      adminToken: "read",
      session: "read",
      projectToken: "read",
    },
  },
  project: {
    read: {
      agent: "read",
      person: "read",
      adminToken: "read",
      session: "read",
      projectToken: "read",
      job: "read",
    },
    write: {
      agent: "write",
      person: "write",
      adminToken: "admin",
      session: "write",
      projectToken: "write",
    },
    status: {
      agent: "write",
      person: "write",
      adminToken: "admin",
      session: "write",
      projectToken: "status:write",
    },
    admin: {
      agent: "admin",
      person: "admin",
      adminToken: "admin",
      session: "admin",
      projectToken: "admin",
    },
  },
};

/** The roles that allow a member an action in a project. */
const ROLES_NEEDED: Record<Action, readonly ProjectRole[]> = {
  read: ["read", "write", "admin"],
  write: ["write", "admin"],
  status: ["write", "admin"],
  admin: ["admin"],
};

/** Accounts need a role in a project; admins' tokens open every project. */
const NEEDS_ROLE: ReadonlySet<Holder> = new Set(["agent", "person", "session"]);

/** The error text for a resource that the table does not open to a kind of holder. */
const CLOSED: Record<Holder, string> = {
  agent: "Only the operator's API token and admins' tokens open this",
  person:
    "A person's token opens questions, what waits, repositories and signing keys, and nothing else",
  guest: "This needs a credential",
  adminToken: "Only the operator's API token opens this",
  session: "A session opens the web pages, and never a path below /v1/",
  projectToken: "This credential opens repositories alone, and never a path below /v1/",
  runner: "A runner's token opens the jobs that it runs, and nothing else",
  job: "A job's token reads its project, and opens nothing else",
};

const ONLY_RUNNERS = "Only a runner's token opens this";

/** Credentials of programs that get no more than they need, not even what everybody may read. */
const CONFINED: ReadonlySet<Holder> = new Set(["runner", "job"]);

/**
 * Checks that a principal may do something. A right is the lesser of the credential's scopes and,
 * in a project, the role.
 *
 * @throws Forbidden
 */
export function authorize(principal: Principal, action: Action, resource: Resource): void {
  const reason = refusalOf(principal, action, resource);
  if (reason !== null) throw new Forbidden(reason);
}

/** Whether a principal may do something; see {@link authorize}. */
export function mayDo(principal: Principal, action: Action, resource: Resource): boolean {
  return refusalOf(principal, action, resource) === null;
}

/** Why a principal may not do something; null if it may. */
function refusalOf(principal: Principal, action: Action, resource: Resource): string | null {
  if (resource.kind === "runner" && principal.kind !== "runner") return ONLY_RUNNERS;
  if (principal.kind === "operator") return null;
  const isProject = resource.kind === "project";
  const isAtPage = !isProject && resource.isAtPage === true && principal.sessionId !== null;
  const holder = isProject && isMembers(principal, action)
    ? "person"
    : holderOf(principal, isAtPage);
  const isPublic = isProject && resource.visibility === "public" && !CONFINED.has(holder);
  if (isPublic && action === "read") return null;
  const scope = SCOPES_NEEDED[resource.kind][action]?.[holder];
  if (scope === undefined) return isAtPage ? "Only admins may do this" : CLOSED[holder];
  if (!principal.scopes.has(scope)) return `This token has no scope "${scope}"`;
  if (!isProject) return null;
  const isOfOne = holder === "projectToken" || holder === "job";
  if (isOfOne && principal.project !== resource.id) {
    return "This token is for another project";
  }
  if (action === "read" && resource.visibility === "internal" && NEEDS_ROLE.has(holder)) {
    return null;
  }
  if (NEEDS_ROLE.has(holder) && !ROLES_NEEDED[action].some((role) => role === resource.role)) {
    return `Only members with the role ${ROLES_NEEDED[action].join(" or ")} may do this`;
  }
  return null;
}

/**
 * Whether an admin's token acts as that of a member: without the scope `admin` it changes only the
 * projects in which the admin has a role.
 */
function isMembers(principal: Principal, action: Action): boolean {
  const isToken = principal.kind === "admin" && principal.tokenId !== null;
  return isToken && action !== "read" && !principal.scopes.has("admin");
}

function holderOf({ kind, tokenId, sessionId }: Principal, isAtPage: boolean): Holder {
  switch (kind) {
    case "admin":
      return tokenId === null && !isAtPage ? "session" : "adminToken";
    case "project":
      return "projectToken";
    case "agent":
    case "runner":
    case "job":
      return kind;
    case "person":
      return sessionId === null || isAtPage ? kind : "session";
    default:
      return "guest";
  }
}

/**
 * The name under which a principal speaks. The operator and admins may choose any name; an agent
 * always speaks as itself.
 *
 * @param named the name in the request, if any
 * @returns the name, or null if the operator gives none
 * @throws Forbidden if the name is not the agent's own
 */
export function speakerName(principal: Principal, named: string | null): string | null {
  if (principal.kind === "operator") return named;
  if (principal.kind === "admin") return named ?? principal.name;
  if (named !== null && !isNameOf(principal, named)) {
    throw new Forbidden(`You are "${principal.name}" and cannot speak as "${named}"`);
  }
  return principal.name;
}
