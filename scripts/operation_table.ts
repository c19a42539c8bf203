/**
 * Writes `routes/projects/operation_table.ts`, the rows that operations give to the table of routes, so
 * that the start loads no operation: part of `deno task reference`.
 */
import * as operations from "../services/daemon/operations.ts";
import type { OperationHead } from "../services/projects/operation.ts";

/** The module as text, before it is formatted. */
export function operationTable(): string {
  const heads = Object.values(operations).map(({ declared }): OperationHead => declared)
    .sort((one, other) => pathOf(one) < pathOf(other) ? -1 : 1);
  const rows = heads.map(({ http, needs, callers }) =>
    `  "${http}": ["operations", "${needs}"${callers === undefined ? "" : `, "${callers}"`}],`
  );
  const namesOf = (isNamed: (head: OperationHead) => boolean) =>
    heads.filter(isNamed).map(({ http }) => `  "${http}",`);
  return [
    "/** Written by `deno task reference` from the operations of services/; do not change it. */",
    "",
    "/** The rows of operations in the table of routes. */",
    "export const OPERATION_ROUTES = {",
    ...rows,
    "} as const;",
    "",
    "/** Operations that are answered while the disk is nearly full. */",
    "export const OPERATIONS_WHILE_FULL = [",
    ...namesOf(({ whileFull }) => whileFull === true),
    "] as const;",
    "",
  ].join("\n");
}

function pathOf({ http }: OperationHead): string {
  const [method = "", path = ""] = http.split(" ");
  return `${path} ${method}`;
}

if (import.meta.main) {
  const place = new URL("../routes/projects/operation_table.ts", import.meta.url);
  await Deno.writeTextFile(place, operationTable());
}
