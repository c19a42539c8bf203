import { Conflict, NotFound, Unauthorized } from "../../kernel/errors.ts";
import type { FreeSpace } from "../../kernel/files.ts";
import {
  type Account,
  type Action,
  authorize,
  mayDo,
  type Principal,
  type Resource,
} from "../../people/identity/mod.ts";
import type { HeldProject, Project } from "./records.ts";

/** Which agents are halted: they may read alone. */
export interface HaltCheck {
  /** @throws Halted if the principal is a halted agent */
  requireGoing(principal: Principal): void;
  /** @throws Halted if the account with this internal id is a halted agent's */
  requireGoingById(id: string | null): void;
  /** Why the account with this internal id may change nothing; null if it may. */
  reasonById(id: string | null): string | null;
}

/** The error for a slug that no project has, or that the caller must not know of. */
export function noSuchProject(slug: string): NotFound {
  return new NotFound(`There is no project "${slug}"`);
}

/** Where projects are found by their slugs. */
interface FoundProjects {
  readonly halts: HaltCheck;
  find(slug: string): HeldProject | null;
}

/** A project with what the caller may do in it. */
export interface ProjectAccess {
  readonly held: HeldProject;
  readonly project: Project;
  readonly principal: Principal;
  /** Whether the caller may administer the project, and so act for others in it. */
  readonly isAdmin: boolean;
  /** Which agents are halted; absent where nothing is changed. */
  readonly halts?: HaltCheck | undefined;
  /**
   * @param isChange whether the request changes the project; by default, every action but reading
   * @throws Forbidden; Halted; Unauthorized without a credential; Conflict if it changes an archived project
   */
  require(action: Action, isChange?: boolean): void;
  may(action: Action): boolean;
}

/**
 * Finds a project for a caller.
 *
 * @throws NotFound if there is none or the caller may not read it; both give the same answer
 */
export function accessProject(
  projects: FoundProjects,
  slug: string,
  principal: Principal,
): ProjectAccess {
  const held = projects.find(slug);
  if (held === null) throw noSuchProject(slug);
  const access = accessOf(held, principal, projects.halts);
  // A token that may only report the status of checks cannot read, but must find its project.
  if (!access.may("read") && !access.may("status")) throw noSuchProject(slug);
  return access;
}

/**
 * What a caller may do in a project.
 *
 * @param halts which agents are halted; without it, none is
 */
export function accessOf(
  held: HeldProject,
  principal: Principal,
  halts?: HaltCheck,
): ProjectAccess {
  const { project } = held;
  const role = principal.id === null ? null : held.members.get(principal.id) ?? null;
  const { id, visibility } = project;
  const resource: Resource = { kind: "project", id, role, visibility };
  const may = (action: Action) => mayDo(principal, action, resource);
  return {
    held,
    project,
    principal,
    halts,
    may,
    // Not a getter: V8 would give each of these objects a hidden class of its own, which keeps the
    // object alive until the next full collection.
    isAdmin: may("admin"),
    require(action, isChange = action !== "read") {
      if (principal.kind === "guest" && !may(action)) {
        throw new Unauthorized("An Authorization header or a session is required");
      }
      authorize(principal, action, resource);
      if (isChange) halts?.requireGoing(principal);
      if (isChange && project.archivedAt !== null) {
        throw new Conflict(`The project "${project.slug}" is archived and cannot be changed`);
      }
    },
  };
}

/** A call in a project, as far as it decides who may make it. */
export interface ProjectCall {
  /** Its method over HTTP: GET and HEAD change nothing. */
  readonly method: string;
  readonly needs: Action;
  /** Whether halted agents may make it although it changes something. */
  readonly whileHalted?: boolean;
  /** Whether it is answered while the disk is nearly full, as GET, HEAD and DELETE are. */
  readonly whileFull?: boolean;
}

/**
 * Checks that a caller may make a call now.
 *
 * @throws Forbidden; Unauthorized without a credential; Halted; Conflict if it changes an archived
 * project; Unavailable if the disk is nearly full
 */
export function requireCall(
  { method, needs, whileHalted = false, whileFull = false }: ProjectCall,
  access: ProjectAccess,
  space: Pick<FreeSpace, "require">,
): void {
  const isWrite = !["GET", "HEAD"].includes(method);
  access.require(needs, needs !== "read" && isWrite);
  if (isWrite && !whileHalted) access.halts?.requireGoing(access.principal);
  if (isWrite && !whileFull && method !== "DELETE") space.require();
}

/** Whether an account may read a project, with a credential of full scope. Admins read everything. */
export function mayRead(
  { project, members }: HeldProject,
  { id, kind }: Pick<Account, "id" | "kind">,
): boolean {
  return project.visibility !== "private" || kind === "admin" || members.has(id);
}
