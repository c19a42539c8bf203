/**
 * What a push brings is stored with all that it needs, or not at all: otherwise a refusal would leave
 * names without content, deltas that nobody can read, and files that nobody has.
 */
import type { Artifact } from "../artifact/mod.ts";
import type { Repository } from "../repository.ts";
import { absentName } from "./judge_words.ts";
import type { ReceivedArtifact } from "./receiving.ts";
import type { Refusal } from "./refusal.ts";
import { addTo } from "../text/mod.ts";

/** What a message brought, and what is known of the rest. */
export interface BroughtParts {
  /** What the transaction stored, by hash. */
  readonly arrivals: ReadonlyMap<string, ReceivedArtifact>;
  /** The highest row before the transaction. */
  readonly lastRow: number;
  /** What will come or was refused: nobody may be without it for a while. */
  readonly expected: ReadonlySet<string>;
  /** Whether artifacts may name others that nobody has; an admin brings whole histories. */
  readonly mayLack: boolean;
}

/**
 * Finds the artifacts of a transaction that need others which are not here: the sources of deltas,
 * the baselines of manifests, and what cards name, except cherry-picks. Names that were without
 * content before count as known.
 */
export function findIncomplete(repository: Repository, brought: BroughtParts): Refusal[] {
  const { arrivals } = brought;
  const found = new Map<string, Refusal>();
  const refuse = (hash: string, missing: readonly string[]) => {
    const [first] = missing;
    if (first === undefined || found.has(hash)) return;
    found.set(hash, { hash, sentence: absentName(hash, first), missing });
  };
  for (const [hash, missing] of missingContents(repository, arrivals)) refuse(hash, missing);
  const fresh = newPhantoms(repository, brought.lastRow);
  for (const [hash, missing] of danglingAttachments(repository, brought)) refuse(hash, missing);
  if (fresh.size === 0 && found.size === 0) return [];
  const isAbsent = (name: string) =>
    fresh.has(name) && (!brought.mayLack || brought.expected.has(name));
  const users = new Map<string, string[]>();
  for (const [hash, { rid, source }] of arrivals) {
    const artifact = rid === 0 ? null : repository.artifact(rid);
    const names = artifact === null ? [] : namesIn(artifact);
    if (artifact?.kind === "cluster") {
      const missing = names.filter((name) => fresh.has(name));
      const sentence = `The cluster ${hash} names artifacts that have not come`;
      if (missing.length > 0) found.set(hash, { hash, sentence, missing, isCluster: true });
      continue;
    }
    refuse(hash, names.filter(isAbsent));
    for (const name of source === null ? names : [...names, source]) {
      if (arrivals.has(name)) addTo(users, name, hash);
    }
  }
  // What needs one that is left out is left out too. A map may grow while it is walked.
  for (const [hash, { isCluster = false }] of found) {
    if (!isCluster) { for (const user of users.get(hash) ?? []) refuse(user, [hash]); }
  }
  return [...found.values()];
}

/** Deltas and delta manifests whose source or baseline is missing. */
function missingContents(
  { store, db }: Repository,
  arrivals: BroughtParts["arrivals"],
): [string, string[]][] {
  const found: [string, string[]][] = [];
  for (const [hash, { rid, source }] of arrivals) {
    if (rid === 0) found.push([hash, [source ?? ""]]);
    else if (!store.isAvailable(rid)) {
      let at = store.sourceOf(rid);
      while (store.sourceOf(at) !== 0) at = store.sourceOf(at);
      found.push([hash, [store.hashOf(at) ?? ""]]);
    } else {
      const select = "SELECT uuid FROM orphan JOIN blob ON blob.rid=baseline WHERE orphan.rid=?";
      const baseline = db.value<string>(select, rid);
      if (baseline !== undefined) found.push([hash, [baseline]]);
    }
  }
  return found;
}

function newPhantoms({ db }: Repository, lastRow: number): Set<string> {
  const rows = db.rows<{ uuid: string }>(
    "SELECT uuid FROM phantom CROSS JOIN blob USING(rid) WHERE rid>?",
    lastRow,
  );
  return new Set(rows.map(({ uuid }) => uuid));
}

/** Attachments without their content, or of a page, ticket or technote that is not here. */
function danglingAttachments(
  { db }: Repository,
  { arrivals, expected, mayLack }: BroughtParts,
): [string, string[]][] {
  const rids = JSON.stringify([...arrivals.values()].map(({ rid }) => rid));
  const rows = db.rows<{ uuid: string; missing: string }>(
    `SELECT blob.uuid AS uuid, src AS missing FROM attachment JOIN blob ON rid=attachid
      WHERE attachid IN (SELECT value FROM json_each(?)) AND src<>''
        AND NOT EXISTS(SELECT 1 FROM blob AS b WHERE b.uuid=src AND b.size>=0)
     UNION ALL
     SELECT uuid, target FROM attachment JOIN blob ON rid=attachid
      WHERE attachid IN (SELECT value FROM json_each(?))
        AND NOT EXISTS(SELECT 1 FROM tag
              WHERE tagname IN ('wiki-'||target, 'tkt-'||target, 'event-'||target))`,
    rids,
    rids,
  );
  return rows.flatMap(({ uuid, missing }): [string, string[]][] =>
    mayLack && !expected.has(missing) ? [] : [[uuid, [missing]]]
  );
}

/** The artifacts that cards name, and without which an artifact is incomplete. */
function namesIn(artifact: Artifact): string[] {
  switch (artifact.kind) {
    case "manifest": {
      const { baseline, parents, files, tags } = artifact;
      const contents = files.flatMap(({ hash }) => hash === null ? [] : [hash]);
      return [...baseline === null ? [] : [baseline], ...parents, ...contents, ...targetsOf(tags)];
    }
    case "control":
      return targetsOf(artifact.tags);
    case "technote":
      return targetsOf(artifact.tags);
    case "forum":
      return [artifact.root, artifact.inReplyTo, ...artifact.parents].filter((name) =>
        name !== null
      );
    case "attachment":
      return artifact.source === null ? [] : [artifact.source];
    case "cluster":
      return [...artifact.members];
    case "wiki":
    case "ticket":
      return [];
  }
}

function targetsOf(tags: readonly { readonly target: string | null }[]): string[] {
  return tags.flatMap(({ target }) => target === null ? [] : [target]);
}
