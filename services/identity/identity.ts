import { TooMany, Unauthorized, Unavailable } from "../errors.ts";
import type { Account } from "./accounts.ts";
import type { EndedListener, Endings } from "./endings.ts";
import type { LoginOutcome, Logins } from "./logins.ts";
import type { OperatorToken } from "./operator_token.ts";
import { type Credential, OPERATOR, type Principal, type Scope } from "./principal.ts";
import { sha256 } from "./secrets.ts";
import type { Tokens } from "./tokens.ts";

export interface IdentityOptions {
  readonly operatorToken: OperatorToken;
  readonly tokens: Tokens;
  readonly logins: Logins;
  readonly endings: Endings;
}

/** What an agent's nick and passphrase are good for. */
const PASSPHRASE_SCOPES: ReadonlySet<Scope> = new Set(["read", "write"]);

/** Finds out who calls: every credential stands for one principal. */
export class Identity {
  readonly #operatorToken: OperatorToken;
  readonly #tokens: Tokens;
  readonly #logins: Logins;
  readonly #endings: Endings;
  readonly #listeners = new Set<(principal: Principal) => void>();

  constructor({ operatorToken, tokens, logins, endings }: IdentityOptions) {
    this.#operatorToken = operatorToken;
    this.#tokens = tokens;
    this.#logins = logins;
    this.#endings = endings;
  }

  /**
   * Finds whoever a credential stands for.
   *
   * @param address the client's IP address
   * @throws Unauthorized where it stands for nobody
   * @throws TooMany after too many wrong passwords, Unavailable while too many are being checked
   */
  async authenticate(credential: Credential, address: string): Promise<Principal> {
    const principal = credential.kind === "bearer"
      ? this.#authenticateToken(credential.token)
      : await this.#authenticateAgent(credential.name, credential.password, address);
    for (const listener of this.#listeners) listener(principal);
    return principal;
  }

  /**
   * Calls back whenever somebody was authenticated.
   *
   * @returns a function that ends the subscription
   */
  onAuthenticated(listener: (principal: Principal) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls back when a credential ended, so that what it opened can be closed.
   *
   * @returns a function that ends the subscription
   */
  onEnded(listener: EndedListener): () => void {
    return this.#endings.subscribe(listener);
  }

  #authenticateToken(token: string): Principal {
    const digest = sha256(token);
    if (this.#operatorToken.matches(digest)) return OPERATOR;
    const principal = this.#tokens.authenticate(token, digest);
    if (principal === null) throw new Unauthorized("The token is not valid");
    return principal;
  }

  async #authenticateAgent(name: string, password: string, address: string): Promise<Principal> {
    const account = accountOf(await this.#logins.logIn(name, password, address, ["agent"]));
    return {
      kind: "agent",
      id: account.id,
      name: account.name,
      scopes: PASSPHRASE_SCOPES,
      project: null,
      tokenId: null,
    };
  }
}

function accountOf(outcome: LoginOutcome<Account>): Account {
  switch (outcome.kind) {
    case "accepted":
      return outcome.account;
    case "refused":
      throw new Unauthorized("The name or the passphrase is wrong");
    case "throttled":
      throw new TooMany(
        `Too many wrong passwords, try again in ${outcome.retryAfterSeconds} seconds`,
        outcome.retryAfterSeconds,
      );
    case "unavailable":
      throw new Unavailable("Passwords cannot be checked at the moment");
  }
}
