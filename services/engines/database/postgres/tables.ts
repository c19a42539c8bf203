import {
  HandleEmptyInListsPlugin,
  Kysely,
  PostgresDialect,
  replaceWithNoncontingentExpression,
} from "kysely";
import type { Tables } from "../schema.ts";
import { ReadingPool } from "./reading_pool.ts";
import type { PostgresSettings } from "./settings.ts";

/** Builds queries for PostgreSQL, and executes those that read. */
export function postgresTables(settings: PostgresSettings): Kysely<Tables> {
  const pool = new ReadingPool(settings);
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool }),
    // SQLite finds nothing in an empty list, and PostgreSQL would refuse it.
    plugins: [new HandleEmptyInListsPlugin({ strategy: replaceWithNoncontingentExpression })],
  });
}
