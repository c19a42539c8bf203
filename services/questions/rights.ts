import { isOverseer, type Principal } from "../identity/mod.ts";
import type { HeldProject, Projects } from "../projects/mod.ts";
import type { Question } from "./question.ts";

/** What the rights depend on: who is a member of which project. */
export type Memberships = Pick<Projects, "get" | "all">;

/**
 * Whether a question is for somebody to answer. Admins and the operator may answer each one. A
 * person may answer those that it is asked by name; and if nobody was named, those about a ticket
 * of a project in which it may write. Agents answer none.
 */
export function mayAnswer(
  { to, ticket }: Question,
  principal: Principal,
  projects: Memberships,
): boolean {
  if (isOverseer(principal)) return true;
  const { kind, id } = principal;
  if (kind !== "person" || id === null) return false;
  if (to !== null) return to.id === id;
  const held = ticket === null ? null : projects.get(ticket.projectId);
  return held !== null && isWriter(held, id);
}

/** Whether somebody may read a question: who may answer it, who asked, and who ended it. */
export function maySee(question: Question, principal: Principal, projects: Memberships): boolean {
  const { id } = principal;
  if (mayAnswer(question, principal, projects)) return true;
  return id !== null && (question.asker.id === id || question.closedBy?.id === id);
}

/** The projects about whose tickets a person may answer. */
export function projectsToAnswerFor(
  { kind, id }: Principal,
  projects: Memberships,
): readonly string[] {
  if (kind !== "person" || id === null) return [];
  return projects.all().filter((held) => isWriter(held, id)).map(({ project }) => project.id);
}

function isWriter({ members }: HeldProject, accountId: string): boolean {
  const role = members.get(accountId);
  return role === "write" || role === "admin";
}
