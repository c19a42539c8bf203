import {
  type Credential,
  GUEST,
  type Identity,
  type Principal,
  type WebSessions,
} from "../services/identity/mod.ts";
import { readAuthorization } from "./authorization.ts";

/** The cookie with the secret of a session. */
export const SESSION_COOKIE = "muster_session";

const COOKIE = new RegExp(`(?:^|;) *(?:__Host-)?${SESSION_COOKIE}=([0-9a-f]+)`);

export interface CallersOptions {
  readonly identity: Pick<Identity, "recognize">;
  readonly webSessions: Pick<WebSessions, "recognize">;
}

/** Tells whose requests are before they are routed: for bounds, not for access. */
export class Callers {
  readonly #options: CallersOptions;

  constructor(options: CallersOptions) {
    this.#options = options;
  }

  /** Whose credential a request has; a guest's, if that is not known at once. */
  of({ headers, url }: Pick<Request, "headers" | "url">): Principal {
    const { identity, webSessions } = this.#options;
    const credential = readAuthorization(headers.get("authorization") ?? undefined) ??
      inQuery(url);
    if (credential !== null) return identity.recognize(credential) ?? GUEST;
    const [, secret] = COOKIE.exec(headers.get("cookie") ?? "") ?? [];
    return (secret === undefined ? null : webSessions.recognize(secret)) ?? GUEST;
  }
}

function inQuery(url: string): Credential | null {
  const [, token] = /[?&]token=([^&#]+)/.exec(url) ?? [];
  return token === undefined ? null : { kind: "bearer", token };
}
