import { z } from "zod";
import { ApiClient } from "./client.ts";
import type { CommandOptions } from "./options.ts";
import { print } from "./output.ts";

/** `muster health`: whether every part of a running server is up. */
export async function health(options: CommandOptions): Promise<void> {
  const client = await ApiClient.connect(options, { token: false });
  await client.call("GET", "/readyz", z.object({ status: z.string() }));
  print("ok");
}
