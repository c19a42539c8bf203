import process from "node:process";
import type { Registry } from "./registry.ts";

/** Adds the runtime's figures of this process, under their conventional names. */
export function addProcessFigures(registry: Registry): void {
  const started = Date.now() / 1000 - process.uptime();
  registry.sampled("counter", {
    name: "process_cpu_seconds_total",
    help: "Processor time, of user and system together",
  }, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000_000;
  });
  registry.sampled("gauge", {
    name: "process_resident_memory_bytes",
    help: "Memory that is resident",
  }, () => Deno.memoryUsage().rss);
  registry.sampled("gauge", {
    name: "process_heap_bytes",
    help: "Memory of the JavaScript heap that is in use",
  }, () => Deno.memoryUsage().heapUsed);
  registry.sampled("gauge", {
    name: "process_start_time_seconds",
    help: "When the process was started, in seconds since 1970",
  }, () => started);
}
