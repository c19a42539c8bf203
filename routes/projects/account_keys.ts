import type { AccountDirectory } from "../../services/identity/mod.ts";
import { type ActingCaller, actorOf } from "../../services/projects/mod.ts";

/**
 * The key of the account by which a list is filtered.
 *
 * @param name of the account; `me` is the caller
 * @returns undefined without a name; a key that nobody has if there is no such account
 */
export function accountKeyOf(
  name: string | undefined,
  access: ActingCaller,
  accounts: Pick<AccountDirectory, "find">,
): string | undefined {
  if (name === undefined) return undefined;
  if (name !== "me") return accounts.find(name)?.id ?? "";
  return access.principal.kind === "guest" ? "" : actorOf(access, undefined, accounts).key;
}
