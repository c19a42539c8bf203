/** A client of MCP, and how it is told where muster is. */

/** The clients that muster can set up. */
export const CLIENT_NAMES: readonly string[] = Object.freeze([
  "claude",
  "codex",
  "gemini",
  "cursor",
  "vscode",
  "opencode",
  "copilot",
  "qwen",
  "goose",
]);

/** One person on this machine, or everybody who works in a project's folder. */
export type Scope = "user" | "project";

/** The folders and the environment in which the files are looked for. */
export interface Surroundings {
  readonly home: string;
  /** The project's folder. */
  readonly folder: string;
  /** The root of the Git repository that the folder is in; the folder itself without Git. */
  readonly repository: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly system: typeof Deno.build.os;
}

/** A file of a client in a scope; null if the client has none there. */
type FileOf = (scope: Scope, surroundings: Surroundings) => string | null;

/** A client of MCP. */
export interface Client {
  /** Its name in sentences. */
  readonly title: string;
  /** The file with its entries. */
  readonly file: FileOf;
  /** The entry alone, as it stands in the file. */
  readonly show: (name: string, launch: Launch) => string;
  readonly add: (name: string, launch: Launch) => (text: string) => string;
  readonly remove: (name: string) => (text: string) => string;
  readonly hooks: ClientHooks | null;
  /** A text says what a person does instead. */
  readonly permissions: ClientPermissions | string;
  /** Absent where the client has no models, or takes none from elsewhere. */
  readonly gateway?: ClientGateway;
  /** Whether its model finds tools by a search, so that a long list costs nothing. */
  readonly searchesTools?: true;
}

/** How a client is told to call its models through muster. */
export interface ClientGateway {
  readonly file: (surroundings: Surroundings) => string;
  /** @param url of the server's API */
  readonly add: (url: string, token: TokenCommand) => (text: string) => string;
  /** Removes what `add` wrote, and nothing that leads elsewhere. */
  readonly remove: (text: string) => string;
}

/** A command that prints the agent's token: as words, and as a line for a shell. */
export interface TokenCommand {
  readonly words: readonly [string, ...string[]];
  readonly line: string;
}

/** The hooks of a client. */
interface ClientHooks {
  readonly file: (scope: Scope, surroundings: Surroundings) => string;
  /** The events at which muster shows the inbox. */
  readonly events: readonly string[];
  /** The longest run that the client allows, in its own unit. */
  readonly timeout: number;
  /** Whether a hook stands in the list of its event itself, and not in a group. */
  readonly isFlat?: true;
  /** The hook that waits in the background for news, where the client can be woken. */
  readonly waiting?: {
    readonly event: string;
    readonly timeout: number;
    readonly also: Readonly<Record<string, unknown>>;
  };
}

/** How a client is told to use an entry's tools without asking, but for those of `ASKED_TOOLS`. */
export interface ClientPermissions {
  readonly file: (scope: Scope, surroundings: Surroundings, name: string) => string | null;
  readonly allow: (name: string, surroundings: Surroundings) => (text: string) => string;
  /** What the removal of the entry leaves behind. */
  readonly withdraw: (name: string) => (text: string) => string;
  /** What the person should know about them. */
  readonly note?: (surroundings: Surroundings) => string;
}

/** The variable that holds an agent's token. */
export const TOKEN_VARIABLE = "MUSTER_TOKEN";

/** How the started program finds the agent's token. */
type TokenSource =
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
