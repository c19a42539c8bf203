/** A port of loopback that nobody listens on now, for programs that cannot be told to take one. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}
