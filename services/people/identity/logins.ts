import { TooMany, Unauthorized, Unavailable } from "../../kernel/errors.ts";
import type { Account, AccountDirectory, AccountKind } from "./accounts.ts";
import { AttemptQuota, type LoginMethod, placeOf, type Refusals } from "./attempts.ts";
import { foldCase, isLoopback } from "../../engines/irc/mod.ts";
import type { Passwords } from "./passwords.ts";
import {
  checkScramProof,
  type ScramProof,
  type ScramVerifier,
  type ScramVerifiers,
} from "./scram.ts";
import { waitInWords } from "../../kernel/words.ts";
import { sameDigest, sha256 } from "./secrets.ts";

/** Most addresses, and pairs of an address and a name, remembered for wrong passwords. */
const REMEMBERED = 10_000;

/**
 * How many accounts one address may exhaust its attempts on within the window. It is then refused
 * every password that a person chose, but no passphrase that muster made, because those cannot be
 * guessed.
 */
const ACCOUNTS_PER_PLACE = 10;

/** Longest part of a name that is compared; no account has a longer one. */
const NAME_LENGTH = 65;

export interface LoginsOptions {
  readonly accounts: AccountDirectory;
  readonly passwords: Passwords;
  readonly scram: ScramVerifiers;
  readonly refusals: Refusals;
  /** Wrong passwords that are allowed per place and account within the window. */
  readonly attempts: number;
  /** Milliseconds. */
  readonly window: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** A presented name and password. */
export interface LoginAttempt {
  readonly name: string;
  readonly password: string;
  /** The client's IP address. */
  readonly address: string;
  readonly door: LoginMethod;
  /**
   * The browser in which the owner of an account has logged in before. It has limits of its own for
   * that account: who shares its address cannot use them up.
   */
  readonly browser?: { readonly account: string; readonly id: string } | null;
}

/** An account whose password was proven, and the server's proof. */
export interface ProvenAccount {
  readonly account: Account;
  readonly serverSignature: Uint8Array;
}

/** The result of a login. */
export type LoginOutcome<Accepted> =
  | { readonly kind: "accepted"; readonly account: Accepted }
  | { readonly kind: "refused" }
  | { readonly kind: "throttled"; readonly retryAfterSeconds: number }
  | { readonly kind: "unavailable" };

/** Something that a name with a password, or a proof of one, may open. */
interface Lock<Accepted> {
  /** Whether a secret made by muster is right; answers at once. */
  fitsAtOnce(): boolean;
  /** Whether a password chosen by a person is right; it came from this place. */
  fits(place: string): Promise<boolean>;
  /** What the login opens, read after the password check; null if it is gone by then. */
  open(): Accepted | null;
}

/**
 * Checks names and passwords for every protocol. A wrong password counts against its address and
 * name together, so nobody can lock an account out from elsewhere. It also counts against the
 * address alone, except on loopback, which many programs share. A browser in which the account's owner
 * has logged in before counts in place of its address. A refusal takes the same time whether or not
 * the name exists.
 */
export class Logins {
  readonly #accounts: AccountDirectory;
  readonly #passwords: Passwords;
  readonly #scram: ScramVerifiers;
  readonly #refusals: Refusals;
  readonly #perAccount: AttemptQuota;
  readonly #perPlace: AttemptQuota;

  constructor(options: LoginsOptions) {
    const { accounts, passwords, scram, refusals, attempts, window, clock } = options;
    this.#accounts = accounts;
    this.#passwords = passwords;
    this.#scram = scram;
    this.#refusals = refusals;
    const limit = { window, clock, keys: REMEMBERED };
    this.#perAccount = new AttemptQuota({ ...limit, failures: attempts });
    this.#perPlace = new AttemptQuota({ ...limit, failures: attempts * ACCOUNTS_PER_PLACE });
  }

  /**
   * Logs in to an account.
   *
   * @param kinds the kinds of account that may log in here, unless they are switched off
   */
  async logIn(
    attempt: LoginAttempt,
    kinds: readonly AccountKind[],
  ): Promise<LoginOutcome<Account>> {
    const account = this.#find(attempt.name, kinds);
    const { password } = attempt;
    const hash = account?.secret.scheme === "argon2id" ? account.secret.value : null;
    const outcome = await this.#attempt(attempt, {
      fitsAtOnce: () => isMadeFor(account, password),
      fits: (place) => this.#passwords.verify(password, hash, place),
      open: () => this.#findAgain(account, kinds),
    });
    if (outcome.kind === "accepted") this.#scram.learn(outcome.account, password);
    return outcome;
  }

  /**
   * The account of a name and of a password that muster made; null for any other password. It counts
   * as no attempt.
   */
  recognize(
    { name, password }: Pick<LoginAttempt, "name" | "password">,
    kinds: readonly AccountKind[],
  ): Account | null {
    const account = this.#find(name, kinds);
    return account !== null && isMadeFor(account, password) ? account : null;
  }

  /**
   * The data that a client needs to prove a password. It does not reveal whether the account
   * exists.
   */
  async challenge(
    name: string,
    kinds: readonly AccountKind[],
  ): Promise<Pick<ScramVerifier, "salt" | "iterations">> {
    const { salt, iterations } = await this.#scram.verifierOf(this.#find(name, kinds), name);
    return { salt, iterations };
  }

  /** Logs in to an account with a proof in place of the password. */
  async prove(
    attempt: Omit<LoginAttempt, "password">,
    proof: ScramProof,
    kinds: readonly AccountKind[],
  ): Promise<LoginOutcome<ProvenAccount>> {
    const account = this.#find(attempt.name, kinds);
    const verifier = await this.#scram.verifierOf(account, attempt.name);
    const signature = checkScramProof(verifier, proof);
    return await this.#attempt(attempt, {
      fitsAtOnce: () => signature !== null && account?.secret.scheme === "sha256",
      fits: () => Promise.resolve(signature !== null),
      open: () => {
        const present = this.#findAgain(account, kinds);
        return present && signature && { account: present, serverSignature: signature };
      },
    });
  }

  /**
   * Counts an attempt to prove a secret that muster made, such as a token.
   *
   * @param proven what the proof opens; null if it is wrong
   */
  noteProof<Accepted>(
    attempt: Omit<LoginAttempt, "password">,
    proven: Accepted | null,
  ): Promise<LoginOutcome<Accepted>> {
    return this.#attempt(attempt, {
      fitsAtOnce: () => proven !== null,
      fits: () => Promise.resolve(proven !== null),
      open: () => proven,
    });
  }

  /**
   * Checks a password against a hash from the configuration.
   *
   * @param attempt its name is the one that the hash belongs to, returned if the password is right
   */
  check(attempt: LoginAttempt, hash: string): Promise<LoginOutcome<string>> {
    return this.#attempt(attempt, {
      fitsAtOnce: () => false,
      fits: (place) => this.#passwords.verify(attempt.password, hash, place),
      open: () => attempt.name,
    });
  }

  #find(name: string, kinds: readonly AccountKind[]): Account | null {
    const account = this.#accounts.named(name);
    if (account === null || account.revokedAt !== null) return null;
    const counts = kinds.includes(account.kind) && this.#accounts.isEnabled(account.kind);
    return counts ? account : null;
  }

  /** The account found before, if it is unchanged. */
  #findAgain(account: Account | null, kinds: readonly AccountKind[]): Account | null {
    const present = account && this.#find(account.name, kinds);
    const same = present?.id === account?.id && present?.secret.value === account?.secret.value;
    return same ? present : null;
  }

  async #attempt<Accepted>(
    attempt: Omit<LoginAttempt, "password">,
    lock: Lock<Accepted>,
  ): Promise<LoginOutcome<Accepted>> {
    const outcome = await this.#judge(attempt, lock);
    const { door, address } = attempt;
    if (outcome.kind === "refused") {
      this.#refusals.note({ door, address, reason: "wrong password" });
    } else if (outcome.kind === "throttled") {
      this.#refusals.note({ door, address, reason: "too many attempts" });
    }
    return outcome;
  }

  async #judge<Accepted>(
    { name, address, browser }: Omit<LoginAttempt, "password">,
    lock: Lock<Accepted>,
  ): Promise<LoginOutcome<Accepted>> {
    const isKnown = browser !== null && browser !== undefined &&
      this.#accounts.named(name)?.id === browser.account;
    const place = isKnown ? browser.id : placeOf(address);
    const pair = `${place} ${foldCase(name).slice(0, NAME_LENGTH)}`;
    const own = this.#perAccount.check(pair);
    if (own.kind === "exhausted") return { ...own, kind: "throttled" };
    if (lock.fitsAtOnce()) return accepted(lock.open());

    const overall = isLoopback(address) ? own : this.#perPlace.check(place);
    if (overall.kind === "exhausted") return { ...overall, kind: "throttled" };
    if (own.kind === "busy" || overall.kind === "busy") return { kind: "unavailable" };

    const ends = [this.#perAccount.begin(pair), this.#perPlace.begin(place)];
    let outcome: LoginOutcome<Accepted> = { kind: "unavailable" };
    try {
      const right = await lock.fits(place);
      outcome = right ? accepted(lock.open()) : { kind: "refused" };
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
    } finally {
      for (const end of ends) end(outcome.kind === "refused" ? "failed" : "passed");
    }
    return outcome;
  }
}

/** Whether muster made a password for an account. It takes as long without one. */
function isMadeFor(account: Account | null, password: string): boolean {
  const { scheme, value } = account?.secret ?? { scheme: "sha256", value: "" };
  return scheme === "sha256" && sameDigest(sha256(password), value);
}

/**
 * The account that a login opened.
 *
 * @param refusal the error text for a wrong name or password
 * @throws Unauthorized, TooMany, Unavailable if it opened none
 */
export function acceptedAccount<Accepted = Account>(
  outcome: LoginOutcome<Accepted>,
  refusal: string,
): Accepted {
  switch (outcome.kind) {
    case "accepted":
      return outcome.account;
    case "refused":
      throw new Unauthorized(refusal);
    case "throttled":
      throw new TooMany(
        `Too many wrong passwords, try again in ${waitInWords(outcome.retryAfterSeconds)}`,
        outcome.retryAfterSeconds,
      );
    case "unavailable":
      throw new Unavailable("Passwords cannot be checked at the moment");
  }
}

function accepted<Accepted>(account: Accepted | null): LoginOutcome<Accepted> {
  return account === null ? { kind: "refused" } : { kind: "accepted", account };
}
