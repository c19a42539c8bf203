/** The status of members in a channel: by their account, as founder, or as the first. */
import { foldCase } from "../protocol/names.ts";
import type { ServerState } from "../state.ts";
import { givenStatus, isOwned } from "./access.ts";
import { noteMember } from "./keeping.ts";
import { formatModes, MemberStatus, STATUSES } from "./modes.ts";
import type { Channel, Client } from "../members.ts";

/**
 * The status of a client that joins a channel. The accounts decide first. If they leave it open,
 * the founder and a client that is alone become operators. The founder is the first member with an
 * account, except for clients of this process above all modes. Only the accounts name the founder
 * of a channel that is kept or belongs to the program. Nobody becomes operator of a restored channel
 * by being alone in it.
 */
export function initialStatus({ options }: ServerState, client: Client, channel: Channel): number {
  if (client.privileged) return MemberStatus.OPERATOR;
  const { account } = client;
  if (account !== null) {
    const given = givenStatus(options, account, channel);
    if (given !== null) return given;
    if (channel.isKept || isOwned(options, channel)) return 0;
    channel.founder ??= account;
    if (foldCase(channel.founder) === foldCase(account)) return MemberStatus.OPERATOR;
  }
  if (channel.members.size > 0 || channel.isKept || channel.isRestored) return 0;
  if (isOwned(options, channel)) return 0;
  return MemberStatus.OPERATOR;
}

/**
 * Gives a client that has logged in the status of its account in the channels that it is already
 * in. In a channel without a founder, a client that is operator becomes the founder.
 */
export function grantStatuses(state: ServerState, client: Client): void {
  for (const channel of client.channels) {
    const before = channel.statusOf(client);
    const given = givenStatus(state.options, client.account ?? "", channel);
    const { founder } = channel;
    const isOpen = founder === null && !channel.isOperator(client);
    const status = given ?? (isOpen ? 0 : initialStatus(state, client, channel));
    noteMember(state, channel, client, founder);
    // An account with a decided status loses what it got as a guest who joined first.
    const removed = given === null || channel.isKept ? 0 : before & ~given;
    const added = status & ~before;
    if (added === 0 && removed === 0) continue;
    channel.setMember(client, (before | added) & ~removed);
    const params = [channel.name, ...statusModes(added, client.nick, removed)];
    const message = state.messageFromServer("MODE", { params });
    for (const member of channel.listeners) member.send(message);
    state.history.recordInChannel(channel, message);
  }
}

/** The parameters of MODE that give a member these statuses and remove all others. */
export function statusModes(given: number, nick: string, taken = 0): string[] {
  const changes = [{ add: true, bits: given }, { add: false, bits: taken }];
  return formatModes(
    changes.flatMap(({ add, bits }) =>
      STATUSES.filter(({ bit }) => bits & bit).map(({ letter }) => ({ add, letter, param: nick }))
    ),
  );
}
