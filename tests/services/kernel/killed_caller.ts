/** Kills itself while a process starts, once that has loaded its worker. Its argument is a folder. */
import { startProcess } from "../../../services/kernel/process_port.ts";
import { until } from "../../support/until.ts";

const [folder = ""] = Deno.args;
const file = `${folder}/loaded`;
const code = `Deno.writeTextFileSync(${JSON.stringify(file)}, "")`;
startProcess({
  worker: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
  read: [folder],
  write: [folder],
  memoryBytes: 2 ** 30,
});
await until(() => [...Deno.readDirSync(folder)].some(({ name }) => name === "loaded"));
Deno.kill(Deno.pid, "SIGKILL");
