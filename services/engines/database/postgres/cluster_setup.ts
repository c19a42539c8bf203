import { FOLLOWED, LATER, READ_ON, TOLD } from "../followed.ts";
import { LOG_LOCK } from "./postgres_journal.ts";
import type { WritingSession } from "./session.ts";

/** The channel by which the nodes of a database notify each other. */
export const CHANNEL = "'muster_' || md5(current_schema())";

/** Whether the node that noted a change waits for the others. */
export const IS_AWAITED = `NOT sources <@ ARRAY[${Array.from(LATER, (table) => `'${table}'`)}]`;

/**
 * What nodes tell each other. Triggers note each followed table whose rows a transaction changes, and
 * the rows that are told. They do nothing for a server without a name.
 */
const TABLES = `
  CREATE TABLE IF NOT EXISTS changes (
    id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node TEXT NOT NULL,
    sources TEXT[] NOT NULL,
    noted_at BIGINT NOT NULL
  );
  CREATE INDEX IF NOT EXISTS changes_awaited ON changes (id) WHERE ${IS_AWAITED};
  CREATE TABLE IF NOT EXISTS leases (
    node TEXT PRIMARY KEY,
    seen BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  );
  CREATE TABLE IF NOT EXISTS leaders (
    role TEXT PRIMARY KEY,
    node TEXT NOT NULL,
    expires_at BIGINT NOT NULL
  );
  CREATE OR REPLACE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      noted TEXT := coalesce(current_setting('muster.noted', true), '');
      entry TEXT := '/' || TG_TABLE_NAME || '/';
    BEGIN
      IF position(entry IN noted) = 0 THEN
        PERFORM set_config('muster.noted', noted || entry, true);
      END IF;
      RETURN NULL;
    END
  $$;
  CREATE OR REPLACE FUNCTION note_rows() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      noted TEXT := coalesce(current_setting('muster.rows', true), '');
      rows TEXT := (SELECT string_agg(to_json(added)::text, ',' ORDER BY seq) FROM added);
    BEGIN
      IF rows IS NULL THEN RETURN NULL; END IF;
      PERFORM set_config(
        'muster.rows', CASE noted WHEN '' THEN rows ELSE noted || ',' || rows END, true
      );
      RETURN NULL;
    END
  $$;
  CREATE OR REPLACE FUNCTION tell_nodes() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify(
        ${CHANNEL}, 'wrote ' || current_setting('muster.node') || ' ' || TG_TABLE_NAME
      );
      RETURN NULL;
    END
  $$;
`;

const IS_NODE = "current_setting('muster.node', true) <> ''";

const TRIGGERS = Object.entries(FOLLOWED).map(([table, ignored]: [string, readonly string[]]) => {
  const columns = `ARRAY[${ignored.map((column) => `'${column}'`)}]`;
  const isChanged = ignored.length === 0
    ? "OLD.* IS DISTINCT FROM NEW.*"
    : `to_jsonb(OLD) - ${columns} IS DISTINCT FROM to_jsonb(NEW) - ${columns}`;
  return `
    CREATE OR REPLACE TRIGGER note_change AFTER INSERT OR DELETE ON ${table}
      FOR EACH ROW WHEN (${IS_NODE}) EXECUTE FUNCTION note_change();
    CREATE OR REPLACE TRIGGER note_update AFTER UPDATE ON ${table}
      FOR EACH ROW WHEN (${IS_NODE} AND ${isChanged}) EXECUTE FUNCTION note_change()`;
});

const ROWS_TRIGGER = `
  CREATE OR REPLACE TRIGGER note_rows AFTER INSERT ON ${TOLD} REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT WHEN (${IS_NODE})
    EXECUTE FUNCTION note_rows();
`;

const TELLING_TRIGGERS = READ_ON.map((table) => `
  CREATE OR REPLACE TRIGGER tell_nodes AFTER INSERT OR UPDATE ON ${table}
    FOR EACH STATEMENT WHEN (${IS_NODE})
    EXECUTE FUNCTION tell_nodes();
`);

/** Makes what nodes need in a database whose schema is current. Other nodes may be using it. */
export async function setUpCluster(session: WritingSession): Promise<void> {
  const triggers = [...TRIGGERS, ROWS_TRIGGER, ...TELLING_TRIGGERS];
  await session.execute(["BEGIN", LOG_LOCK[0], TABLES, ...triggers, "COMMIT"].join(";\n"));
}
