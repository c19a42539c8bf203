import { Invalid } from "../services/kernel/errors.ts";
import { SESSION_HEADER, SESSION_ID } from "../services/kernel/session_header.ts";
import type { SessionKey } from "../services/people/identity/mod.ts";

/** The header by which clients of MCP repeat the id that the answer to `initialize` gave them. */
export const MCP_SESSION_HEADER = "Mcp-Session-Id";

const MINUTE = 60_000;

/** How long a client may be silent that tells every minute that it is there. */
const SILENCE = 5 * MINUTE;

/** How long any other may be silent: it says nothing while its user thinks. */
const LONG_SILENCE = 30 * MINUTE;

/**
 * The session that a request names.
 *
 * @param isMcp whether the header of MCP counts
 * @returns null if it names none
 * @throws Invalid if the name has another form
 */
export function sessionKeyOf(headers: Headers, isMcp = false): SessionKey | null {
  const own = headers.get(SESSION_HEADER);
  if (own !== null) return { id: checked(SESSION_HEADER, own), silence: SILENCE };
  const given = isMcp ? headers.get(MCP_SESSION_HEADER) : null;
  if (given === null) return null;
  return { id: checked(MCP_SESSION_HEADER, given), silence: LONG_SILENCE };
}

function checked(header: string, id: string): string {
  if (SESSION_ID.test(id)) return id;
  throw new Invalid(`${header} must have 8 to 128 visible characters of ASCII`);
}
