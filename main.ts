/** muster: an IRC server, its HTTP and MCP bridge and Fossil hosting in one program. */
import { run } from "./cli/mod.ts";

Deno.exit(await run(Deno.args));
