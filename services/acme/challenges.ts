import type { Address } from "../config/mod.ts";

/** The path of a challenge, and its token (RFC 8555, section 8.3). */
const CHALLENGE = /^\/\.well-known\/acme-challenge\/([\w-]{1,200})$/;

/**
 * Answers the authority's challenges over HTTP until it is disposed of.
 *
 * @throws the runtime's error if the address cannot be listened on
 */
export function answerChallenges(
  { hostname, port }: Address,
  challenges: ReadonlyMap<string, string>,
): AsyncDisposable {
  const ended = new AbortController();
  const server = Deno.serve(
    { hostname, port, signal: ended.signal, onListen: () => {} },
    ({ url }) => {
      const [, token = ""] = CHALLENGE.exec(new URL(url).pathname) ?? [];
      const answer = challenges.get(token);
      return answer === undefined
        ? new Response("There is no such challenge\n", { status: 404 })
        : new Response(answer, { headers: { "content-type": "application/octet-stream" } });
    },
  );
  return {
    async [Symbol.asyncDispose]() {
      ended.abort();
      await server.finished;
    },
  };
}
