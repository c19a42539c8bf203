/**
 * Writes the rows that operations give to the tables of routes, so that the start loads no operation:
 * part of `deno task reference`.
 */
import type { z } from "zod";
import * as projectOperations from "../services/operation/daemon/operations.ts";
import { SERVER_OPERATIONS } from "../services/operation/daemon/server_operations.ts";
import type { ServerHead } from "../services/people/identity/server_operation.ts";
import type { Declaration, Head } from "../services/people/identity/operation.ts";
import type { ProjectHead } from "../services/work/projects/operation.ts";

/** What an operation that HTTP has declares. */
export type HttpDeclaration =
  & Head
  & Declaration<z.ZodObject, z.ZodType, z.ZodType>
  & Partial<Pick<ServerHead, "on">>
  & Partial<Pick<ProjectHead, "needs" | "callers">>;

/** What all operations declare that HTTP has; the paths of those in projects are whole. */
export async function allOperations(): Promise<readonly HttpDeclaration[]> {
  const inProjects = Object.values(projectOperations).map(({ declared }): HttpDeclaration => ({
    ...declared,
    http: declared.http.replace(" ", " /projects/{project}/fossil") as Head["http"],
  }));
  const loaded = await Promise.all(Object.values(SERVER_OPERATIONS).map((load) => load()));
  const onServer = loaded.flatMap((room) =>
    Object.values(room).flatMap(({ declared }): HttpDeclaration[] =>
      declared.http === undefined ? [] : [{ ...declared, http: declared.http }]
    )
  );
  return [...inProjects, ...onServer];
}

/** The rows of operations in projects, as the text of a module before it is formatted. */
export function projectTable(): string {
  const heads = inOrder(
    Object.values(projectOperations).map(({ declared }): ProjectHead => declared),
  );
  const rows = heads.map(({ http, needs, callers }) =>
    rowOf(http, ["operations", needs, ...callers === undefined ? [] : [callers]])
  );
  return moduleOf(rows, heads);
}

/** The rows of operations on the server, as the text of a module before it is formatted. */
export async function serverTable(): Promise<string> {
  const rooms = Object.entries(SERVER_OPERATIONS).map(async ([room, load]) => {
    const operations: { readonly declared: ServerHead }[] = Object.values(await load());
    return operations.flatMap(({ declared: { http, ...declared } }) =>
      http === undefined ? [] : [{ room, http, ...declared }]
    );
  });
  const heads = inOrder((await Promise.all(rooms)).flat());
  const rows = heads.map(({ http, room, on, hasSlashes }) =>
    rowOf(http, [room, on, ...hasSlashes ? ["slashes"] : []])
  );
  const onLeader = heads.filter(({ runsOn }) => runsOn === "leader");
  return [
    moduleOf(rows, heads),
    "/** Operations that only the node that leads can answer. */",
    `export const OPERATIONS_OF_LEADER = ${namesOf(onLeader)} as const;`,
    "",
  ].join("\n");
}

function inOrder<This extends Head>(heads: readonly This[]): readonly This[] {
  return heads.toSorted((one, other) => pathOf(one) < pathOf(other) ? -1 : 1);
}

function pathOf({ http }: Head): string {
  const [method = "", path = ""] = http.split(" ");
  return `${path} ${method}`;
}

function rowOf(http: string, row: readonly string[]): string {
  return `  "${http}": ${JSON.stringify(row)},`;
}

function namesOf(heads: readonly Head[]): string {
  return JSON.stringify(heads.map(({ http }) => http));
}

function moduleOf(rows: readonly string[], heads: readonly Head[]): string {
  return [
    "/** Written by `deno task reference` from the operations of services/; do not change it. */",
    "",
    "/** The rows of operations in the table of routes. */",
    "export const OPERATION_ROUTES = {",
    ...rows,
    "} as const;",
    "",
    "/** Operations that halted agents may call although they are no GET. */",
    `export const OPERATIONS_WHILE_HALTED = ${
      namesOf(heads.filter(({ whileHalted }) => whileHalted))
    } as const;`,
    "",
    "/** Operations that are answered while the disk is nearly full. */",
    `export const OPERATIONS_WHILE_FULL = ${
      namesOf(heads.filter(({ whileFull }) => whileFull))
    } as const;`,
    "",
  ].join("\n");
}

if (import.meta.main) {
  const write = (path: string, text: string) =>
    Deno.writeTextFile(new URL(`../routes/${path}`, import.meta.url), text);
  await write("projects/operation_table.ts", projectTable());
  await write("operation_table.ts", await serverTable());
}
