import { foldCase } from "../protocol/names.ts";

/** A running password check, and the accounts that were revoked meanwhile. */
export interface PendingLogin {
  readonly revoked: Set<string>;
  /** The id of the client that creates an account, and the account; null for a check of a password. */
  readonly registering: { readonly client: string; readonly account: string } | null;
}

/** A client that may have a SASL exchange under way. */
interface SaslClient {
  sasl: { readonly login: PendingLogin | null } | null;
}

/** The running password checks. */
export class PendingLogins {
  readonly #pending = new Set<PendingLogin>();

  /**
   * Notes the beginning of a password check, which {@linkcode end} ends.
   *
   * @param registering the id of the client that creates an account, unless a password is checked
   */
  begin(registering: PendingLogin["registering"] = null): PendingLogin {
    const login = { revoked: new Set<string>(), registering };
    this.#pending.add(login);
    return login;
  }

  /** Whether the result of the check is still valid: the account was not revoked meanwhile. */
  end(login: PendingLogin, account: string): boolean {
    this.#pending.delete(login);
    return !login.revoked.has(foldCase(account));
  }

  /** Ends a SASL exchange, if the client has one under way. */
  endSasl(client: SaslClient): void {
    if (client.sasl?.login) this.#pending.delete(client.sasl.login);
    client.sasl = null;
  }

  /** Whether a client is making an account of this name for itself. */
  isRegistering({ id }: { readonly id: string }, name: string): boolean {
    const folded = foldCase(name);
    for (const { registering } of this.#pending) {
      if (registering?.client === id && foldCase(registering.account) === folded) return true;
    }
    return false;
  }

  /** Makes every running check of this account fail. */
  revoke(account: string): void {
    for (const login of this.#pending) login.revoked.add(foldCase(account));
  }
}
