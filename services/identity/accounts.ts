import type { StatementSync } from "node:sqlite";
import { type Database, statement } from "../database/mod.ts";
import { Conflict } from "../errors.ts";
import { foldCase } from "../irc/mod.ts";

/** Agents and people log in to IRC, admins to the web pages too. All share one namespace. */
export type AccountKind = "agent" | "person" | "admin";

/** What proves an account: SHA-256 of what muster made, argon2id of what a person chose. */
export interface Secret {
  readonly scheme: "sha256" | "argon2id";
  readonly value: string;
}

/** Whoever can log in. */
export interface Account {
  /** Everything that belongs to the account hangs on this; a later owner of the name has another. */
  readonly id: string;
  readonly name: string;
  readonly kind: AccountKind;
  readonly secret: Secret;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Since when it cannot log in any more, in Unix milliseconds, or null. */
  readonly revokedAt: number | null;
}

export interface AccountDirectoryOptions {
  readonly database: Database;
  /** Folded names that no account may have. */
  readonly reserved: ReadonlySet<string>;
  /** The kinds of account that are switched off: they keep their names and open nothing. */
  readonly disabled: ReadonlySet<AccountKind>;
}

/** The one namespace of all accounts, compared without regard to case. */
export class AccountDirectory {
  readonly #database: Database;
  readonly #reserved: ReadonlySet<string>;
  readonly #disabled: ReadonlySet<AccountKind>;
  readonly #byName: StatementSync;

  constructor({ database, reserved, disabled }: AccountDirectoryOptions) {
    this.#database = database;
    this.#reserved = reserved;
    this.#disabled = disabled;
    this.#byName = database.prepare("SELECT * FROM accounts WHERE name_folded = ?");
  }

  /** The account of this name, revoked ones included, or null. */
  find(name: string): Account | null {
    const row = this.#byName.get(foldCase(name));
    if (row === undefined) return null;
    return {
      id: String(row["id"]),
      name: String(row["name"]),
      kind: row["kind"] as AccountKind,
      secret: { scheme: row["secret_scheme"] as Secret["scheme"], value: String(row["secret"]) },
      createdAt: Number(row["created_at"]),
      revokedAt: row["revoked_at"] === null ? null : Number(row["revoked_at"]),
    };
  }

  /** Whether accounts of this kind open anything. */
  isEnabled(kind: AccountKind): boolean {
    return !this.#disabled.has(kind);
  }

  isReserved(name: string): boolean {
    return this.#reserved.has(foldCase(name));
  }

  /** @throws Conflict where the name is reserved or taken */
  assertFree(name: string): void {
    if (this.isReserved(name)) throw new Conflict(`The name "${name}" is reserved`);
    if (this.find(name) !== null) throw nameTaken(name);
  }

  /** The statement that adds an account; its transaction fails as `Duplicate` if it is there. */
  insertion({ id, name, kind, secret, createdAt }: Omit<Account, "revokedAt">) {
    return statement(
      this.#database.tables.insertInto("accounts").values({
        id,
        name,
        name_folded: foldCase(name),
        kind,
        secret_scheme: secret.scheme,
        secret: secret.value,
        created_at: createdAt,
        revoked_at: null,
      }),
    );
  }

  /** A statement that changes nothing and undoes its transaction where the account has ended. */
  guard({ id }: Account) {
    return statement(this.#untouched(id), { mustChange: true });
  }

  /** Like {@link guard}, and also where the account has another password meanwhile. */
  guardPassword({ id, secret }: Account) {
    const update = this.#untouched(id).where("secret", "=", secret.value);
    return statement(update, { mustChange: true });
  }

  /** The statement that removes an account with all that hangs on it. */
  removal({ id, kind }: Account) {
    return statement(
      this.#database.tables.deleteFrom("accounts").where("id", "=", id).where("kind", "=", kind),
      { mustChange: true },
    );
  }

  #untouched(id: string) {
    return this.#database.tables.updateTable("accounts").set({ revoked_at: null })
      .where("id", "=", id).where("revoked_at", "is", null);
  }
}

/** The refusal of a name that another account has. */
export function nameTaken(name: string): Conflict {
  return new Conflict(`The name "${name}" is taken`);
}
