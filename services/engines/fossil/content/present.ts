/** SQL for the artifacts that other repositories may get. */

/**
 * Deltas whose source is missing, such as a check-in that was refused. Nobody can read them, and
 * `fossil` calls a clone that has one unusable.
 */
export const DANGLING = `WITH RECURSIVE dangling(rid) AS (
    SELECT delta.rid FROM phantom JOIN delta ON delta.srcid=phantom.rid
    UNION SELECT delta.rid FROM dangling JOIN delta ON delta.srcid=dangling.rid
  ) SELECT rid FROM dangling`;

/** A condition on rows of `blob`: received, public and not shunned. */
export const PUBLIC = `NOT EXISTS(SELECT 1 FROM phantom WHERE phantom.rid=blob.rid)
  AND NOT EXISTS(SELECT 1 FROM private WHERE private.rid=blob.rid)
  AND NOT EXISTS(SELECT 1 FROM shun WHERE shun.uuid=blob.uuid)`;

/** A condition on rows of `blob`: {@link PUBLIC}, and its bytes are there. */
export const READABLE = `${PUBLIC} AND blob.rid NOT IN (${DANGLING})`;
