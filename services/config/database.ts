/** The keys of the app database. */

import { z } from "zod";
import { isPostgresUrl } from "./postgres_url.ts";

/** Keys of `database`. */
export const databaseKeys = z.strictObject({
  url: z.string().refine((text) => text === "" || isPostgresUrl(text), {
    error: 'must be a URL such as "postgres://muster@db.example.com/muster", or ""',
  }).default(""),
  password_file: z.string().default(""),
});

/** Finds what contradicts itself. */
export function checkDatabase(
  { url, password_file: file }: z.infer<typeof databaseKeys>,
): { readonly path: readonly string[]; readonly message: string }[] {
  if (file === "") return [];
  const path = ["database", "password_file"];
  if (url === "") return [{ path, message: "needs database.url" }];
  if (!isPostgresUrl(url) || new URL(url).password === "") return [];
  return [{ path, message: 'must be "" beside a password in database.url' }];
}
