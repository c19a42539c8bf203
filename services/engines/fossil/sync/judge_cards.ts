/** Rules that follow from the cards of one artifact: its user, its dates, and what it replaces. */
import { type Artifact, type ForumPost, textFault, type TicketChange } from "../artifact/mod.ts";
import type { Repository } from "../repository.ts";
import { nameOf, quoted, short } from "./judge_words.ts";
import type { PushedArtifact, PushRules } from "./judgement.ts";
import { refused } from "./refusal.ts";

/** Checks the user and the dates of an artifact. */
export function judgeCards(
  repository: Repository,
  rules: PushRules,
  { artifact, hash }: PushedArtifact,
): void {
  if (artifact.kind === "cluster") return;
  const name = nameOf(artifact, hash);
  const isCommit = rules.isFromGit === true && artifact.kind === "manifest";
  if (!isCommit) requireOwn(rules, artifact.user, name);
  if (artifact.date > rules.latest) {
    throw refused(`${name} has a date in the future: set the clock of its computer`);
  }
  const fault = rules.hasBounds && rules.isFromGit !== true ? textFault(artifact) : null;
  if (fault !== null) throw refused(`${name} is refused: ${fault}`);
  if (artifact.kind === "ticket") requireOwnComment(rules, artifact, name);
  if (artifact.kind === "forum") requireOwnPost(repository, rules, artifact, name);
}

/** Whether a name is the pusher's; accounts are compared without regard to case. */
export function isOwn({ users }: PushRules, user: string | null): boolean {
  return users === null || users.some((own) => own.toLowerCase() === user?.toLowerCase());
}

function requireOwn(rules: PushRules, user: string | null, name: string): void {
  if (isOwn(rules, user)) return;
  const whose = user === null || user === "" ? "names no user" : `names the user ${quoted(user)}`;
  throw refused(
    `${name} ${whose}, but ${quoted(rules.pusher)} pushes it: ` +
      "only admins of the project push what others wrote",
  );
}

/** The field `login` says who wrote a comment. */
function requireOwnComment(rules: PushRules, { fields }: TicketChange, name: string): void {
  const login = fields.find((field) => field.name === "login" && field.value !== "");
  if (login !== undefined) requireOwn(rules, login.value, `A comment in ${lower(name)}`);
}

/** Only the author of a post edits it, as in the program. */
function requireOwnPost(
  repository: Repository,
  rules: PushRules,
  { parents: [edited] }: ForumPost,
  name: string,
): void {
  if (edited === undefined || rules.users === null) return;
  const before = known(repository, edited);
  if (before?.kind === "forum" && isOwn(rules, before.user)) return;
  throw refused(`${name} changes the post ${short(edited)}, which somebody else wrote`);
}

function known(repository: Repository, hash: string): Artifact | null {
  return repository.artifact(repository.store.ridOf(hash));
}

function lower(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
