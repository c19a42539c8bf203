/** The events of what a repository has received. */
import type { NewEvent } from "../../engines/database/mod.ts";
import type { EventTypes, Origin } from "../../engines/events/mod.ts";
import { TextSet } from "../../engines/fossil/front/mod.ts";
import type { ReceivedArtifact } from "../../engines/fossil/mod.ts";
import { artifactEvent, projectEvent } from "./events.ts";
import { isGitMark } from "./reception.ts";
import type { Project } from "./records.ts";

/** Most check-ins, branches, references and tags that the event of a push names. */
const MAX_NAMED = 100;
/** Longest first line of a comment in a list, in characters. */
const MAX_SUBJECT = 200;

type About = Pick<Project, "id" | "slug">;
type GitPush = NonNullable<EventTypes["project.checkin"]["push"]>;
type ReceivedTag = Extract<ReceivedArtifact, { readonly kind: "tag" }>["tags"][number];
type Checkin = Extract<ReceivedArtifact, { readonly kind: "checkin" }>;

/** An event for each artifact; but a push of Git is one event. */
export function receptionEvents(
  project: About,
  artifacts: readonly ReceivedArtifact[],
  { originOf, numbers, time }: {
    readonly originOf: (artifact: ReceivedArtifact) => Origin;
    /** The numbers of tickets. */
    readonly numbers: ReadonlyMap<string, number>;
    /** Unix milliseconds. */
    readonly time: number;
  },
): NewEvent[] {
  const pushes = new Map<number, ReceivedArtifact[]>();
  const kinds = new Map<string | null, boolean>();
  const isOfGit = ({ mark }: ReceivedArtifact) => {
    const isKnown = kinds.get(mark) ?? isGitMark(mark);
    kinds.set(mark, isKnown);
    return isKnown;
  };
  for (const artifact of artifacts) {
    if (!isOfGit(artifact)) continue;
    const push = pushes.get(artifact.receipt);
    if (push === undefined) pushes.set(artifact.receipt, [artifact]);
    else push.push(artifact);
  }
  return artifacts.flatMap((artifact) => {
    const by = { origin: originOf(artifact), time, numbers };
    const push = isOfGit(artifact) ? pushes.get(artifact.receipt) : undefined;
    if (push === undefined) return [artifactEvent(project, artifact, by)];
    return push[0] === artifact ? [pushEvent(project, push, by)] : [];
  });
}

/** The event of a push: of its newest check-in on the branch that it moves first, or of its tags. */
function pushEvent(
  project: About,
  artifacts: readonly ReceivedArtifact[],
  by: { readonly origin: Origin; readonly time: number },
): NewEvent {
  const checkins = artifacts.filter((one): one is Checkin => one.kind === "checkin");
  const received = artifacts.flatMap((one) => one.kind === "tag" ? one.tags : []);
  const moves = received.flatMap(movesOf);
  const tags = received.map(({ name, sign, target }) => ({ name, sign, target }));
  const push: GitPush = {
    checkins: checkins.length,
    commits: checkins.slice(-MAX_NAMED).map((checkin) => {
      const [subject = ""] = checkin.comment.split("\n", 1);
      return { ...fieldsOf(checkin), comment: subject.slice(0, MAX_SUBJECT) };
    }),
    branches: [...new TextSet(checkins.map(({ branch }) => branch))].slice(0, MAX_NAMED),
    refs: moves.slice(0, MAX_NAMED),
    tags: tags.filter(({ name }) => !name.startsWith("git-")).slice(0, MAX_NAMED),
  };
  const byHash = new Map(checkins.map((checkin) => [checkin.uuid, checkin]));
  const moved = moves.map(({ checkin }) => byHash.get(checkin ?? "")).find((one) =>
    one !== undefined
  );
  const tip = moved ?? checkins.at(-1);
  if (tip !== undefined) {
    return projectEvent(project, "project.checkin", { ...fieldsOf(tip), push }, by);
  }
  const { uuid, user } = artifacts.at(-1)!;
  const data = { tags: tags.slice(0, MAX_NAMED), user, uuid, push };
  return projectEvent(project, "project.tag", data, by);
}

/** A number, `-` for a deletion, and a reference, which has quotes around it if it needs them. */
const MOVE = /^[0-9]+ (- )?(?:"(.+)"|(\S+))/s;

/** The reference that a tag moves. */
function movesOf({ name, value, target }: ReceivedTag): GitPush["refs"][number][] {
  const [move, gone, quoted, plain] = name === "git-refs" ? MOVE.exec(value ?? "") ?? [] : [];
  if (move === undefined) return [];
  const ref = plain ?? quoted!.replace(/\\(["\\])/g, "$1");
  return [{ ref, checkin: gone === undefined ? target : null }];
}

function fieldsOf({ uuid, user, comment, branch, timestamp }: Checkin) {
  return { uuid, user, comment, branch, timestamp };
}
