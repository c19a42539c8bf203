/** The answer to `git push`. */
import { keepAlive, type PushHead, reportPush } from "../../services/engines/git/mod.ts";
import type { PushOutcome } from "../../services/work/git/mod.ts";
import { joined } from "./fetch_answers.ts";

/** How long a client and what is between hear nothing, in milliseconds. */
const SILENCE_MS = 5000;

type Bytes = Uint8Array<ArrayBuffer>;

/**
 * The answer to a push: at once if it is done soon. Otherwise the answer begins, where the client takes
 * notices beside the report, and tells every few seconds that the server still works.
 *
 * @param headOf what the push says before its pack; null until it is known
 * @throws what the push throws, if it is done soon
 */
export async function answerPush(
  pushing: Promise<PushOutcome>,
  headOf: () => PushHead | null,
): Promise<Bytes | ReadableStream<Bytes>> {
  while (await isPending(pushing)) {
    if (headOf()?.hasSideBand === true) return slowly(pushing);
  }
  return reportOf(await pushing);
}

function slowly(pushing: Promise<PushOutcome>): ReadableStream<Bytes> {
  let isDone = false;
  return new ReadableStream<Bytes>({
    async pull(controller) {
      if (isDone) return controller.close();
      if (await isPending(pushing)) return controller.enqueue(joined([keepAlive()]));
      controller.enqueue(reportOf(await pushing));
      isDone = true;
    },
  });
}

function reportOf({ head, ...outcome }: PushOutcome): Bytes {
  return head.commands.length === 0 ? new Uint8Array(0) : joined(reportPush(head, outcome));
}

/** Waits for a push, but not for long; whether it is not done then. */
async function isPending(pushing: Promise<unknown>): Promise<boolean> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<true>((resolve) => {
    timer = setTimeout(() => resolve(true), SILENCE_MS);
  });
  try {
    return await Promise.race([pushing.then(() => false, () => false), late]);
  } finally {
    clearTimeout(timer);
  }
}
