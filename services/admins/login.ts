import { TooMany } from "../errors.ts";
import { waitInWords } from "../waiting_words.ts";
import {
  acceptedAccount,
  type Account,
  AttemptLimit,
  type Caller,
  type Logins,
  placeOf,
  type Refusals,
  type WebSession,
  type WebSessions,
} from "../identity/mod.ts";
import type { LoginRequest } from "./schemas.ts";

/** Most addresses whose attempts are remembered. */
const REMEMBERED = 10_000;

export interface AdminLoginOptions {
  readonly logins: Logins;
  readonly webSessions: WebSessions;
  readonly refusals: Refusals;
  /** Attempts allowed per address within the window, including successful ones. */
  readonly attempts: number;
  /** Milliseconds. */
  readonly window: number;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/** How admins log in to the web pages. */
export class AdminLogin {
  readonly #logins: Logins;
  readonly #sessions: WebSessions;
  readonly #refusals: Refusals;
  readonly #attempts: AttemptLimit;

  constructor(options: AdminLoginOptions) {
    const { attempts: failures, window, clock } = options;
    this.#logins = options.logins;
    this.#sessions = options.webSessions;
    this.#refusals = options.refusals;
    this.#attempts = new AttemptLimit({ failures, window, clock, keys: REMEMBERED });
  }

  /**
   * Counts an attempt, whatever its result.
   *
   * @param address the client's IP address
   * @throws TooMany if too many came from its address
   */
  admit(address: string): void {
    const place = placeOf(address);
    const permit = this.#attempts.permit(place);
    if (permit.kind === "exhausted") {
      this.#refusals.note({ door: "login", address, reason: "too many attempts" });
      const wait = permit.retryAfterSeconds;
      throw new TooMany(`Too many logins, try again in ${waitInWords(wait)}`, wait);
    }
    this.#attempts.begin(place);
    this.#attempts.end(place, "failed");
  }

  /**
   * Checks the name and password of a counted attempt, and starts a session.
   *
   * @param before the session of the same browser, which ends: its cookie is replaced
   * @throws Unauthorized, TooMany, Unavailable
   */
  async logIn(
    { username, password }: LoginRequest,
    from: Omit<Caller, "principal" | "address"> & { readonly address: string },
    before: WebSession | null = null,
  ): Promise<WebSession> {
    const account = await this.prove({ username, password }, from.address);
    const session = await this.#sessions.open(account, from);
    if (before !== null) await this.#sessions.close({ ...from, principal: before.principal });
    return session;
  }

  /**
   * Checks the name and password of a counted attempt.
   *
   * @throws Unauthorized, TooMany, Unavailable
   */
  async prove({ username, password }: LoginRequest, address: string): Promise<Account> {
    const attempt = { name: username, password, address, door: "login" } as const;
    const outcome = await this.#logins.logIn(attempt, ["admin", "person"]);
    return acceptedAccount(outcome, "The name or the password is wrong");
  }
}
