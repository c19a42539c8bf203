/** The answer to `git push`. */
import { reportPush } from "../../services/engines/git/mod.ts";
import type { PushOutcome } from "../../services/work/git/mod.ts";
import { joined } from "./fetch_answers.ts";

/** The answer, once it is known what became of a push. */
export async function answerPush(
  pushing: Promise<PushOutcome>,
): Promise<Uint8Array<ArrayBuffer>> {
  const { head, ...outcome } = await pushing;
  return head.commands.length === 0 ? new Uint8Array(0) : joined(reportPush(head, outcome));
}
