import { Buffer } from "node:buffer";
import type { Credential } from "../services/identity/mod.ts";

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
