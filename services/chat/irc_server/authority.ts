import {
  type Account,
  type AccountDirectory,
  addressesEverybody,
  type LoginOutcome,
  type Logins,
} from "../../people/identity/mod.ts";
import {
  type Accounts,
  type ChannelStatus,
  foldCase,
  type ScramAccounts,
  type ScramProof,
  type ScramVerification,
  type Verification,
} from "../../engines/irc/mod.ts";
import { channelStatusOf, type Roster, type SendLimits } from "../../people/agents/mod.ts";
import type { SelfRegistration } from "./self_registration.ts";

/** The owner of reserved nicks; no account can have this name. */
const NOBODY = "*reserved*";

/** The kinds of account that log in to IRC. */
const KINDS = ["agent", "person", "admin"] as const;

/** A name and password that OPER accepts. */
export interface IrcOperator {
  readonly name: string;
  /** argon2id, in PHC string format. */
  readonly password_hash: string;
}

/** The channels of projects, as far as IRC depends on them. */
export interface OwnedChannels {
  /** Whether a project has this channel. */
  owns(channel: string): boolean;
  /** As `Accounts.admits` of the IRC engine. */
  admits(account: string | null, channel: string): boolean | null;
}

export interface AccountAuthorityOptions {
  readonly accounts: AccountDirectory;
  readonly roster: Pick<Roster, "find" | "assigns">;
  readonly logins: Logins;
  readonly operators: readonly IrcOperator[];
  readonly sendLimits: Pick<SendLimits, "muteReason" | "delay">;
  /** The statuses of accounts in registered channels. */
  readonly channels: {
    statusOf(account: string, channel: string): ChannelStatus | null;
    isRegistered(channel: string): boolean;
  };
  /** Channels that the configuration names. */
  readonly configured: readonly string[];
}

/** Decides for the IRC server who may log in, who owns a nick, and which status a user gets. */
export class AccountAuthority implements Accounts {
  readonly scram: ScramAccounts;
  register?: NonNullable<Accounts["register"]>;
  /** Absent until it is known what agents do. */
  activity?: NonNullable<Accounts["activity"]>;
  /** Absent until it is known who keeps messages. */
  absentUser?: NonNullable<Accounts["absentUser"]>;
  /** Absent until it is known who stays. */
  staying?: NonNullable<Accounts["staying"]>;
  /** The channels of projects; null until they are known. */
  #projects: OwnedChannels | null = null;
  /** The channels in which bots report, folded. */
  #reports: ReadonlySet<string> = new Set();
  readonly #accounts: AccountDirectory;
  readonly #logins: Logins;
  readonly #sendLimits: AccountAuthorityOptions["sendLimits"];
  readonly #operators: ReadonlyMap<string, IrcOperator>;
  readonly #channels: AccountAuthorityOptions["channels"];
  readonly #roster: AccountAuthorityOptions["roster"];
  /** Folded. */
  readonly #configured: ReadonlySet<string>;

  constructor(options: AccountAuthorityOptions) {
    const { accounts, roster, logins, operators, sendLimits, channels } = options;
    this.scram = {
      challenge: (name) => logins.challenge(name, KINDS),
      verify: (name, proof, address) => this.#verifyProof({ name, address, door: "sasl" }, proof),
    };
    this.#sendLimits = sendLimits;
    this.#channels = channels;
    this.#accounts = accounts;
    this.#logins = logins;
    this.#operators = new Map(operators.map((operator) => [foldCase(operator.name), operator]));
    this.#roster = roster;
    this.#configured = new Set(options.configured.map(foldCase));
  }

  /** Lets people register accounts. */
  allowRegistration(registration: SelfRegistration): void {
    this.register = registration.register.bind(registration);
  }

  /** Decides about the channels of projects too. */
  attachProjects(projects: OwnedChannels): void {
    this.#projects = projects;
  }

  /**
   * Decides about the channels in which bots report too: these, and no others.
   *
   * @returns those that were none of them before
   */
  setReportChannels(channels: readonly string[]): string[] {
    const before = this.#reports;
    this.#reports = new Set(channels.map(foldCase));
    return channels.filter((channel) => !before.has(foldCase(channel)));
  }

  admits(account: string | null, channel: string): boolean | null {
    return this.#projects?.admits(account, channel) ?? null;
  }

  async verify(name: string, password: string, address: string): Promise<Verification> {
    const attempt = { name, password, address, door: "sasl" } as const;
    const outcome = await this.#logins.logIn(attempt, KINDS);
    return verification(outcome, (account: Account) => account.name);
  }

  async #verifyProof(
    attempt: Parameters<Logins["prove"]>[0],
    proof: ScramProof,
  ): Promise<ScramVerification> {
    const outcome = await this.#logins.prove(attempt, proof, KINDS);
    if (outcome.kind !== "accepted") return outcome;
    const { account, serverSignature } = outcome.account;
    return { kind: "accepted", account: account.name, serverSignature };
  }

  ownerOf(nick: string): string | null {
    if (this.#accounts.isReserved(nick)) return NOBODY;
    // An account may have the name from before it was reserved.
    return (this.#accounts.session(nick) ?? this.#accounts.find(nick))?.name ??
      (addressesEverybody(nick) ? NOBODY : null);
  }

  /**
   * An agent's type decides its status, except in channels registered with ChanServ, if the founder
   * decides. In the agent's own channels, its type always decides. Admins are operators where bots
   * report.
   */
  channelStatus(account: string, channel: string): ChannelStatus | null {
    const own = this.registryStatus(account, channel) ?? this.#channels.statusOf(account, channel);
    if (own !== null || this.#channels.isRegistered(channel)) return own;
    const isReport = this.#reports.has(foldCase(channel));
    if (isReport && this.#accounts.find(account)?.kind === "admin") return "operator";
    const agent = this.#roster.find(account);
    return agent === null ? null : channelStatusOf(agent.type);
  }

  accountSince(account: string): number | null {
    return this.#accounts.find(account)?.createdAt ?? null;
  }

  /** The status that an agent's type gives it in its own channels. */
  registryStatus(account: string, channel: string): ChannelStatus | null {
    const agent = this.#roster.find(account);
    if (agent === null) return null;
    const folded = foldCase(channel);
    if (!agent.channels.some((candidate) => foldCase(candidate) === folded)) return null;
    return channelStatusOf(agent.type);
  }

  /**
   * Channels that the configuration, a project or an agent's registration names, and those in which
   * bots report.
   */
  ownsChannel(channel: string): boolean {
    const folded = foldCase(channel);
    return this.#configured.has(folded) || this.#reports.has(folded) ||
      this.#roster.assigns(channel) ||
      (this.#projects?.owns(channel) ?? false);
  }

  /** A paused agent is muted. */
  muteReason(account: string): string | null {
    return this.#sendLimits.muteReason(account);
  }

  /** An agent may have its own rate. */
  messageDelay(account: string): number {
    return this.#sendLimits.delay(account);
  }

  /** People and admins do; agents get messages for programs as they are. */
  readsText(account: string): boolean {
    const kind = this.#accounts.find(account)?.kind;
    return kind === "person" || kind === "admin";
  }

  /** Workers and orchestrators act on messages; the others only read, or are people. */
  actsOnMessages(account: string): boolean {
    const type = this.#roster.find(account)?.type;
    return type === "worker" || type === "orchestrator";
  }

  /** Checks the operators of the configuration first, then the admins. */
  async verifyOperator(name: string, password: string, address: string): Promise<Verification> {
    const attempt = { name, password, address, door: "oper" } as const;
    const operator = this.#operators.get(foldCase(name));
    if (operator === undefined) {
      const outcome = await this.#logins.logIn(attempt, ["admin"]);
      return verification(outcome, (account: Account) => account.name);
    }
    const named = { ...attempt, name: operator.name };
    const outcome = await this.#logins.check(named, operator.password_hash);
    return verification(outcome, (operatorName) => operatorName);
  }
}

function verification<Accepted>(
  outcome: LoginOutcome<Accepted>,
  nameOf: (accepted: Accepted) => string,
): Verification {
  if (outcome.kind !== "accepted") return outcome;
  return { kind: "accepted", account: nameOf(outcome.account) };
}
