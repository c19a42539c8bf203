import { type Origin, READABLE } from "../content/mod.ts";
import type { Repository } from "../repository.ts";

/** Fewer unclustered artifacts than this are not worth a cluster. */
const MIN_MEMBERS = 100;
/** Members of one cluster, except for a last one that has up to `MIN_MEMBERS` more. */
const MAX_MEMBERS = 800;
const NOBODY: Origin = { user: null, ip: null };

/**
 * Writes clusters of all unclustered artifacts, as a server does before it announces its artifacts:
 * a client that has a cluster knows its members. Returns the hashes of the clusters; none if there
 * are too few artifacts.
 */
export function writeClusters(repository: Repository): string[] {
  return repository.write(NOBODY, () => {
    const { db } = repository;
    const members = db.rows<{ uuid: string }>(
      `SELECT uuid FROM unclustered CROSS JOIN blob USING(rid)
        WHERE ${READABLE} ORDER BY uuid`,
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
