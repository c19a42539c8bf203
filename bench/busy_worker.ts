/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** Burns a core for as many milliseconds as the message says, and answers when that is over. */
function burn(): void {
  self.onmessage = ({ data }: MessageEvent<number>) => {
    const end = performance.now() + data;
    while (performance.now() < end);
    self.postMessage(null);
  };
}

burn();
