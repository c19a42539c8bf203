/** The entry that connects a client to muster, before it takes the form of one client. */

/** The variable that holds an agent's token. */
export const TOKEN_VARIABLE = "MUSTER_TOKEN";

/** How the started program finds the agent's token. */
export type TokenSource =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "environment" };

/** What a client is told: how to start muster, or where to find it. */
export type Launch =
  | {
    readonly kind: "stdio";
    readonly command: string;
    readonly args: readonly string[];
    /** The server's tools, which the program forwards to. */
    readonly url: string;
    readonly token: TokenSource;
  }
  | { readonly kind: "http"; readonly url: string };

/** How a client writes a value that it takes from somewhere else when it starts. */
export type Reference = (variable: string) => string;

/**
 * The environment of the started program. It never contains a token: it names the file with the
 * token, or refers to a variable of the client's own environment.
 */
export function environmentOf(
  { url, token }: Extract<Launch, { readonly kind: "stdio" }>,
  reference: Reference | null,
): Record<string, string> {
  if (token.kind === "file") return { MUSTER_URL: url, MUSTER_TOKEN_FILE: token.path };
  const passed = reference === null ? {} : { [TOKEN_VARIABLE]: reference(TOKEN_VARIABLE) };
  return { MUSTER_URL: url, ...passed };
}
