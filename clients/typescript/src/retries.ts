/** Methods that may be sent twice. */
const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "PUT", "DELETE"]);

/** Answers that tell of a state that passes. */
const PASSING: ReadonlySet<number> = new Set([502, 503, 504]);

/** The longest wait before an attempt, in milliseconds. */
const MAX_WAIT = 30_000;

/**
 * Repeats requests that failed for a while. Nothing is done twice: a POST or PATCH is repeated only
 * if the server refused it for its rate (429).
 *
 * @param retries how often a request is repeated at most
 */
export function retrying(send: typeof fetch, retries: number): typeof fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    for (let attempt = 0;; attempt++) {
      const isLast = attempt >= retries;
      let response: Response;
      try {
        response = await send(isLast ? request : request.clone());
      } catch (error) {
        if (isLast || request.signal.aborted || !REPEATABLE.has(request.method)) throw error;
        await pause(backoff(attempt), request.signal);
        continue;
      }
      const passes = response.status === 429 ||
        (PASSING.has(response.status) && REPEATABLE.has(request.method));
      if (isLast || !passes) return response;
      await response.body?.cancel();
      await pause(asked(response) ?? backoff(attempt), request.signal);
    }
  };
}

/** Half a second, doubled by each attempt, and less by chance so that clients do not come together. */
export function backoff(attempt: number): number {
  return Math.min(500 * 2 ** attempt, MAX_WAIT) * (0.5 + Math.random() / 2);
}

/** How long the server asks to wait, in milliseconds; null if it says nothing. */
function asked({ headers }: Response): number | null {
  const seconds = Number(headers.get("retry-after") ?? NaN);
  return seconds >= 0 ? Math.min(seconds * 1000, MAX_WAIT) : null;
}

/** @throws the signal's reason if it is aborted meanwhile */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", end);
      resolve();
    }, milliseconds);
    if (signal?.aborted) end();
    else signal?.addEventListener("abort", end, { once: true });
  });
}
