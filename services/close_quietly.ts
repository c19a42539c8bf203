/** Closes a connection that the runtime or somebody else may have closed already. */
export function closeQuietly(connection: { close(): void }): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}
