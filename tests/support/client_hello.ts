/** The first message of a TLS client (RFC 8446, section 4.1.2), as a client of this runtime sends it. */
export async function recordClientHello(): Promise<string> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const connecting = Deno.connectTls({ hostname: "localhost", port }).then((client) => {
    using open = client;
    return open.handshake();
  });
  const failed = connecting.catch(() => {});
  const buffer = new Uint8Array(4096);
  let count: number | null;
  {
    using conn = await listener.accept();
    count = await conn.read(buffer);
  }
  await failed;
  return String.fromCharCode(...buffer.subarray(0, count ?? 0));
}
