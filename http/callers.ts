import { Buffer } from "node:buffer";
import {
  type Credential,
  type Ended,
  GUEST,
  type Identity,
  type Principal,
  type WebSessions,
} from "../services/people/identity/mod.ts";
import { EarlyEnd } from "../services/kernel/early_end.ts";

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
      readApiKey(headers) ?? inQuery(url);
    if (credential !== null) return identity.recognize(credential) ?? GUEST;
    const [, secret] = COOKIE.exec(headers.get("cookie") ?? "") ?? [];
    return (secret === undefined ? null : webSessions.recognize(secret)) ?? GUEST;
  }
}

function inQuery(url: string): Credential | null {
  const [, token] = /[?&]token=([^&#]+)/.exec(url) ?? [];
  return token === undefined ? null : { kind: "bearer", token };
}

/** The token in the header `x-api-key`, in which Anthropic's clients send it; null if there is none. */
export function readApiKey(headers: Headers): Credential | null {
  const token = headers.get("x-api-key") ?? "";
  return /^[\x21-\x7e]+$/.test(token) ? { kind: "bearer", token } : null;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true });

const ASCII = /^[\0-\x7f]*$/;

/** The error of a request without a usable `Authorization` header. */
export const CREDENTIALS_MISSING =
  "The Authorization header must hold a Bearer token, or an agent's nick and passphrase as Basic";

/**
 * Reads an `Authorization` header of the schemes Bearer (RFC 6750) and Basic (RFC 7617).
 *
 * @returns null if it is absent, or has another scheme or form
 */
export function readAuthorization(header: string | undefined): Credential | null {
  const usual = usualToken(header ?? "");
  if (usual !== null) return { kind: "bearer", token: usual };
  const match = /^(bearer|basic) +(\S+) *$/i.exec(header ?? "");
  const [, scheme, value] = match ?? [];
  if (scheme === undefined || value === undefined) return null;
  if (scheme.toLowerCase() === "bearer") return { kind: "bearer", token: value };
  return readBasic(value);
}

const BEARER = "Bearer ";

/** The token of a header that is written as most clients write it; null for any other header. */
function usualToken(header: string): string | null {
  if (!header.startsWith(BEARER) || header.length === BEARER.length) return null;
  for (let index = BEARER.length; index < header.length; index++) {
    const code = header.charCodeAt(index);
    if (code <= 0x20 || code >= 0x7f) return null;
  }
  return header.slice(BEARER.length);
}

function readBasic(value: string): Credential | null {
  let text: string;
  try {
    const bytes = atob(value);
    text = ASCII.test(bytes) ? bytes : UTF8.decode(Buffer.from(bytes, "latin1"));
  } catch {
    return null;
  }
  const colon = text.indexOf(":");
  if (colon < 0) return null;
  return { kind: "basic", name: text.slice(0, colon), password: text.slice(colon + 1) };
}

/**
 * Whether an `Accept` header names a media type. With a weight of 0, it refuses the type (RFC 9110,
 * section 12.4.2).
 */
export function accepts(accept: string | null | undefined, type: string): boolean {
  return (accept ?? "").toLowerCase().split(",").some((range) => {
    const [name = "", ...parameters] = range.split(";").map((part) => part.trim());
    return name === type && !parameters.some((one) => /^q=0(?:\.0*)?$/.test(one));
  });
}

/** Whether a client asks for server-sent events, given its `Accept` header. */
export function wantsEventStream(accept: string | null | undefined): boolean {
  return /\btext\/event-stream\b/i.test(accept ?? "");
}

/** Whether a client asks for lines of JSON, given its `Accept` header. */
export function wantsLines(accept: string | null | undefined): boolean {
  return /\bapplication\/x-ndjson\b/i.test(accept ?? "");
}

/** Waiting requests, which end when their credential ends. */
export class Waits {
  readonly #waiting = new Set<Wait>();

  /**
   * Runs a task that waits.
   *
   * @param closed aborts when the client closes the request
   * @param wait receives what ends then, and when the principal's credential ends
   */
  run<Result>(
    principal: Principal,
    closed: AbortSignal,
    wait: (end: EarlyEnd) => Promise<Result>,
  ): Promise<Result> {
    const waiting = new Wait(principal);
    if (closed.aborted) waiting.end();
    closed.addEventListener("abort", waiting);
    this.#waiting.add(waiting);
    return wait(waiting).finally(() => {
      this.#waiting.delete(waiting);
      closed.removeEventListener("abort", waiting);
    });
  }

  /** Ends the waits of an ended credential. */
  abortEnded(ended: Ended): void {
    for (const waiting of this.#waiting) {
      if (ended.covers(waiting.principal)) waiting.end();
    }
  }
}

/** The wait of one request, which also listens to its signal. */
class Wait extends EarlyEnd implements EventListenerObject {
  readonly principal: Principal;

  constructor(principal: Principal) {
    super();
    this.principal = principal;
  }

  handleEvent(): void {
    this.end();
  }
}
