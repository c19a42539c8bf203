import { Unauthorized } from "../../kernel/errors.ts";
import { BoundedMap } from "../../kernel/bounded_map.ts";
import type { Account } from "./accounts.ts";
import type { AgentSessions } from "./agent_sessions.ts";
import type { Refusals } from "./attempts.ts";
import { acceptedAccount, type Logins } from "./logins.ts";
import type { OperatorToken } from "./operator_token.ts";
import {
  type Caller,
  type Credential,
  OPERATOR,
  type Principal,
  type Scope,
  type SessionKey,
} from "./principal.ts";
import type { EndedListener, Revocations } from "./revocations.ts";
import { sameDigest, sha256 } from "./secrets.ts";
import type { Tokens } from "./tokens.ts";

interface IdentityOptions {
  readonly operatorToken: OperatorToken;
  readonly tokens: Tokens;
  readonly logins: Logins;
  readonly refusals: Refusals;
  readonly revocations: Revocations;
  readonly agentSessions: Pick<AgentSessions, "enter" | "heard">;
}

/** Tokens that another service makes and ends. */
export interface TokenSource {
  /**
   * The principal of a token; null if it is none of this source's.
   *
   * @param digest SHA-256 of the token
   */
  ownerOf(digest: string): Principal | null;
}

/** Whose name and password are a credential. */
const PASSPHRASE_KINDS = ["agent"] as const;

/** The scopes of an agent's nick and passphrase. */
const PASSPHRASE_SCOPES: ReadonlySet<Scope> = new Set(["read", "write"]);

/** The form of tokens; no passphrase has it. */
const TOKEN = /^[0-9a-f]{40}$/;

/** Finds the principal of a credential. */
export class Identity {
  readonly #operatorToken: OperatorToken;
  readonly #tokens: Tokens;
  readonly #logins: Logins;
  readonly #refusals: Refusals;
  readonly #revocations: Revocations;
  readonly #agentSessions: IdentityOptions["agentSessions"];
  readonly #digests = new TokenDigests();
  readonly #listeners = new Set<(principal: Principal) => void>();
  readonly #sources: TokenSource[] = [];

  constructor(options: IdentityOptions) {
    this.#operatorToken = options.operatorToken;
    this.#tokens = options.tokens;
    this.#logins = options.logins;
    this.#refusals = options.refusals;
    this.#revocations = options.revocations;
    this.#agentSessions = options.agentSessions;
    this.#revocations.subscribe(() => this.#digests.clear());
  }

  /**
   * How many credentials have ended since the start. A principal that was authenticated at another
   * count may have lost its credential since: authenticate it again.
   */
  get endings(): number {
    return this.#revocations.count;
  }

  /** Also accepts the tokens of another service, which tells of each that ends: {@link ended}. */
  accept(source: TokenSource): void {
    this.#sources.push(source);
  }

  /** Ends what was opened with a token of a source. */
  ended(tokenId: string): void {
    this.#revocations.announce({ kind: "token", accountId: null, tokenId });
  }

  /**
   * Returns the principal of a credential.
   *
   * @param address the client's IP address
   * @throws Unauthorized if the credential is not valid
   * @throws TooMany after too many wrong passwords, Unavailable while too many are being checked
   */
  async authenticate(credential: Credential, address: string): Promise<Principal> {
    const principal = credential.kind === "bearer"
      ? this.#authenticateToken(credential.token, address)
      : await this.#authenticateAgent(credential.name, credential.password, address);
    this.notePresence(principal);
    return principal;
  }

  /**
   * Returns the principal of a valid token at once. For any other token it returns null, and does
   * nothing: {@link authenticate} refuses it.
   */
  enter(token: string): Principal | null {
    const principal = this.#ownerOf(token);
    if (principal !== null) this.notePresence(principal);
    return principal;
  }

  /**
   * Returns the principal of a credential if that is known at once, for bounds that count callers. It
   * opens nothing, and counts neither as a use nor as a wrong password.
   */
  recognize(credential: Credential): Principal | null {
    if (credential.kind === "basic") {
      const account = this.#logins.recognize(credential, PASSPHRASE_KINDS);
      return account === null ? null : agentOf(account);
    }
    const { token } = credential;
    const digest = this.#digests.of(token);
    const principal = this.#operatorToken.matches(digest)
      ? OPERATOR
      : this.#tokens.find(token, digest) ?? this.#ofSources(digest);
    if (principal !== null) this.#digests.remember(token, digest);
    return principal;
  }

  /**
   * Returns the owner of the token that fits a proof; see `Tokens.prove`. A wrong proof counts as a
   * wrong password.
   *
   * @throws Unauthorized if no token fits; TooMany after too many wrong ones
   */
  async authenticateProof(
    { name, projectId, fits }: {
      readonly name: string;
      readonly projectId: string | null;
      fits(token: string): boolean;
    },
    address: string,
  ): Promise<Principal> {
    const proven = await this.#tokens.prove(name, projectId, fits);
    const outcome = await this.#logins.noteProof({ name, address, door: "sync" }, proven);
    const principal = acceptedAccount(outcome, "login failed");
    this.notePresence(principal);
    return principal;
  }

  /**
   * As {@link authenticate}, for programs that know names and passwords only: a password may also be a
   * token of the named account, or any name's token of the project.
   *
   * @param projectId null if there is no such project
   */
  async authenticateFor(
    projectId: string | null,
    credential: Credential,
    address: string,
  ): Promise<Principal> {
    const isToken = credential.kind === "basic" && TOKEN.test(credential.password);
    if (!isToken) return await this.authenticate(credential, address);
    const { name, password } = credential;
    const other = this.#ofSources(sha256(password));
    if (other !== null) return other;
    const fits = (token: string) => sameDigest(token, password);
    return await this.authenticateProof({ name, projectId, fits }, address);
  }

  /**
   * The caller in its session of an agent, which is present then. See `AgentSessions.enter`.
   *
   * @throws NotFound if its client has ended it; TooMany if the agent has too many
   */
  enterSession(caller: Caller, key: SessionKey, begins = true): Principal | Promise<Principal> {
    const entered = this.#agentSessions.enter(caller, key, begins);
    const note = (principal: Principal) => {
      if (principal.agentSession !== undefined) this.notePresence(principal);
      return principal;
    };
    return entered instanceof Promise ? entered.then(note) : note(entered);
  }

  /** Tells listeners that a principal is present: it called, or has an open stream. */
  notePresence(principal: Principal): void {
    this.#agentSessions.heard(principal);
    for (const listener of this.#listeners) listener(principal);
  }

  /**
   * Calls a listener for each authenticated principal, and regularly while it has an open stream.
   *
   * @returns a function that ends the subscription
   */
  onAuthenticated(listener: (principal: Principal) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Calls a listener when a credential ends, so that what it opened can be closed.
   *
   * @returns a function that ends the subscription
   */
  onEnded(listener: EndedListener): () => void {
    return this.#revocations.subscribe(listener);
  }

  #authenticateToken(token: string, address: string): Principal {
    const principal = this.#ownerOf(token);
    if (principal !== null) return principal;
    this.#refusals.note({ door: "bearer", address, reason: "invalid token" });
    throw new Unauthorized("The token is not valid");
  }

  /** The principal of a valid token, which counts as its use; null if the token is not valid. */
  #ownerOf(token: string): Principal | null {
    const digest = this.#digests.of(token);
    const principal = this.#operatorToken.matches(digest)
      ? OPERATOR
      : this.#tokens.authenticate(token, digest) ?? this.#ofSources(digest);
    if (principal !== null) this.#digests.remember(token, digest);
    return principal;
  }

  #ofSources(digest: string): Principal | null {
    for (const source of this.#sources) {
      const principal = source.ownerOf(digest);
      if (principal !== null) return principal;
    }
    return null;
  }

  async #authenticateAgent(name: string, password: string, address: string): Promise<Principal> {
    const attempt = { name, password, address, door: "basic" } as const;
    const outcome = await this.#logins.logIn(attempt, PASSPHRASE_KINDS);
    return agentOf(acceptedAccount(outcome, "The name or the passphrase is wrong"));
  }
}

/** An agent that showed its passphrase. */
function agentOf({ id, name }: Account): Principal {
  return {
    kind: "agent",
    id,
    name,
    scopes: PASSPHRASE_SCOPES,
    project: null,
    tokenId: null,
    sessionId: null,
  };
}

/** Most tokens whose digest is remembered. */
const MOST_TOKENS = 1000;

/**
 * SHA-256 digests of tokens, in hex. It remembers those of valid tokens, because a hash takes
 * longer than the rest of an authentication. A digest alone opens nothing: whether its token is
 * valid is checked each time.
 */
class TokenDigests {
  readonly #known = new BoundedMap<string, string>(MOST_TOKENS);
  /** The last one: to compare a token takes less than to look it up. */
  #last: { readonly token: string; readonly digest: string } | null = null;

  of(token: string): string {
    const last = this.#last;
    if (last !== null && sameDigest(last.token, token)) return last.digest;
    return this.#known.get(token) ?? sha256(token);
  }

  /** Remembers the digest of a valid token. */
  remember(token: string, digest: string): void {
    if (this.#last?.digest === digest) return;
    this.#last = { token, digest };
    this.#known.set(token, digest);
  }

  /** Forgets all tokens, so that an ended one does not stay in memory. */
  clear(): void {
    this.#known.clear();
    this.#last = null;
  }
}
