/**
 * A message as the stream of a page sends it, in few bytes: a stream is read by many pages. Its id is
 * that of the event.
 */
export interface SentMessage {
  readonly nick: string;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** What it says, if that is shown as it stands. */
  readonly text?: string;
  /** Else what it says as HTML, in which the server has escaped what somebody wrote. */
  readonly html?: string;
  /** Whether no person says it. */
  readonly agent?: true;
  /** Whether muster or one of its bots says it. */
  readonly program?: true;
  /** Whether it tells what the speaker does. */
  readonly action?: true;
  /** Whether the operator said it under another name. */
  readonly operator?: true;
  /** The id of the message that it answers. */
  readonly reply?: string;
}
