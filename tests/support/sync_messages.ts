/** A client of the sync protocol that sends any cards. */
import {
  type Card,
  CardReader,
  CardWriter,
  contentTypeOf,
  type MessageForm,
  messageFormOf,
  packMessage,
  sha1,
  sharedSecret,
  signNonce,
  unpackMessage,
} from "../../services/engines/fossil/mod.ts";

/** A message to send. */
export interface SyncMessage {
  readonly cards: readonly Card[];
  readonly form?: MessageForm;
  /** Signs the message: in a card, or in the cookie that newer programs send. */
  readonly login?: {
    readonly user: string;
    readonly password: string;
    readonly projectCode?: string;
    readonly inCookie?: boolean;
  };
  readonly headers?: Readonly<Record<string, string>>;
  /** Bytes in place of the cards. */
  readonly raw?: Uint8Array;
}

/** The answer to a message. */
export interface SyncReply {
  readonly status: number;
  readonly cards: readonly Card[];
  /** The texts of `error` cards. */
  readonly errors: readonly string[];
}

/** Sends requests: `fetch`, or the app itself. */
export type Send = (request: Request) => Promise<Response>;

/** Sends a message to a URL. */
export async function exchange(send: Send, url: string, content: SyncMessage): Promise<SyncReply> {
  const { form = "compressed", headers = {} } = content;
  const { bytes, cookie } = message(content);
  const response = await send(
    new Request(url, {
      method: "POST",
      headers: {
        "content-type": contentTypeOf(form),
        ...cookie === null ? {} : { cookie },
        ...headers,
      },
      body: packMessage(bytes, form) as Uint8Array<ArrayBuffer>,
    }),
  );
  const body = new Uint8Array(await response.arrayBuffer());
  const type = messageFormOf(response.headers.get("content-type"));
  const cards = type === null
    ? []
    : Array.from(new CardReader(unpackMessage(body, type, 100_000_000)));
  const errors = cards.flatMap((card) => card.kind === "error" ? [card.text] : []);
  return { status: response.status, cards, errors };
}

/** The cards of a message with its login, unpacked, and the cookie that may hold the login. */
export function message(
  { cards, login, raw }: SyncMessage,
): { readonly bytes: Uint8Array; readonly cookie: string | null } {
  const writer = new CardWriter();
  for (const card of cards) writer.add(card);
  writer.comment(crypto.randomUUID());
  const rest = raw ?? writer.bytes();
  if (login === undefined) return { bytes: rest, cookie: null };
  const { user, password, projectCode = "", inCookie = false } = login;
  const nonce = sha1(rest);
  const signature = signNonce(nonce, sharedSecret(password, { projectCode, user }));
  const head = new CardWriter();
  head.add({ kind: "login", user, nonce, signature });
  const line = head.bytes();
  if (!inCookie) return { bytes: new Uint8Array([...line, ...rest]), cookie: null };
  const text = new TextDecoder().decode(line).trim();
  const value = text.split(" ").map(encodeURIComponent).join("+");
  return { bytes: rest, cookie: `other=1; x-f-l-c=${value}` };
}
