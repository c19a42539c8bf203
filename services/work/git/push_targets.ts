/** What the references of a push stand for: branches, tags, workspaces, reviews. */
import { isRefName, type RefCommand } from "../../engines/git/mod.ts";
import type { PushedRef } from "../../engines/fossil/mod.ts";
import { Conflict, ServiceError } from "../../kernel/errors.ts";
import type { Intended } from "../projects/mod.ts";
import type { PushTurn } from "../sync/mod.ts";
import { branchOf, lineOf, type WorkRequest, type Workspaces } from "../workspaces/mod.ts";
import type { PushOptions } from "./push_options.ts";

const HEADS = "refs/heads/";
const TAGS = "refs/tags/";
const REVIEWS = "refs/for/";
const WORKSPACE = `${HEADS}${branchOf({ name: "" })}`;
/** Longest topic that is made of other words, in characters. */
const MAX_TOPIC = 150;
/** Most numbers that are tried for a topic. */
const MAX_NUMBER = 10_000;

/** What a command asks for, or why it is refused. */
export type Target =
  & { readonly command: RefCommand }
  & (
    | { readonly refusal: string }
    | {
      readonly refusal: null;
      readonly pushed: PushedRef;
      /** The branch of a workspace whose line this may begin. */
      readonly begins: string | null;
      /** The workspace that it makes. */
      readonly intended: Intended<unknown> | null;
      /** The review that it makes or updates. */
      readonly review: ReviewTarget | null;
    }
  );

/** A review of a workspace. */
export interface ReviewTarget {
  readonly workspace: string;
  /** The branch to merge into. */
  readonly branch: string;
}

export interface TargetParts {
  readonly workspaces: Pick<Workspaces, "beginning" | "activeOf">;
  readonly turn: PushTurn;
  readonly request: WorkRequest;
  readonly options: PushOptions;
  /** The objects of references, by their names. */
  readonly refs: ReadonlyMap<string, string>;
  /** The known commits on which what is pushed builds, by the pushed object; itself, if it is known. */
  readonly bases: Readonly<Record<string, readonly string[]>>;
}

/** Whether a push to a reference may make a workspace. */
export function beginsWork(ref: string): boolean {
  return ref.startsWith(REVIEWS) || ref.startsWith(WORKSPACE);
}

/** What the commands of a push ask for. Needs the caller's turn. */
export async function targetsOf(
  commands: readonly RefCommand[],
  parts: TargetParts,
): Promise<Target[]> {
  const targets: Target[] = [];
  for (const command of commands) {
    try {
      targets.push(await targetOf(command, parts));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      targets.push({ command, refusal: error.message });
    }
  }
  return targets;
}

async function targetOf(command: RefCommand, parts: TargetParts): Promise<Target> {
  const { ref, from, to } = command;
  if (!isRefName(ref)) return { command, refusal: "it is no name that Git allows" };
  if (ref.startsWith(REVIEWS)) return await reviewOf(command, parts);
  if (ref.startsWith(WORKSPACE)) {
    const name = ref.slice(WORKSPACE.length);
    return await workspaceOf(command, { name, pushed: { ref, from, to }, review: null }, parts);
  }
  if (ref.startsWith(HEADS) || ref.startsWith(TAGS)) {
    const pushed = { ref, from, to, mayRewind: false };
    return { command, refusal: null, pushed, begins: null, intended: null, review: null };
  }
  return {
    command,
    refusal: "this server keeps branches and tags; push to refs/for/BRANCH for a review",
  };
}

async function workspaceOf(
  command: RefCommand,
  { name, pushed, review }: {
    readonly name: string;
    readonly pushed: Omit<PushedRef, "mayRewind">;
    readonly review: ReviewTarget | null;
  },
  { workspaces, turn, request, options, bases }: TargetParts,
): Promise<Target> {
  const branch = branchOf({ name });
  const refusals = turn.rules.workspaces;
  const target = { command, refusal: null, pushed: { ...pushed, mayRewind: true }, review };
  if (Object.hasOwn(refusals, branch)) {
    const refusal = refusals[branch] ?? null;
    if (refusal !== null) return { command, refusal };
    return { ...target, begins: branch, intended: null };
  }
  const { project } = turn.access;
  if (pushed.to === null) return { command, refusal: "there is no such workspace" };
  if (bases[pushed.to]?.includes(pushed.to)) {
    return { command, refusal: "it has nothing that is not in the project yet: commit first" };
  }
  const made = { name, description: options.title ?? "", ...ticketIn(options) };
  const intended = await workspaces.beginning(project, made, request);
  return { ...target, begins: branch, intended };
}

function ticketIn({ ticket }: PushOptions): { ticket?: string } {
  return ticket === null ? {} : { ticket };
}

/** A review is of a workspace, to which the commits go. */
async function reviewOf(command: RefCommand, parts: TargetParts): Promise<Target> {
  const { ref, from, to } = command;
  const { refs, options } = parts;
  if (to === null) return { command, refusal: "a review is closed on its page" };
  const rest = ref.slice(REVIEWS.length);
  const branch = [...refs.keys()]
    .flatMap((one) => one.startsWith(HEADS) ? one.slice(HEADS.length) : [])
    .filter((name) => rest === name || rest.startsWith(`${name}/`))
    .sort((left, right) => right.length - left.length)[0];
  if (branch === undefined) {
    const refusal = `there is no branch ${JSON.stringify(rest)}`;
    const way = `the first push makes it: git push origin HEAD:${HEADS}${rest}`;
    return { command, refusal: refs.size === 0 ? `${refusal}; ${way}` : refusal };
  }
  const named = rest.slice(branch.length + 1) || options.topic;
  const name = named ? named.replaceAll("/", "-") : await topicFor(to, parts);
  // `git` names nothing there: it does not see this reference. Who does has seen the workspace's.
  const pushed = { ref: WORKSPACE + name, to, ...from === null ? {} : { from } };
  return await workspaceOf(command, { name, pushed, review: { workspace: name, branch } }, parts);
}

/**
 * The topic of a review that names none: that of the work it continues, or a new one.
 *
 * @throws Conflict if it would replace work for the same ticket, which nobody has named
 */
async function topicFor(
  to: string,
  { workspaces, turn, request: { actor }, options, refs, bases }: TargetParts,
): Promise<string> {
  const { project } = turn.access;
  const own = (await workspaces.activeOf(actor.key, 1000))
    .filter(({ projectId }) => projectId === project.id);
  const continued = own.find((workspace) => {
    const tip = refs.get(`${HEADS}${branchOf(workspace)}`);
    return tip !== undefined && bases[to]?.includes(tip);
  });
  if (continued !== undefined) return continued.name;
  const ofTicket = own.find(({ ticket }) => ticket !== null && ticket === options.ticket);
  if (ofTicket !== undefined) {
    const { name } = ofTicket;
    const branch = branchOf(ofTicket);
    if ((await lineOf(turn.repository, ofTicket)).commitsMade === 0) return name;
    throw new Conflict(
      `${branch} has work for this ticket that these commits do not build on: fetch it, and ` +
        `rebase onto it; or push to refs/for/BRANCH/${name} to replace it`,
    );
  }
  const who = actor.name.replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, MAX_TOPIC) || "review";
  if (options.ticket !== null) return `${who}-${options.ticket.slice(0, 10)}`;
  for (let number = 1; number < MAX_NUMBER; number++) {
    const name = `${who}-${number}`;
    const isTaken = Object.hasOwn(turn.rules.workspaces, branchOf({ name }));
    if (!isTaken && await turn.repository.branchTip(branchOf({ name })) === null) return name;
  }
  return `${who}-${MAX_NUMBER}`;
}
