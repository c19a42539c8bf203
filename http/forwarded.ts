/**
 * Finds the client's address: that of the socket, or, where the socket belongs to a trusted proxy,
 * the last hop of `X-Forwarded-For` that is not a trusted proxy itself.
 *
 * @param socket the address of the socket
 * @param header the `X-Forwarded-For` header
 */
export function forwardedFor(
  socket: string,
  header: string | undefined,
  trusted: ReadonlySet<string>,
): string {
  let address = socket;
  const hops = header?.split(",").map((hop) => hop.trim()) ?? [];
  while (trusted.has(address)) {
    const hop = hops.pop();
    if (hop === undefined || hop === "") break;
    address = hop;
  }
  return address;
}
