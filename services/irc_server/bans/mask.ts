import { Invalid } from "../../errors.ts";
import { compileMask, completeMask } from "../../irc/mod.ts";
import { formatNetwork, type Network, parseNetwork } from "../../identity/mod.ts";

/**
 * Characters that a mask must have beside `*`, `?`, `.`, `!` and `@`, so that it does not match
 * everybody.
 */
const LEAST_LITERALS = 3;

/** Shortest prefix of a network that can be banned. */
const LEAST_PREFIX = { 32: 8, 128: 16 } as const;

const ACCOUNT = "account:";

/** What a ban matches. `text` is the canonical form, which is unique. */
export type BanMask =
  | { readonly kind: "account"; readonly text: string; readonly name: string }
  | { readonly kind: "network"; readonly text: string; readonly network: Network }
  | {
    readonly kind: "mask";
    readonly text: string;
    readonly matches: (text: string) => boolean;
  };

/**
 * Parses the mask of a ban.
 *
 * @throws Invalid if it is malformed or matches far too many
 */
export function parseBanMask(text: string): BanMask {
  if (text.toLowerCase().startsWith(ACCOUNT)) {
    const name = text.slice(ACCOUNT.length);
    return { kind: "account", text: ACCOUNT + name, name };
  }
  const network = parseNetwork(text.replace(/^(?:\*!)?\*@(?=[^*?]*$)/, ""));
  if (network !== null) return networkMask(network);
  if (!/[@!]/.test(text) || /[\s,\p{Cc}]/u.test(text) || text.includes("/")) {
    throw new Invalid(
      `"mask" must be user@host, nick!user@host, an address, a network such as 192.0.2.0/24, or ` +
        "account:name",
    );
  }
  const complete = completeMask(text);
  if (complete.replaceAll(/[*?.!@]/g, "").length < LEAST_LITERALS) throw tooWide();
  return { kind: "mask", text: complete, matches: compileMask(complete) };
}

/** The stored form of this mask; a malformed mask stays unchanged. */
export function canonicalForm(mask: string): string {
  try {
    return parseBanMask(mask).text;
  } catch (error) {
    if (error instanceof Invalid) return mask;
    throw error;
  }
}

function networkMask(network: Network): BanMask {
  if (network.prefix < LEAST_PREFIX[network.bits]) throw tooWide();
  return { kind: "network", text: formatNetwork(network), network };
}

function tooWide(): Invalid {
  return new Invalid('"mask" is far too wide; make it more specific');
}
