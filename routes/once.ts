/** A value that is computed at the first call; a failure is tried again. */
export function once<Value>(compute: () => Promise<Value>): () => Promise<Value> {
  let value: Promise<Value> | null = null;
  return () =>
    value ??= compute().catch((error) => {
      value = null;
      throw error;
    });
}
