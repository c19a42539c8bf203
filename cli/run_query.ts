import { runQueryProcess } from "../services/engines/fossil/sql/mod.ts";
import type { Leaf } from "./command_line/mod.ts";

/** `muster run-query`, which muster starts itself for every `sql_query`. */
export const RUN_QUERY: Leaf = { run: runQueryProcess };
