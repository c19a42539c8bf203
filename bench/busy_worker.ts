/// <reference no-default-lib="true" />
/// <reference lib="deno.worker" />
/** Burns a core until it is ended. */
function burn(): void {
  self.onmessage = () => {
    for (let sum = 0;; sum += Math.random()) if (sum < 0) return;
  };
}

burn();
