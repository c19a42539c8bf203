/** What members are in a channel: by their account, as founder, or by being the first. */
import type { Client } from "../client.ts";
import type { IrcServerOptions } from "../options.ts";
import { foldCase } from "../protocol/names.ts";
import type { ServerState } from "../state.ts";
import { givenStatus } from "./access.ts";
import type { Channel } from "./channel.ts";
import { formatModes, MemberStatus, STATUSES } from "./modes.ts";

/**
 * What a client is in a channel from the start: what the accounts say; where they leave it open,
 * operator if it is the founder, or alone. The founder is the first member that has an account;
 * clients of this process above all modes are none. A channel that is kept or belongs to the program
 * has no other founder than the accounts say.
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
  if (channel.members.size > 0 || channel.isKept || isOwned(options, channel)) return 0;
  return MemberStatus.OPERATOR;
}

function isOwned({ accounts }: Readonly<IrcServerOptions>, { name }: Channel): boolean {
  return accounts.ownsChannel?.(name) ?? false;
}

/**
 * Gives a client that has logged in the status of its account in the channels that it is already
 * in. In a channel without a founder that is the client, if it is operator there.
 */
export function grantStatuses(state: ServerState, client: Client): void {
  for (const channel of client.channels) {
    const before = channel.statusOf(client);
    const given = givenStatus(state.options, client.account ?? "", channel);
    const isOpen = channel.founder === null && !channel.isOperator(client);
    const status = given ?? (isOpen ? 0 : initialStatus(state, client, channel));
    // What a stranger got by coming first does not stay with an account whose status is decided.
    const removed = given === null || channel.isKept ? 0 : before & ~given;
    const added = status & ~before;
    if (added === 0 && removed === 0) continue;
    channel.members.set(client, (before | added) & ~removed);
    const params = [channel.name, ...statusModes(added, client.nick, removed)];
    const message = state.messageFromServer("MODE", { params });
    for (const member of channel.members.keys()) member.send(message);
    state.history.recordInChannel(channel, message);
  }
}

/** The parameters of MODE that give a member these statuses, and take others away. */
export function statusModes(given: number, nick: string, taken = 0): string[] {
  const changes = [{ add: true, bits: given }, { add: false, bits: taken }];
  return formatModes(
    changes.flatMap(({ add, bits }) =>
      STATUSES.filter(({ bit }) => bits & bit).map(({ letter }) => ({ add, letter, param: nick }))
    ),
  );
}
