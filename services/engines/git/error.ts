/** What a peer has sent is not what Git's formats or its protocol allow; the message says why. */
export class GitError extends Error {
  override readonly name = "GitError";
}
