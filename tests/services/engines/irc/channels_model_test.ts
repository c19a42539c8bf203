import { fuzzChannels } from "./fuzz_channels.ts";
import { fuzzViews } from "./fuzz_views.ts";

Deno.test("channels, modes and messages to clients match the model", async () => {
  await fuzzChannels(20, 150, 4711);
});

Deno.test("after random lines, clients know the same of their channels as the server", async () => {
  await fuzzViews(20, 150, 4711);
});
