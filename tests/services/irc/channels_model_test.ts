import { fuzzChannels } from "./fuzz_channels.ts";

Deno.test("channels, their modes and who is told what are as the model says", async () => {
  await fuzzChannels(20, 150, 4711);
});
