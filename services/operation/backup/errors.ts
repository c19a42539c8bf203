/** A backup or a restore cannot be made; the message says why in one sentence. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}
