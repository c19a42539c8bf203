import { fuzzChannels } from "./fuzz_channels.ts";
import { fuzzViews } from "./fuzz_views.ts";

Deno.test("channels, their modes and who is told what are as the model says", async () => {
  await fuzzChannels(20, 150, 4711);
});

Deno.test("after whatever lines, clients know of their channels what the server says of them", async () => {
  await fuzzViews(20, 150, 4711);
});
