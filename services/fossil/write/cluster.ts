import type { Origin } from "../content/mod.ts";
import type { Repository } from "../repository.ts";

/** Below this many artifacts that stand in no cluster a cluster saves nothing. */
const MIN_MEMBERS = 100;
/** Members of one cluster, except for a last one that has up to `MIN_MEMBERS` more. */
const MAX_MEMBERS = 800;
const NOBODY: Origin = { user: null, ip: null };

/**
 * Names the artifacts that stand in no cluster in new ones, as a server does before it tells a
 * client what it has: a client that has a cluster need not be told of its members. Returns the
 * hashes of the clusters; none if there is little to name.
 */
export function writeClusters(repository: Repository): string[] {
  return repository.write(NOBODY, () => {
    const { db } = repository;
    const members = db.rows<{ uuid: string }>(
      `SELECT uuid FROM unclustered JOIN blob USING(rid)
        WHERE NOT EXISTS(SELECT 1 FROM phantom WHERE phantom.rid=blob.rid)
          AND NOT EXISTS(SELECT 1 FROM private WHERE private.rid=blob.rid)
          AND NOT EXISTS(SELECT 1 FROM shun WHERE shun.uuid=blob.uuid)
        ORDER BY uuid`,
    ).map(({ uuid }) => uuid);
    const clusters: string[] = [];
    while (members.length >= (clusters.length === 0 ? MIN_MEMBERS : 1)) {
      const isLast = members.length <= MAX_MEMBERS + MIN_MEMBERS;
      const some = members.splice(0, isLast ? members.length : MAX_MEMBERS);
      clusters.push(repository.add({ kind: "cluster", members: some }));
    }
    return clusters;
  });
}
