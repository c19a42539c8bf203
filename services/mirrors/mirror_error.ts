/** A run of a mirror failed; the message is a sentence for the project's admins. */
export class MirrorError extends Error {
  override readonly name = "MirrorError";
}

/** A connection that failed: another attempt may succeed. */
export class ConnectionLost extends MirrorError {}
