import type { Scheduler } from "../../../kernel/scheduler.ts";
import type { FollowedTable } from "../followed.ts";
import type { AppendedEvent } from "../protocol.ts";
import { LOG_LOCK } from "./postgres_journal.ts";
import type { WriterCluster } from "./postgres_writer.ts";
import type { WritingSession } from "./session.ts";
import type { PostgresSettings } from "./settings.ts";
import { Follower } from "./follower.ts";
import { beginning, CLOCK } from "./lease.ts";
import { connectListener } from "./listener.ts";
import { isAwaited } from "./messages.ts";
import { CHANNEL, setUpCluster } from "./cluster_setup.ts";
import type { Query, QueryOutcome } from "./connection.ts";

/**
 * What a notification carries at most, in bytes: its rows and events, and the nodes. PostgreSQL takes
 * 8,000 in all.
 */
const [MOST_ROWS, MOST_NODES] = [6000, 1000];

const CLOSING = `
  WITH closed AS (
    SELECT
      string_to_array(
        trim(BOTH '/' FROM coalesce(current_setting('muster.noted', true), '')), '//'
      ) AS sources,
      coalesce(current_setting('muster.rows', true), '') AS rows,
      (SELECT coalesce(json_agg(node), '[]') FROM leases
        WHERE node <> $1 AND expires_at > ${CLOCK}) AS nodes
  ),
  noted AS (
    INSERT INTO changes (node, sources, noted_at)
      SELECT $1, sources, ${CLOCK} FROM closed WHERE sources <> '{}' RETURNING id
  ),
  told AS (
    SELECT id AS change, sources, nodes, json_build_object(
      'previous', (SELECT max(id) FROM changes),
      'last', id,
      'sources', sources,
      'newest', (SELECT coalesce(max(seq), 0) FROM events),
      'nodes', CASE WHEN octet_length(nodes::text) <= ${MOST_NODES} THEN nodes END,
      'rows', CASE WHEN octet_length(rows) <= ${MOST_ROWS} THEN ('[' || rows || ']')::json END,
      'events', CASE WHEN octet_length($4) + octet_length(rows) <= ${MOST_ROWS} THEN $4::json END
    )::text AS told
    FROM closed LEFT JOIN noted ON true
    WHERE id IS NOT NULL OR $4 <> '[]'
  )
  SELECT change, sources, nodes,
    CASE WHEN $5 <> '[]' AND nodes::jsonb <@ $5::jsonb THEN told
      ELSE pg_notify($2, $3 || told)::text END AS told
  FROM told`;

export interface ClusterOptions {
  /** The name of this node; no other node that runs has it. */
  readonly node: string;
  readonly scheduler: Scheduler;
}

/** One of several nodes that write the same database. */
export class Member implements WriterCluster {
  readonly node: string;
  readonly follower: Follower;
  readonly #channel: string;

  private constructor(node: string, channel: string, follower: Follower) {
    this.node = node;
    this.follower = follower;
    this.#channel = channel;
  }

  /**
   * Joins the nodes of a database whose schema is current.
   *
   * @param session holds the name of the node
   */
  static async join(
    session: WritingSession,
    settings: PostgresSettings,
    { node, scheduler }: ClusterOptions,
  ): Promise<Member> {
    await setUpCluster(session);
    const [found] = await session.run([
      [`SELECT ${CHANNEL} AS channel`],
    ]);
    const channel = String(found?.rows[0]?.["channel"]);
    // What the others say of its first commits must not be said before it listens.
    const client = await connectListener({ settings, node, channel });
    try {
      // A change is committed either before the lease begins, or by a node that waits for this one.
      const [, , newest] = await session.run([
        ["BEGIN"],
        LOG_LOCK,
        ["SELECT coalesce(max(id), 0) AS id FROM changes"],
      ]);
      const seen = Number(newest?.rows[0]?.["id"]);
      const follower = new Follower({ settings, node, channel, client, seen, scheduler });
      await session.run([beginning(node, seen), ["COMMIT"]]);
      return new Member(node, channel, follower);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
  }

  confirmed({ rows: [found] }: QueryOutcome): Promise<void> | null {
    if (found === undefined) return null;
    const { change, told } = found;
    const nodes = found["nodes"] as readonly string[];
    const sources = found["sources"] as readonly FollowedTable[];
    if (told !== "") this.follower.tell(String(told), nodes);
    if (typeof change !== "number" || !isAwaited(sources)) return null;
    return this.follower.seenBy({ change, nodes });
  }

  /**
   * What must be known at the end of a transaction: the change that it notes, if any, and the nodes
   * that must see it. It also notifies all nodes of changes and events, unless notes reach them.
   */
  closing(appended: readonly AppendedEvent[]): Query {
    const { node } = this;
    const events = JSON.stringify(appended);
    const carried = events.length <= MOST_ROWS ? events : "null";
    const reached = JSON.stringify(this.follower.reached);
    return [CLOSING, [node, this.#channel, `committed ${node} `, carried, reached]];
  }
}
