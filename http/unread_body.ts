/** How much of an unread body is read, and for how long. */
interface Bounds {
  readonly bytes: number;
  readonly milliseconds: number;
}

/** For a connection that has shown a valid credential, and for any other. */
const TRUSTED: Bounds = { bytes: 64 * 1024 * 1024, milliseconds: 10_000 };
const STRANGER: Bounds = { bytes: 256 * 1024, milliseconds: 2_000 };

/** Whether a request may have a body that {@linkcode dropUnreadBody} must see. */
export function mayHaveBody({ method }: Request): boolean {
  return method !== "GET" && method !== "HEAD";
}

/**
 * Reads and drops the body of a request that was answered without it. If the server closed the
 * connection while the client still sends, the client would lose the answer (RFC 9112, section
 * 9.6), and the runtime reads nothing after the answer.
 *
 * @returns null if nothing is unread
 */
export function dropUnreadBody(request: Request, trusted: boolean): Promise<void> | null {
  if (request.bodyUsed || request.body === null || request.body.locked) return null;
  return drop(request.body, trusted ? TRUSTED : STRANGER);
}

async function drop(body: ReadableStream<Uint8Array>, bounds: Bounds): Promise<void> {
  const { bytes, milliseconds } = bounds;
  const reader = body.getReader();
  const timer = setTimeout(() => reader.cancel().catch(() => {}), milliseconds);
  try {
    for (let left = bytes; left > 0;) {
      const { value, done } = await reader.read();
      if (done) break;
      left -= value.byteLength;
    }
  } catch {
    // The client is gone, and its answer with it.
  } finally {
    clearTimeout(timer);
    await reader.cancel().catch(() => {});
  }
}
