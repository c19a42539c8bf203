/** Reads long webhooks off the main thread. */
/// <reference lib="deno.worker" />
import { serveCalls } from "../../kernel/serve_calls.ts";
import { readDelivery } from "./herald_reading.ts";

serveCalls(() => readDelivery);
