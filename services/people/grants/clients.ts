import { Invalid } from "../../kernel/errors.ts";
import { ClosedHost, type OutboundClient, OutboundFailure } from "../../kernel/outbound/mod.ts";
import { asLine, isVisible } from "../../kernel/words.ts";

/** Longest client id, and longest redirect URI, in characters. */
export const MAX_URL = 1000;
/** Longest document, in bytes, and how long it may take, in milliseconds. */
const MAX_BYTES = 16_384;
const MAX_MILLISECONDS = 5000;
/** How long a document is remembered, in milliseconds, and how many are. */
const REMEMBERED_MILLISECONDS = 300_000;
const MAX_REMEMBERED = 100;

/** Most redirect URIs of a document. */
const MAX_URIS = 20;

/** A program that asks to act for somebody. */
export interface OauthClient {
  /** The URL of its document. */
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
}

export interface OauthClientsOptions {
  readonly client: Pick<OutboundClient, "get">;
  /** Unix milliseconds. */
  readonly clock: () => number;
}

/**
 * Clients by their Client ID Metadata Documents (draft-ietf-oauth-client-id-metadata-document): a
 * client's id is the URL of a document that says its name, and where codes may be sent.
 */
export class OauthClients {
  readonly #options: OauthClientsOptions;
  readonly #known = new Map<string, { readonly client: OauthClient; readonly until: number }>();

  constructor(options: OauthClientsOptions) {
    this.#options = options;
  }

  /** @throws Invalid if it is no client id, or its document cannot be read or is not valid */
  async find(id: string): Promise<OauthClient> {
    const url = urlOf(id);
    const now = this.#options.clock();
    const known = this.#known.get(id);
    if (known !== undefined && now < known.until) return known.client;
    const client = await this.#read(id, url);
    this.#known.delete(id);
    for (const [oldest] of this.#known) {
      if (this.#known.size < MAX_REMEMBERED) break;
      this.#known.delete(oldest);
    }
    this.#known.set(id, { client, until: now + REMEMBERED_MILLISECONDS });
    return client;
  }

  async #read(id: string, url: URL): Promise<OauthClient> {
    const document = parsed(await this.#text(url));
    const client = document === null || document["client_id"] !== id ? null : readClient(document);
    if (client !== null) return { id, ...client };
    throw new Invalid(
      "The client's document is not valid: it must have its own URL as client_id, a client_name, " +
        'redirect_uris, and token_endpoint_auth_method "none"',
    );
  }

  async #text(url: URL): Promise<string> {
    try {
      const signal = AbortSignal.timeout(MAX_MILLISECONDS);
      const headers = { accept: "application/json" };
      const answer = await this.#options.client.get(url, { headers, signal });
      if (answer.status !== 200) {
        answer.drop();
        throw new Invalid(
          `The client's document is not there: its server answers ${answer.status}`,
        );
      }
      const parts: Uint8Array<ArrayBuffer>[] = [];
      let length = 0;
      for await (const part of answer.body) {
        length += part.length;
        if (length > MAX_BYTES) throw new Invalid("The client's document is longer than 16 KiB");
        parts.push(part.slice());
      }
      return await new Blob(parts).text();
    } catch (error) {
      if (error instanceof OutboundFailure || error instanceof ClosedHost) {
        throw new Invalid(`The client's document cannot be read: ${error.message}`);
      }
      if (error instanceof DOMException) throw new Invalid("The client's document takes too long");
      throw error;
    }
  }
}

/** What a document says of a client; null if it is not valid. */
function readClient(document: Readonly<Record<string, unknown>>): Omit<OauthClient, "id"> | null {
  const { client_name: name, redirect_uris: uris } = document;
  const { token_endpoint_auth_method: method = "none" } = document;
  if (typeof name !== "string" || !isVisible(name) || method !== "none") return null;
  if (!Array.isArray(uris) || uris.length === 0 || uris.length > MAX_URIS) return null;
  const redirectUris = uris.filter((uri) => typeof uri === "string" && uri.length <= MAX_URL);
  if (redirectUris.length < uris.length) return null;
  return { name: asLine(name).slice(0, 100).toWellFormed(), redirectUris };
}

/**
 * Whether a client may get codes at an address: it names exactly this one, or the same one of this
 * machine at another port (RFC 8252, section 7.3).
 */
export function mayRedirect({ redirectUris }: OauthClient, asked: string): boolean {
  const url = URL.parse(asked);
  if (url === null || url.hash !== "" || asked.includes("#") || !isSafe(url)) return false;
  if (redirectUris.includes(asked)) return true;
  const portless = withoutPort(url);
  return portless !== null && redirectUris.some((uri) => {
    const named = URL.parse(uri);
    return named !== null && withoutPort(named) === portless;
  });
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "[::1]", "localhost"]);

/** Addresses over TLS, of this machine, and of programs that have a scheme of their own. */
function isSafe({ protocol, hostname, username, password }: URL): boolean {
  if (username !== "" || password !== "") return false;
  if (protocol === "https:") return true;
  if (protocol === "http:") return LOOPBACK.has(hostname);
  return /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:$/.test(protocol);
}

/** An address of this machine without its port; null for any other. */
function withoutPort({ protocol, hostname, pathname, search }: URL): string | null {
  if (protocol !== "http:" || !LOOPBACK.has(hostname)) return null;
  return `${hostname} ${pathname}${search}`;
}

/** @throws Invalid */
function urlOf(id: string): URL {
  const url = id.length > MAX_URL ? null : URL.parse(id);
  const isPlain = url?.protocol === "https:" && url.username === "" && url.password === "" &&
    url.hash === "" && url.pathname !== "/" && url.href === id;
  if (url === null || !isPlain) {
    throw new Invalid(
      "client_id must be the https URL of a client ID metadata document, with a path",
    );
  }
  return url;
}

function parsed(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const document: unknown = JSON.parse(text);
    if (typeof document !== "object" || document === null) return null;
    return document as Readonly<Record<string, unknown>>;
  } catch {
    return null;
  }
}
