/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
import { giveWay } from "../../services/kernel/thread_priority.ts";
import { END, type LoadRequest } from "./load.ts";
import { loopbackAddresses } from "./login_crowd.ts";

/** The first message starts the load, the second ends it; each is answered, if need be with an error. */
function serve(): void {
  // Real clients run on other machines.
  giveWay();
  let isOver = false;
  let ended = Promise.resolve();
  let answers = 0;

  const askOnce = async ({ urls, init, status, fromNewAddresses }: LoadRequest, index: number) => {
    const [localAddress] = fromNewAddresses ? loopbackAddresses(index, 1) : [];
    using client = localAddress === undefined ? null : Deno.createHttpClient({ localAddress });
    const url = urls[index % urls.length] ?? "";
    const response = await fetch(url, client === null ? init : { ...init, client });
    const { byteLength } = await response.arrayBuffer();
    if (response.status !== status || byteLength === 0) {
      throw new Error(`${url} was answered ${response.status} with ${byteLength} bytes`);
    }
    answers++;
  };

  const start = async (request: LoadRequest) => {
    let next = 0;
    const lanes = Array.from({ length: request.connections }, async () => {
      await askOnce(request, next++);
      return async () => {
        while (!isOver) await askOnce(request, next++);
      };
    });
    const goOn = await Promise.all(lanes);
    ended = Promise.all(goOn.map((run) => run())).then(() => {});
    // It is awaited at the end.
    ended.catch(() => {});
  };

  const answer = async (question: LoadRequest | typeof END) => {
    if (question !== END) return await start(question);
    isOver = true;
    await ended;
    return answers;
  };

  self.onmessage = ({ data }: MessageEvent<LoadRequest | typeof END>) =>
    answer(data).then(
      (result) => self.postMessage(result),
      (error) => self.postMessage(error instanceof Error ? error : new Error(String(error))),
    );
}

serve();
