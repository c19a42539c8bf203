/** Reads one long webhook off the main thread. */
/// <reference lib="deno.worker" />
import { type Arrived, readDelivery } from "./herald_reading.ts";

self.onmessage = ({ data }: MessageEvent<Arrived>) => self.postMessage(readDelivery(data));
