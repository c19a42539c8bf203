/** Parts of targets that an HTTP server or a parser of URLs might change. */
const ODD_PARTS = [
  ...["/", "/", "/", "..", ".", "%2e", "%2E%2e", "%2f", "%5c", "\\", "//", "?", "&", "=", "#", ";"],
  ...["%41", "%", "%zz", '"', "'", "<", ">", "{", "}", "|", "^", "`", "é", "@"],
];

/** Random targets of requests, made of odd parts and of others, with slashes between them. */
export function randomTargets(count: number, others: readonly string[]): readonly string[] {
  const parts = [...ODD_PARTS, ...others.flatMap((part) => [`/${part}`, `/${part}/`, part])];
  return Array.from({ length: count }, () => {
    const numbers = crypto.getRandomValues(new Uint8Array(16));
    const length = 1 + (numbers[0] ?? 0) % 8;
    const target = Array.from(numbers.subarray(1, 1 + length), (one) => parts[one % parts.length]);
    return `/${target.join("")}`;
  });
}
