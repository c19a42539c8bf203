import { Conflict, Invalid, Unavailable } from "../../kernel/errors.ts";
import { type AccountDirectory, AttemptQuota, placeOf } from "../../people/identity/mod.ts";
import { type AccountRegistration, isLoopback } from "../../engines/irc/mod.ts";
import type { IrcAccounts } from "../../people/agents/mod.ts";

/** Most addresses whose accounts are counted. */
const REMEMBERED = 10_000;

const HOUR = 60 * 60_000;

export interface SelfRegistrationOptions {
  readonly accounts: AccountDirectory;
  readonly ircAccounts: IrcAccounts;
  /** Accounts that one address may register in an hour; 0 for no limit. This machine has none. */
  readonly perHour: number;
  /** Whether the disk has room for new accounts. */
  readonly space: { readonly isShort: boolean };
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** Self-registration of people on IRC. */
export class SelfRegistration {
  readonly #accounts: AccountDirectory;
  readonly #ircAccounts: IrcAccounts;
  readonly #quota: AttemptQuota | null;
  readonly #space: SelfRegistrationOptions["space"];

  constructor(options: SelfRegistrationOptions) {
    this.#accounts = options.accounts;
    this.#ircAccounts = options.ircAccounts;
    this.#space = options.space;
    const { perHour, clock } = options;
    const limit = { failures: perHour, window: HOUR, keys: REMEMBERED, clock };
    this.#quota = perHour === 0 ? null : new AttemptQuota(limit);
  }

  /**
   * Creates an account.
   *
   * @param address the client's IP address
   */
  async register(name: string, password: string, address: string): Promise<AccountRegistration> {
    const { personSchema } = await import("../../people/agents/schemas.ts");
    const parsed = personSchema.safeParse({ account: name, password });
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const fault = issue?.path[0] === "account" ? "name" : "password";
      return { kind: "refused", fault, reason: `The ${fault} ${issue?.message}` };
    }
    if (this.#accounts.isRefused(name)) {
      return { kind: "refused", fault: "name", reason: `The name "${name}" is reserved` };
    }
    if (this.#accounts.find(name) !== null) return taken(name);
    if (this.#space.isShort) return { kind: "unavailable" };
    return await this.#counted(address, () => this.#create(name, password, address));
  }

  async #create(name: string, password: string, address: string): Promise<AccountRegistration> {
    try {
      await this.#ircAccounts.register({ account: name, password }, address);
      return { kind: "registered", account: name };
    } catch (error) {
      if (error instanceof Conflict) return taken(name);
      if (error instanceof Unavailable) return { kind: "unavailable" };
      if (!(error instanceof Invalid)) throw error;
      return { kind: "refused", fault: "weak", reason: error.message };
    }
  }

  /** Counts the requests of an address; a pending one counts as granted. */
  async #counted(
    address: string,
    create: () => Promise<AccountRegistration>,
  ): Promise<AccountRegistration> {
    const quota = this.#quota;
    if (quota === null || isLoopback(address)) return await create();
    const place = placeOf(address);
    const check = quota.check(place);
    if (check.kind === "busy") return { kind: "unavailable" };
    if (check.kind === "exhausted") return { ...check, kind: "throttled" };
    const end = quota.begin(place);
    let made = false;
    try {
      const outcome = await create();
      made = outcome.kind === "registered";
      return outcome;
    } finally {
      end(made ? "failed" : "passed");
    }
  }
}

function taken(name: string): AccountRegistration {
  return { kind: "refused", fault: "taken", reason: `The name "${name}" is taken` };
}
