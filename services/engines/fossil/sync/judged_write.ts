import type { Origin } from "../content/mod.ts";
import type { Repository } from "../repository.ts";
import { openJudge } from "./judge.ts";
import type { Judge, PushRules } from "./judgement.ts";

/**
 * Runs a write as one transaction whose arrivals a judge sees.
 *
 * @throws {FossilError} `conflict` with the judge's sentence; then nothing is stored.
 */
export function writeJudged<T>(
  repository: Repository,
  { origin, rules }: { readonly origin: Origin; readonly rules: PushRules },
  work: (judge: Judge) => T,
): T {
  let judge: Judge | undefined;
  return repository.write(origin, () => {
    judge = openJudge(repository, rules);
    return work(judge);
  }, {
    inspect: (artifact, hash, rid) => judge?.arrive({ artifact, hash, rid }),
    inspectFile: (content, hash) => judge?.file(content, hash),
    onTag: (rid, tag) => judge?.tag(rid, tag),
    conclude: () => judge?.conclude(),
  });
}
