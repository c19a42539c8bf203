import { type Origin, SYSTEM } from "./events/mod.ts";
import type { AccountDirectory } from "./identity/mod.ts";
import type { ObservedActor } from "./irc/mod.ts";

/** Whoever did something on the IRC server, as the event log names it. */
export function ircOriginOf(
  accounts: Pick<AccountDirectory, "find">,
  { nick, account, address }: ObservedActor,
): Origin {
  if (account === null) return { ...SYSTEM, actor: `guest:${nick}`, address };
  const found = accounts.find(account);
  if (found === null) return { ...SYSTEM, actor: `irc:${account}` };
  return { actor: `${found.kind}:${found.name}`, actorId: found.id, address, cause: null };
}
