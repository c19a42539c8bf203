/** The keys of a server that is one of several. */

import { z } from "zod";
import { CONSOLE } from "./node_names.ts";

/** Keys of `node`. */
export const nodeKeys = z.strictObject({
  name: z.string().regex(/^(?:[a-z][a-z0-9-]{0,31})?$/, {
    error: 'must be 1 to 32 lower-case letters, digits and hyphens, or ""',
  }).default(""),
  url: z.string().regex(/^(?:https?:\/\/[^\s/?#]+)?$/, {
    error: 'must be a URL without a path such as "http://10.0.0.5:8080", or ""',
  }).default(""),
});

/** The keys that decide whether a server can be one of several. */
interface NodeConfig {
  readonly node: z.infer<typeof nodeKeys>;
  readonly database: { readonly url: string };
  readonly irc: { readonly mode: string; readonly history: { readonly persist: boolean } };
  readonly limits: { readonly idle_seconds: number };
}

/** A node keeps idle connections for at least so many seconds: others use them for up to five. */
const LEAST_IDLE_SECONDS = 10;

/** Finds what keeps a server from being one of several. */
export function checkNode(
  { node, database, irc, limits }: NodeConfig,
): { readonly path: readonly string[]; readonly message: string }[] {
  if (node.name === "") {
    return node.url === "" ? [] : [{ path: ["node", "url"], message: "needs node.name" }];
  }
  const path = ["node", "name"];
  const needs = (isMet: boolean, message: string) => isMet ? [] : [{ path, message }];
  const isShort = limits.idle_seconds < LEAST_IDLE_SECONDS;
  return [
    ...isShort
      ? [{
        path: ["limits", "idle_seconds"],
        message: `must be at least ${LEAST_IDLE_SECONDS} on a node: others keep connections to it`,
      }]
      : [],
    ...needs(!node.name.endsWith(CONSOLE), `must not end in "${CONSOLE}"`),
    ...needs(node.url !== "", "needs node.url, at which other nodes reach this one"),
    ...needs(database.url !== "", "needs database.url: nodes cannot share a SQLite file"),
    ...needs(irc.mode === "external", 'needs "irc.mode: external": nodes share an IRC network'),
    ...needs(irc.history.persist, "needs irc.history.persist: nodes share inboxes"),
  ];
}
