import { type Origin, SYSTEM } from "../events/mod.ts";
import type { AccountDirectory } from "../identity/mod.ts";
import type { ObservedActor } from "../irc/mod.ts";

/**
 * The actor of a change on the IRC server, as the event log names it: the account, or without one the
 * name given to OPER.
 */
export function ircOriginOf(
  accounts: Pick<AccountDirectory, "find">,
  { nick, account, address, operator }: ObservedActor,
): Origin {
  const name = account ?? operator;
  if (name === undefined) return { ...SYSTEM, actor: `guest:${nick}`, address };
  const found = accounts.find(name);
  if (account === null && found?.kind !== "admin") {
    return { ...SYSTEM, actor: `irc:${name}`, address };
  }
  if (found === null) return { ...SYSTEM, actor: `irc:${name}` };
  return { actor: `${found.kind}:${found.name}`, actorId: found.id, address, cause: null };
}
