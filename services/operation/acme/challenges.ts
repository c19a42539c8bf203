import type { Address } from "../config/mod.ts";
import { acceptConnections, closeConnection } from "../../engines/irc/mod.ts";

/** The request for a challenge, with its token (RFC 8555, section 8.3). */
const CHALLENGE =
  /^GET (?:http:\/\/[^/ ]+)?\/\.well-known\/acme-challenge\/([\w-]{1,200}) HTTP\/1\./;

/** The end of a request's headers. */
const END = /\r?\n\r?\n/;

/** Most bytes of a request that are read. */
const MAX_BYTES = 8192;

/** How long a client may take to send its request and to read the answer, in milliseconds. */
const TIME_LIMIT = 10_000;

/** Most clients at once. */
const MAX_CLIENTS = 100;

/**
 * Answers the authority's challenges over HTTP until it is disposed of. Anybody can reach the port:
 * one request of a client is answered, and its body is never read.
 *
 * @throws the runtime's error if the address cannot be listened on
 */
export function answerChallenges(
  { hostname, port }: Address,
  challenges: ReadonlyMap<string, string>,
): AsyncDisposable {
  const clients = new Set<Deno.Conn>();
  const listener = Deno.listen({ hostname, port });
  let isOpen = true;
  const accepting = acceptConnections({
    listener,
    take(client) {
      if (clients.size >= MAX_CLIENTS) return closeConnection(client);
      clients.add(client);
      const timer = setTimeout(() => closeConnection(client), TIME_LIMIT);
      answer(client, challenges).catch(() => {
        // The client is gone, or took too long.
      }).finally(() => {
        clearTimeout(timer);
        clients.delete(client);
        closeConnection(client);
      });
    },
    isOpen: () => isOpen,
    // A client that cannot be accepted asks again.
    onFailure() {},
  });
  return {
    async [Symbol.asyncDispose]() {
      isOpen = false;
      listener.close();
      for (const client of clients) closeConnection(client);
      await accepting;
    },
  };
}

async function answer(client: Deno.Conn, challenges: ReadonlyMap<string, string>): Promise<void> {
  const [, token = ""] = CHALLENGE.exec(await readHead(client)) ?? [];
  const text = challenges.get(token);
  await send(
    client,
    text === undefined
      ? answerOf("404 Not Found", "text/plain", "There is no such challenge\n")
      : answerOf("200 OK", "application/octet-stream", text),
  );
}

/** A request up to the end of its headers, or as much of it as is read. */
async function readHead(client: Deno.Conn): Promise<string> {
  const buffer = new Uint8Array(MAX_BYTES);
  const decoder = new TextDecoder("latin1");
  for (let length = 0;;) {
    const read = await client.read(buffer.subarray(length));
    length += read ?? 0;
    const text = decoder.decode(buffer.subarray(0, length));
    if (read === null || length === MAX_BYTES || END.test(text)) return text;
  }
}

function answerOf(status: string, type: string, text: string): Uint8Array {
  const length = new TextEncoder().encode(text).length;
  const head = `HTTP/1.1 ${status}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n`;
  return new TextEncoder().encode(`${head}Connection: close\r\n\r\n${text}`);
}

async function send(client: Deno.Conn, bytes: Uint8Array): Promise<void> {
  for (let sent = 0; sent < bytes.length;) sent += await client.write(bytes.subarray(sent));
  await client.closeWrite();
}
