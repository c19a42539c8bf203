/**
 * The body of an answer of `fetch`, up to the moment when a signal aborts. The runtime itself forgets
 * the signal of a request when it collects memory after the head of the answer: a body that stalls is
 * then never given up, and the other end is not told.
 *
 * @param signal the one that the request had
 */
export function bodyUntil(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  let end = () => {};
  const forget = () => signal.removeEventListener("abort", end);
  return new ReadableStream({
    start(controller) {
      end = () => {
        controller.error(signal.reason);
        reader.cancel(signal.reason).catch(() => {});
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end);
    },
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (signal.aborted) return;
        if (!done) return controller.enqueue(value);
      } catch (error) {
        forget();
        throw error;
      }
      forget();
      controller.close();
    },
    async cancel(reason) {
      forget();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
}

/** An answer of `fetch` whose body ends with the signal that the request had: {@linkcode bodyUntil}. */
export function answerUntil(answer: Response, signal: AbortSignal): Response {
  const { body } = answer;
  return body === null ? answer : new Response(bodyUntil(body, signal), answer);
}

/** Closes a connection that the runtime or somebody else may have closed already. */
export function closeQuietly(connection: { close(): void }): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
