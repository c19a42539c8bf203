import type { AccountDirectory } from "../../people/identity/mod.ts";
import { foldCase } from "../../engines/irc/mod.ts";

/** Finds the account whose rights a login to IRC gives, by the name of the login. */
export type IrcSpeakers = Pick<AccountDirectory, "find">;

/**
 * The accounts that a login on an existing network proves. muster made those of agents and people
 * there. It made none for its admins, so the name of one may be anybody's on the network: it counts
 * only if the configuration lists it.
 *
 * @param admins the names of `irc.admins`
 */
export function networkSpeakers(accounts: IrcSpeakers, admins: readonly string[]): IrcSpeakers {
  const listed = new Set(admins.map(foldCase));
  return {
    find(name) {
      const account = accounts.find(name);
      return account?.kind === "admin" && !listed.has(foldCase(name)) ? null : account;
    },
  };
}
