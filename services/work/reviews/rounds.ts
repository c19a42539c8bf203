/** The rounds of a review: what each shows, how two differ, and how the next one begins. */
import type { Change } from "../../engines/database/mod.ts";
import { Invalid, NotFound } from "../../kernel/errors.ts";
import type {
  Diff,
  LinePlace,
  PooledRepository,
  ReceivedArtifact,
} from "../../engines/fossil/mod.ts";
import type { Project, Reception } from "../projects/mod.ts";
import { branchOf, pathsOf, type Workspace, type Workspaces } from "../workspaces/mod.ts";
import type { Comment, Review, Round } from "./records.ts";
import type { Reviewers } from "./reviewers.ts";
import type { NewComment } from "./schemas.ts";
import type { ReviewStatements } from "./statements.ts";
import type { ReviewStore } from "./store.ts";

/** Most files that a review names. */
export const MAX_FILES = 5000;

/** Largest diff in one response, in bytes. */
const MAX_DIFF_BYTES = 1024 * 1024;

/** The newest rounds whose comments are carried over. */
const MAX_ROUNDS = 20;

/** The branches of workspaces. */
const BRANCH = new RegExp(`^${branchOf({ name: "(.+)" })}$`);

/** The reference of a workspace, in the property that moves it. */
const MOVED = new RegExp(`refs/heads/${branchOf({ name: "([A-Za-z0-9._-]+)" })}`);

/** The content of a round: check-ins by their whole ids, and the files that differ. */
export interface Pinned {
  readonly base: string;
  readonly tip: string;
  readonly filesChanged: readonly string[];
}

/** The changes that a merge of a workspace would bring to a branch. */
export async function pin(
  workspaces: Pick<Workspaces, "line" | "files">,
  { project, workspace, target }: {
    readonly project: Project;
    readonly workspace: Workspace;
    readonly target: string;
  },
): Promise<Pinned> {
  const line = await workspaces.line(project, workspace, target);
  const { files } = await workspaces.files(project, line);
  const filesChanged = pathsOf(files).slice(0, MAX_FILES);
  return { base: line.base, tip: line.tip, filesChanged };
}

/** One end of a diff between rounds. */
export interface DiffEnd {
  /** 0 is the base of the other end's round. */
  readonly round: number;
  readonly checkin: string;
}

/** The changes between two rounds of a review. */
export interface RoundDiff {
  readonly from: DiffEnd;
  readonly to: DiffEnd;
  /** The diffs of all files in sequence. */
  readonly diff: string;
  /** Whether a part of the diff is left out because of its size. */
  readonly isTruncated: boolean;
  readonly files: Diff["files"];
  /** The number of files that differ, also on other pages. */
  readonly total: number;
}

/** A part of a diff: one file or folder, and at most so many files. */
export interface DiffPart {
  readonly path?: string;
  readonly limit?: number;
  readonly offset?: number;
  /** Whether changes of white space within lines are left out. */
  readonly ignoresWhitespace?: boolean;
}

/**
 * The difference between two rounds.
 *
 * @param from 0 for the base of round `to`: the whole change
 * @throws NotFound if there is no such round
 */
export async function diffRounds(
  repository: PooledRepository,
  rounds: readonly Round[],
  { from, to, ...part }: DiffPart & { readonly from: number; readonly to: number },
): Promise<RoundDiff> {
  const end = roundAt(rounds, to);
  const earlier = from === 0 ? { base: end.base, tip: end.base } : roundAt(rounds, from);
  const start = earlier.tip;
  const diff = start === end.tip ? { files: [], total: 0 } : await repository.diff({
    from: start,
    to: end.tip,
    maxBytes: MAX_DIFF_BYTES,
    ...part,
    ...earlier.base === end.base ? {} : { bases: { from: earlier.base, to: end.base } },
  });
  return {
    from: { round: from, checkin: start },
    to: { round: to, checkin: end.tip },
    diff: diff.files.map((file) => file.diff).join(""),
    isTruncated: diff.files.some((file) => file.is_truncated),
    files: diff.files,
    total: diff.total,
  };
}

function roundAt(rounds: readonly Round[], number: number): Round {
  const found = rounds.find(({ round }) => round === number);
  if (found === undefined) throw new NotFound(`The review has no round ${number}`);
  return found;
}

/**
 * Finds the lines of comments in the newest round; keys are the comments' numbers. A comment is
 * absent if its line has changed or gone.
 *
 * Each round with such comments costs one comparison per side, of the files with comments.
 */
export async function placesOf(
  repository: PooledRepository,
  comments: readonly Comment[],
  rounds: readonly Round[],
): Promise<ReadonlyMap<number, LinePlace>> {
  const places = new Map<number, LinePlace>();
  const newest = rounds.at(-1);
  if (newest === undefined) return places;
  const groups = Map.groupBy(
    comments.filter(({ path, line }) => path !== null && line !== null),
    ({ round, side }) => `${side} ${round}`,
  );
  for (const group of groups.values()) {
    const [{ round: number, side }] = group as [Comment];
    const round = rounds.find((one) => one.round === number);
    if (round === undefined || number <= newest.round - MAX_ROUNDS) continue;
    const [from, to] = side === "old" ? [round.base, newest.base] : [round.tip, newest.tip];
    const lines = group.map(({ path, line }) => ({ path: path ?? "", line: line ?? 0 }));
    const found = from === to ? lines : await repository.linePlaces({ from, to, lines });
    for (const [index, { number }] of group.entries()) {
      const place = found[index] ?? null;
      if (place !== null) places.set(number, place);
    }
  }
  return places;
}

/**
 * Requires that a comment names a line of a file that its round changes.
 *
 * @throws Invalid
 */
export async function requireLine(
  repository: PooledRepository,
  { base, tip }: Round,
  { file_path: path, line_number: line, side }: NewComment,
): Promise<void> {
  // Without their lines: a change may be long.
  const names = new Set([path]);
  const { files } = await repository.diff({ from: base, to: tip, names, maxBytes: 0 });
  const [file] = files;
  if (file === undefined) throw new Invalid(`"file_path": the review does not change "${path}"`);
  if (line === null) return;
  const isThere = side === "old" ? file.prev_uuid !== null : file.uuid !== null;
  const checkin = side === "old" ? base : tip;
  const held = side === "old" ? file.prev_name ?? file.name : file.name;
  const lines = isThere
    ? (await repository.fileLines({ path: held, checkin, count: 1 })).total_lines
    : 0;
  if (line <= lines) return;
  const limit = lines === 0 ? "has no line" : `ends at line ${lines}`;
  throw new Invalid(`"line_number": "${held}" ${limit} on the side "${side}"`);
}

/** What begins a round. */
interface RoundParts {
  readonly workspaces: Pick<Workspaces, "get" | "line" | "files">;
  readonly store: ReviewStore;
  readonly statements: ReviewStatements;
  readonly reviewers: Pick<Reviewers, "of">;
}

/**
 * Begins the next rounds of reviews whose workspaces got a check-in, from any program, in the
 * transaction that appends the check-in's event.
 */
export async function nextRounds(parts: RoundParts, reception: Reception): Promise<Change> {
  const { project, artifacts, settled } = reception;
  const ended = new Set(
    settled.filter(({ type }) => type === "project.workspace").map(({ data }) => data["name"]),
  );
  const newest = new Map<string, ReceivedArtifact>();
  for (const artifact of artifacts) {
    for (const name of workspacesIn(artifact)) if (!ended.has(name)) newest.set(name, artifact);
  }
  if (newest.size === 0) return {};
  const reviews = await parts.store.openOf(project.id, [...newest.keys()]);
  const changes: Change[] = [];
  for (const review of reviews) {
    const artifact = newest.get(review.workspace?.name ?? "");
    if (artifact !== undefined) changes.push(await nextRound(parts, reception, review, artifact));
  }
  return {
    statements: changes.flatMap((change) => change.statements ?? []),
    events: changes.flatMap((change) => change.events ?? []),
  };
}

/** The workspaces whose tip an artifact moves: a check-in, or a forced push that takes some away. */
function workspacesIn(artifact: ReceivedArtifact): readonly string[] {
  if (artifact.kind === "checkin") return BRANCH.exec(artifact.branch)?.slice(1) ?? [];
  if (artifact.kind !== "tag") return [];
  return artifact.tags.flatMap(({ name, value }) =>
    name === "git-refs" ? MOVED.exec(value ?? "")?.slice(1) ?? [] : []
  );
}

/** Begins the next round of a review, unless its tip is unchanged. */
async function nextRound(
  { workspaces, store, statements, reviewers: asked }: RoundParts,
  { project, originOf, now }: Reception,
  review: Review,
  artifact: ReceivedArtifact,
): Promise<Change> {
  const workspace = await workspaces.get(review.workspace?.id ?? "");
  const last = await store.newestRound(review);
  if (workspace === null || workspace.status !== "active" || last === null) return {};
  const { base, tip, filesChanged } = await pin(workspaces, {
    project,
    workspace,
    target: review.targetBranch,
  });
  if (tip === last.tip) return {};
  const round = { round: last.round + 1, base, tip, startedAt: now };
  const by = { origin: originOf(artifact), now };
  const reviewers = (await asked.of([review])).get(review.id) ?? [];
  const { round: number } = round;
  const event = { status: "pending", action: "round", round: number, reviewers, by } as const;
  return {
    statements: statements.nextRound(review, round, filesChanged),
    events: [statements.event(project, review, event)],
  };
}
